"""`memtool blame`."""

from __future__ import annotations

from typing import Any

import click

from memtool.capture.records import read_record
from memtool.cli import output
from memtool.cli.log import heading
from memtool.cli.session import Session, with_vault
from memtool.errors import NoteNotFound
from memtool.index.engine import Index, use_index
from memtool.index.lookup import find_fact, find_note
from memtool.recall.framing import is_line_id
from memtool.recall.remembering.forget import find_target
from memtool.vault.changes import Origin, blame
from memtool.vault.layout import Vault
from memtool.vault.reading import Ref, parse_ref

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
    place = _place(session, ref.encode("utf-8", "replace").decode("utf-8"))
    found = [_with_turn(session.vault, origin) for origin in blame(session.vault, place.name, place.first, place.last)]
    if as_json:
        output.emit_json({"path": place.name, "lines": [_fields(origin) for origin in found]})
        return
    click.echo(output.printable(place.name))
    for origin in found:
        _print(origin)


def _place(session: Session, ref: str) -> Ref:
    asked = parse_ref(ref)

    def look(index: Index) -> Ref:
        if fact := find_fact(index.db, ref):
            return Ref(fact.path, fact.start_line, fact.end_line)
        return Ref(find_note(index.db, asked.name), asked.first, asked.last)

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
    """Return *origin* with the turn of its session that said it, if the session's record knows it."""
    if not origin.session or "#" in origin.session or "/" in origin.session or ":" in origin.session:
        return origin
    turns = read_record(vault, origin.session).reading.all_turns
    for number, turn in enumerate(turns, 1):
        if any(piece.text and piece.text in origin.text for piece in turn.told):
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


def _print(origin: Origin) -> None:
    room, change = output.width(), origin.change
    lines = f"{origin.first}-{origin.last}" if origin.last > origin.first else f"{origin.first}"
    if change:
        head = f"{lines:>9}  {change.at:%Y-%m-%d %H:%M}  {change.short}  {heading(change)}"
    else:
        head = f"{lines:>9}  in no commit yet"
    click.echo(output.shortened(output.printable(head), room))
    if origin.session:
        session, _, turn = origin.session.partition("#")
        click.echo(output.printable(f"           from {session}{f', turn {turn}' if turn else ''}"))
    texts = [line for line in origin.text.split("\n") if line.strip()]
    for line in texts[:_LINES]:
        click.echo(output.shortened(f"           | {output.printable(line.strip())}", room))
    if len(texts) > _LINES:
        click.echo(f"           | … and {len(texts) - _LINES} more")
