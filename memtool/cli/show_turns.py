"""`memtool show SESSION --turns`: what was typed, done and said in a session, from its kept source."""

from __future__ import annotations

from typing import Any

import click

from memtool.capture.session_turns import TurnRow, turn_of, turn_rows, turn_text, without_forgotten, without_marks
from memtool.capture.source import Source, read_source
from memtool.cli import output
from memtool.cli.session import Session
from memtool.errors import SessionNotFound, UsageError
from memtool.index.engine import Index, use_index
from memtool.index.filters import Filter
from memtool.index.lookup import find_ref, find_session, forgotten_of
from memtool.memory.forget import find_target
from memtool.recall.framing import is_line_id
from memtool.text.lines import shortened
from memtool.vault.files import read_text
from memtool.vault.layout import session_name
from memtool.vault.reading import Ref, with_lines
from memtool.vault.session_names import session_of
from memtool.vault.sources import list_sources

_SHORTEST_ID = 4  # characters of the beginning of a session's id
_WIDE = 48  # columns of a text in a list


def show_turns(session: Session, named: str, number: int, *, as_json: bool) -> None:
    """Print the list of the turns, or the turn with this *number*, or those that the lines of *named* came from."""
    source, lines = _source(session, named)
    numbers = [number] if number else list(dict.fromkeys(filter(None, (turn_of(source, line) for line in lines))))
    if lines and not numbers:
        raise SessionNotFound(
            f"no turn holds the words of '{named}'",
            hint=f"See all of them with `memtool show {source.session_id} --turns`.",
        )
    if number > len(source.turns):
        raise UsageError(
            f"the session has {len(source.turns)} turns, and no turn {number}", hint="List them with --turns."
        )
    if as_json:
        rows = [row for row in turn_rows(source) if not numbers or row.number in numbers]
        output.emit_json(
            {"session": source.session_id, "turns": [_fields(source, row, whole=bool(numbers)) for row in rows]}
        )
    elif numbers:
        output.emit_text("\n\n".join(turn_text(source.turns[each - 1], each) for each in numbers))
    else:
        _print_list(turn_rows(source))


def _source(session: Session, named: str) -> tuple[Source, list[str]]:
    """Return the source of the session that *named* means, and the lines of its note that it names."""
    name, lines = find_kept(session, named)
    source = read_source(session.vault, name)
    if source is None:
        hint = "`memtool import claude-code` keeps the turns of sessions that the client still has."
        raise SessionNotFound(f"no turns of '{named}' are kept", hint=hint)
    return use_index(session.place(), lambda index: _without_forgotten(session, index, source)), lines


def _without_forgotten(session: Session, index: Index, source: Source) -> Source:
    place = find_session(index, source.session_id, Filter(session.work.now(), everything=True))
    return without_forgotten(source, forgotten_of(index, place, source.note)) if place else source


def find_kept(session: Session, named: str) -> tuple[str, list[str]]:
    """Return the id of the session that *named* means, by its id or its note, and the lines of the note that it names.

    Raises:
        NoteNotFound, UsageError
    """
    if _ids(session, named):
        return _whole_id(session, named), []
    place = _place(session, named)
    text, _ = read_text(session.vault.path(place.name))
    picked = text.split("\n")[place.first - 1 : place.last] if place.first else []
    lines = [said for line in picked if (said := without_marks(line))]
    return _whole_id(session, session_of(place.name, text)), lines


def _whole_id(session: Session, named: str) -> str:
    found = _ids(session, named)
    if len(found) > 1:
        raise UsageError(
            f"'{named}' may mean {len(found)} sessions: {', '.join(found[:5])}", hint="Write more of the id."
        )
    return found[0] if found else named


def _ids(session: Session, named: str) -> list[str]:
    names = [one.name for one in list_sources(session.vault)]
    if session_name(named) in names:
        return [named]
    return [name for name in names if len(named) >= _SHORTEST_ID and name.startswith(named.casefold())]


def _place(session: Session, named: str) -> Ref:
    if is_line_id(named):
        target = find_target(session.work, named)
        return Ref(target.path, target.line, target.line)
    found = use_index(session.place(), lambda index: find_ref(index.db, named))
    return with_lines(session.vault, found)


def _print_list(rows: list[TurnRow]) -> None:
    cells = [(str(row.number), _time(row), row.typed, row.ended, f"{row.size:,}") for row in rows]
    if output.on_terminal():
        from memtool.cli import screen

        short = [
            (number, at, shortened(typed, _WIDE), shortened(ended, _WIDE), size)
            for number, at, typed, ended, size in cells
        ]
        screen.show(screen.table(("Turn", "Time", "Typed", "Ended", "Size"), short, right=("Turn", "Size")))
        return
    for number, at, typed, ended, size in cells:
        ends = f" → {shortened(ended, 2 * _WIDE)}" if ended else ""
        click.echo(output.printable(f"{number:>3}  {at}  {shortened(typed, 2 * _WIDE)}{ends}  ({size} characters)"))


def _time(row: TurnRow) -> str:
    return row.at.astimezone().strftime("%Y-%m-%d %H:%M") if row.at else ""


def _fields(source: Source, row: TurnRow, *, whole: bool) -> dict[str, Any]:
    fields = row._asdict() | {"at": row.at.isoformat() if row.at else ""}
    return fields | ({"text": turn_text(source.turns[row.number - 1], row.number)} if whole else {})
