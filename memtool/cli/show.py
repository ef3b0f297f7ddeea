"""`memtool show`."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import NoteNotFound, NotWritable
from memtool.index.engine import Index, use_index
from memtool.index.lookup import find_fact, find_ref
from memtool.recall.framing import is_line_id
from memtool.recall.ledger import key_of
from memtool.recall.uses import count_uses, read_uses
from memtool.text.lines import counted, without_surrogates
from memtool.vault.authors import named
from memtool.vault.reading import OVERVIEW, SUMMARY, WHOLE, Reading, Ref, parse_ref, read_file, read_note


@click.command()
@click.argument("ref")
@click.option(
    "--level",
    type=click.IntRange(SUMMARY, WHOLE),
    default=WHOLE,
    show_default=True,
    help="0 summary, 1 overview, 2 all.",
)
@click.option("--turns", is_flag=True, help="List the turns of a session; of a line of its note, show its turn.")
@click.option("--turn", type=click.IntRange(1), help="Show one turn of a session as a whole.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, ref: str, *, level: int, turns: bool, turn: int | None, as_json: bool) -> None:
    """Read a note, a fact or some lines; or what was said and done in a session.

    REF is a path in the vault, a path with lines such as `areas/x.md:10-20`, the name of a note, its title, one of its
    aliases, a link such as `[[note#heading]]`, a project, the beginning of a session's id, the id of a fact, or the
    short id of a line that a session was given, such as k3f9.

    `memtool show SESSION --turns` lists the turns of a session, and `--turn 7` shows the seventh as a whole. With the
    line of a note, as in `memtool show sessions/x.md:12 --turns`, it is the turn that the line came from.
    """
    text = without_surrogates(ref)
    if turns or turn:
        from memtool.cli.show_turns import show_turns

        show_turns(session, text, turn or 0, as_json=as_json)
        return
    try:
        reading = _reading(session, text, level)
    except NoteNotFound:
        if not is_line_id(text):
            raise
        reading = _reading(session, _given(session, text), level)
    used = _used(session, reading)
    if as_json:
        output.emit_json({"level": level, **asdict(reading), **_statements(reading), "uses": used})
        return
    if reading.problem:
        output.say(f"{reading.path}: {reading.problem}")
    _print(reading)
    if output.is_watched():
        if author := named(str(reading.fields.get("author", ""))):
            output.say(f"said by {author}")
        output.say(f"used {counted(used, 'time')}")


def _statements(reading: Reading) -> dict[str, Any]:
    """Return the lines of a session note with their roles and authors; nothing for any other note."""
    if reading.kind != "session":
        return {}
    from memtool.vault.sessions import lines_of

    first = reading.start_line - 1
    return {"lines": [{**line._asdict(), "number": line.number + first} for line in lines_of(reading.text)]}


def _print(reading: Reading) -> None:
    if not output.on_terminal() or not reading.path.endswith(".md"):
        output.emit_text(reading.text)
        return
    from memtool.cli import screen
    from memtool.text.frontmatter import read_front_matter

    body_line = read_front_matter(reading.text)[1]
    lines = reading.text.split("\n")
    head = lines[1 : max(1, body_line - 2)]
    screen.show(*(screen.text(line, "dim") for line in head), screen.note("\n".join(lines[body_line - 1 :])))


def _reading(session: Session, text: str, level: int) -> Reading:
    asked = parse_ref(text)
    return _direct(session, asked, level) or use_index(
        session.place(), lambda index: _found(session, index, text, level)
    )


def _given(session: Session, line_id: str) -> str:
    """Return the fact, the open item or the note that holds the line with the short id that was given."""
    from memtool.memory.forget import find_target
    from memtool.vault.kinds import FACT, TODO

    target = find_target(session.work, line_id)
    return target.name if target.what in (FACT, TODO) else target.path


def _used(session: Session, reading: Reading) -> int:
    """Return how often the note or fact was used or read before, and count this reading."""
    try:
        folder = session.work.index_folder
    except NotWritable:  # there is no place to count in
        return 0
    key = key_of(reading.path, str(reading.fields.get("id", "")) if reading.kind == "fact" else "")
    used = read_uses(folder, [key]).get(key, 0)
    count_uses(folder, [key])
    return used


def _direct(session: Session, ref: Ref, level: int) -> Reading | None:
    """Read what is named by its path; that needs no index."""
    max_bytes = session.work.max_bytes
    if path := session.work.outside.path_of(ref.name):
        return read_file(path, path.as_posix(), ref, level=level, max_bytes=max_bytes)
    if not os.path.isfile(session.vault.path(ref.name)):  # noqa: PTH113  (Path.is_file may raise)
        return None
    return read_note(session.vault, ref, level=level, max_bytes=max_bytes)


def _found(session: Session, index: Index, text: str, level: int) -> Reading:
    fact = find_fact(index.db, text)
    if fact:
        return _fact(session, fact, level)
    named = find_ref(index.db, text)
    reading = _direct(session, named, level)
    if reading is None:
        raise NoteNotFound(text)
    return reading


def _fact(session: Session, fact: Reading, level: int) -> Reading:
    if level < WHOLE:
        statement = fact.text.split("\n", 1)[0]
        return Reading(**(asdict(fact) | {"text": statement if level < OVERVIEW else fact.text}))
    lines = Ref(fact.path, fact.start_line, fact.end_line)
    whole = read_note(session.vault, lines, level=WHOLE, max_bytes=session.work.max_bytes)
    return Reading(**(asdict(fact) | {"text": whole.text}))
