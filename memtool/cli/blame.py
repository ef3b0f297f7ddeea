"""`memtool blame`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memtool.capture.session_turns import turn_of, without_marks
from memtool.capture.source import find_source
from memtool.cli import output
from memtool.cli.log import heading
from memtool.cli.session import Session, with_vault
from memtool.errors import NoteNotFound
from memtool.history.changes import Origin, blame
from memtool.index.engine import Index, use_index
from memtool.index.lookup import find_fact, find_ref
from memtool.memory.forget import find_target
from memtool.recall.framing import is_line_id
from memtool.text.lines import without_surrogates
from memtool.vault.layout import Vault
from memtool.vault.reading import Ref, parse_ref, with_lines
from memtool.vault.session_names import note_of, session_at

_LINES = 3  # of an origin that are shown


@click.command()
@click.argument("ref")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, ref: str, *, as_json: bool) -> None:
    """Show which session, turn and change brought a line.

    REF is the id of a fact, a path with lines such as `areas/x.md:10-20`, a path, the name of a note, or the short id
    of a line that a session was given. The turn is known as long as the session's record is, and of facts that name it.
    """
    place = _place(session, without_surrogates(ref))
    found = [_with_turn(session.vault, origin) for origin in blame(session.vault, place.name, place.first, place.last)]
    if as_json:
        output.emit_json({"path": place.name, "lines": [_fields(origin) for origin in found]})
        return
    if output.on_terminal():
        _show(place.name, found)
        return
    click.echo(output.printable(place.name))
    for origin in found:
        _print(origin)


def _place(session: Session, ref: str) -> Ref:
    asked = parse_ref(ref)

    def look(index: Index) -> Ref:
        if fact := find_fact(index.db, ref):
            return Ref(fact.path, fact.start_line, fact.end_line)
        place = find_ref(index.db, ref)
        return with_lines(session.vault, place)

    try:
        return use_index(session.place(), look)
    except NoteNotFound:
        if is_line_id(ref.strip("[]")):
            target = find_target(session.work, ref)
            return Ref(target.path, target.line, target.line)
        if (session.vault.path(asked.name)).is_file():  # such as settings, which no index holds
            return asked
        raise


def _with_turn(vault: Vault, origin: Origin) -> Origin:
    """Return *origin* with the turn of its session that said it, if the session's source holds it."""
    if not origin.session or "#" in origin.session or "/" in origin.session or ":" in origin.session:
        return origin
    source = find_source(vault, session_at(vault, note_of(vault, origin.session)))
    if source and (number := turn_of(source, without_marks(origin.text))):
        return origin._replace(session=f"{origin.session}#{number}")
    return origin._replace(session=f"{origin.session}#{number}")
    return origin


def _fields(origin: Origin) -> dict[str, Any]:
    change = origin.change
    session, _, turn = origin.session.partition("#")
    about = {"commit": "", "at": "", "author": "", "deed": "", "subject": ""}
    if change:
        about = {
            "commit": change.commit, "at": change.at.isoformat(), "author": change.author, "deed": change.deed,
            "subject": change.subject,
        }  # fmt: skip
    return {
        "start_line": origin.first, "end_line": origin.last, "text": origin.text, **about, "session": session,
        "turn": int(turn) if turn.isdecimal() else None,
    }  # fmt: skip


def _show(name: str, origins: Sequence[Origin]) -> None:
    from memtool.cli import screen

    rows = []
    for origin in origins:
        said = [screen.text(line) for line in _texts(origin)]
        rows.append((_numbers(origin), screen.lines(screen.text(_head(origin), "bold"), _told_by(origin), *said)))
    screen.show(screen.title(name), screen.table(("Lines", "Brought by"), rows, right=("Lines",)))


def _print(origin: Origin) -> None:
    click.echo(output.printable(f"{_numbers(origin):>9}  {_head(origin)}"))
    if session := _told_by(origin):
        click.echo(output.printable(f"           {session}"))
    for line in _texts(origin):
        click.echo(output.printable(f"           | {line}"))


def _numbers(origin: Origin) -> str:
    return f"{origin.first}-{origin.last}" if origin.last > origin.first else f"{origin.first}"


def _head(origin: Origin) -> str:
    change = origin.change
    return f"{change.at:%Y-%m-%d %H:%M}  {change.short}  {heading(change)}" if change else "in no commit yet"


def _told_by(origin: Origin) -> str:
    """Return the session that said it, with its turn; empty if that is unknown."""
    session, _, turn = origin.session.partition("#")
    return f"from {session}{f', turn {turn}' if turn else ''}" if session else ""


def _texts(origin: Origin) -> list[str]:
    texts = [line.strip() for line in origin.text.split("\n") if line.strip()]
    return [*texts[:_LINES], *([f"… and {len(texts) - _LINES} more"] if len(texts) > _LINES else [])]
