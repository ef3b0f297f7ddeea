"""`memtool remember`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.index.engine import catch_up
from memtool.memory.anchors import blob_of, root_of
from memtool.memory.new_memory import NewMemory
from memtool.memory.remember import AlreadyKnown, Remembered, remember
from memtool.memory.standing import Standing
from memtool.recall.ledger import ledger_folder, read_ledger
from memtool.settings import client_author
from memtool.text.lines import brief
from memtool.vault.authors import AUTHORS
from memtool.vault.kinds import CATEGORIES, FACT, FOLDERS, TODO
from memtool.vault.todos import TYPES
from memtool.workspace import Workspace

_STDIN = ("-",)

_WIDEST = 200  # columns of what stands already: a fact in whole, the beginning of a note
_LARGEST = 64 << 20  # bytes on stdin; what is a note at most, the settings say


@click.command()
@click.argument("text", nargs=-1)
@click.option("--kind", type=click.Choice((*FOLDERS, TODO)), help="Write a note or an open item instead of a fact.")
@click.option("--category", type=click.Choice(CATEGORIES), help="What sort of thing it is.")
@click.option("--type", type=click.Choice(TYPES), help="Of an open item; a task if nothing else is said.")
@click.option("--due", metavar="DATE", help="By when an open item is to be done: 2026-12-31, 2026-12, 2w.")
@click.option("--project", metavar="NAME", help="The project it belongs to; else that of the working folder.")
@click.option("--global", "is_global", is_flag=True, help="It belongs to no project.")
@click.option("--tag", "tags", multiple=True, help="A word to find it by. Repeatable.")
@click.option("--expires", metavar="DATE", help="The last day on which it holds: 2026-12-31, 2026-12, 2w.")
@click.option("--evidence", metavar="TEXT", help="Why it is believed.")
@click.option(
    "--source", metavar="ID", help="The session, or the note, that it comes from; in Claude Code, its session."
)
@click.option(
    "--author", type=click.Choice(AUTHORS), help="Who says so; else the user, or in a session of Claude Code the agent."
)
@click.option("--supersedes", metavar="ID", help="The id of the fact that it replaces.")
@click.option("--anchor", "anchors", multiple=True, metavar="PATH", help="A file that the fact speaks of. Repeatable.")
@click.option("--force", is_flag=True, help="Write it although something says the same already.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(
    session: Session,
    text: tuple[str, ...],
    *,
    kind: str | None,
    project: str | None,
    is_global: bool,
    tags: tuple[str, ...],
    anchors: tuple[str, ...],
    force: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401  (click hands over the other fields of a `NewMemory`)
) -> None:
    """Write down a fact, a note or an open item, where the next search finds it.

    TEXT is one statement, or the body of a note; without it, or with -, it is read from stdin. Secrets are removed.
    What says nothing new is refused, with exit code 1 and the id of what stands.
    """
    if project == "" or (project and is_global):
        raise UsageError("--project and --global exclude each other" if project else "--project is empty")
    given["source"] = _source(session, given["source"])
    given["author"] = given["author"] or client_author(session.environ)
    filled: dict[str, Any] = {name: value or "" for name, value in given.items()}
    memory = NewMemory(
        _text(text),
        kind=kind or FACT,
        project="" if is_global else project,
        tags=tags,
        anchors=tuple(_anchor(session.work, name, project, is_global=is_global) for name in anchors),
        force=force,
        **filled,
    )
    work = session.work
    try:
        done = remember(work, memory)
    except AlreadyKnown as known:
        if as_json:
            output.emit_json({"remembered": False, "reason": str(known), "standing": _fields(known.standing)})
        raise
    catch_up(work, [done.path])
    if as_json:
        output.emit_json(_answer(session, done))
    else:
        _print(session, done)


def _anchor(work: Workspace, name: str, project: str | None, *, is_global: bool) -> dict[str, str]:
    """Return the file *name* as an anchor: its path in the project, and the blob id that it has now.

    Raises:
        UsageError: it is no file of the project.
    """
    area = work.area()
    root = area.root if project in (None, area.name) else Path(root_of(work.vault, project or ""))
    path = Path(name).resolve()
    is_in_project = not is_global and bool(project or area.name) and root.is_absolute()
    if not (is_in_project and path.is_relative_to(root.resolve()) and path.is_file()):
        raise UsageError(f"'{name}' is no file of the project", hint="An anchor lies in the folder of its project.")
    return {"path": path.relative_to(root.resolve()).as_posix(), "blob": blob_of(path)}


def _source(session: Session, named: str | None) -> str:
    """Return the source that was *named*, else the client's session; of that, the turn as well if it is known."""
    own = session.work.session_id
    if not own or named not in (None, "", own):
        return named or ""
    turn = read_ledger(ledger_folder(session.work), own).turn
    return f"{own}#{turn}" if turn else own


def _text(words: tuple[str, ...]) -> str:
    if words and words != _STDIN:
        return " ".join(words)
    if sys.stdin is None or (not words and sys.stdin.isatty()):
        raise UsageError("there is nothing to remember", hint="Try `memtool remember 'The API listens on port 8080.'`.")
    try:
        return sys.stdin.buffer.read(_LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"what stands on stdin is not UTF-8 (byte {error.start})") from None


def _answer(session: Session, done: Remembered) -> dict[str, Any]:
    fields = done._asdict()
    kept = fields.pop("kept")
    contradictions = [_fields(one) for one in fields.pop("contradictions")]
    undo = kept.undo(session.vault)
    return {"remembered": True, **fields, "contradictions": contradictions, "commit": kept.commit, "undo": undo}


def _fields(standing: Standing) -> dict[str, Any]:
    return {"name": standing.name, **standing._asdict()}


def _print(session: Session, done: Remembered) -> None:
    lines = f"{done.start_line}-{done.end_line}" if done.end_line > done.start_line else f"{done.start_line}"
    where = f"{done.path}:{lines}"
    click.echo(output.printable(f"{done.id}  {where}" if done.kind == FACT else where))
    if done.superseded:
        click.echo(output.printable(f"It supersedes {done.superseded}."))
    for one in done.contradictions:
        statement = output.printable(brief(one.text, _WIDEST))
        author = f" (by {one.author})" if one.author else ""
        click.echo(f"It may contradict {output.printable(one.name)}{author}:\n  {statement}")
    if done.contradictions:
        output.say("If it takes the place of one, say it again with --supersedes ID.")
    if done.redacted:
        output.say(f"removed before writing: {', '.join(f'{kind} ({n})' for kind, n in sorted(done.redacted.items()))}")
    output.say(*done.notices)
    undo = done.kept.undo(session.vault)
    output.say(f"Undo: {undo}" if undo else f"Undo: memtool forget {done.id}")
