"""`memtool remember`, `forget` and `purge`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from memtool.cli import completion, output
from memtool.cli.options import REF, project_option, with_json
from memtool.cli.session import Session
from memtool.errors import UsageError
from memtool.index.engine import catch_up
from memtool.memory.fact_book import blob_of, root_of
from memtool.memory.forget import LINE, find_target, forget as forget_memory, sort_of
from memtool.memory.new_memory import MemoryChange
from memtool.memory.remember import AlreadyKnown, remember
from memtool.recall.framing import is_line_id
from memtool.recall.ledger import ledger_folder, read_ledger
from memtool.settings import client_author
from memtool.text.lines import brief, counted, some_of
from memtool.vault.memory import AUTHORS, CATEGORIES, FACT, FOLDERS, NOTE, SESSION, TODO, Memory, NewMemory
from memtool.vault.todos import TYPES
from memtool.workspace import Workspace


@click.command()
@click.argument("text", nargs=-1)
@click.option("--kind", type=click.Choice((*FOLDERS, TODO)), help="Save a note or an open item instead of a fact.")
@click.option("--category", type=click.Choice(CATEGORIES), help="Its category.")
@click.option("--type", type=click.Choice(TYPES), help="The type of an open item; by default a task.")
@click.option("--due", metavar="DATE", help="When an open item is due: 2026-12-31, 2026-12, 2w.")
@project_option("The project it belongs to; by default, that of the working folder.")
@click.option("--global", "is_global", is_flag=True, help="It belongs to no project.")
@click.option("--tag", "tags", multiple=True, help="A word to find it by. Repeatable.")
@click.option("--expires", metavar="DATE", help="The last day on which it holds: 2026-12-31, 2026-12, 2w.")
@click.option("--evidence", metavar="TEXT", help="Why it is believed.")
@click.option("--source", metavar="ID", help="The session or note it comes from; in Claude Code, its session.")
@click.option("--author", type=click.Choice(AUTHORS), help="Who states it: by default you, in Claude Code the agent.")
@click.option("--supersedes", metavar="ID", shell_complete=completion.facts, help="The fact that it replaces.")
@click.option("--anchor", "anchors", multiple=True, metavar="PATH", help="A file that the fact is about. Repeatable.")
@click.option("--force", is_flag=True, help="Save it even if it repeats something.")
@with_json
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
    **others: Any,  # noqa: ANN401  (click hands over the other fields of a `NewMemory`)
) -> None:
    """Save a fact, a note or an open item, so that the next search finds it.

    TEXT is one statement, or the body of a note; without it, or with -, it is read from stdin. Secrets are removed.
    A statement that repeats another is refused, with exit code 1 and the id of the other.
    """
    if project == "":
        raise UsageError("--project is empty")
    if project and is_global:
        raise UsageError("--project and --global exclude each other")
    others["source"] = _source(session, others["source"])
    others["author"] = others["author"] or client_author(session.environ)
    filled: dict[str, Any] = {name: value or "" for name, value in others.items()}
    memory = NewMemory(
        _text(text, session.work.max_bytes),
        kind=kind or FACT,
        project="" if is_global else project,
        tags=tags,
        anchors=tuple(_anchor(session.work, name, project, is_global=is_global) for name in anchors),
        force=force,
        **filled,
    )
    try:
        done = remember(session.work, memory)
    except AlreadyKnown as known:
        session.emits({"remembered": False, "reason": str(known), "standing": _fields(known.memory)})
        raise
    catch_up(session.work, [done.memory.path])
    if not session.emits(_answer(session, done)):
        _print(session, done)


def _anchor(work: Workspace, name: str, project: str | None, *, is_global: bool) -> dict[str, str]:
    """Return the file *name* as an anchor: its path in the project, and its present blob id.

    Raises:
        UsageError: it is no file of the project.
    """
    area = work.area()
    root = area.root if project in (None, area.name) else Path(root_of(work.vault, project or ""))
    path = Path(name).resolve()
    is_in_project = not is_global and bool(project or area.name) and root.is_absolute()
    if not (is_in_project and path.is_relative_to(root.resolve()) and path.is_file()):
        raise UsageError(f"'{name}' is no file of the project", hint="An anchor is a file in its project's folder.")
    return {"path": path.relative_to(root.resolve()).as_posix(), "blob": blob_of(path)}


def _source(session: Session, named: str | None) -> str:
    """Return the source that was *named*, otherwise the id of the client's session, with `#turn` if that is known."""
    own = session.work.session_id
    if not own or named not in (None, "", own):
        return named or ""
    turn = read_ledger(ledger_folder(session.work), own).turn
    return f"{own}#{turn}" if turn else own


def _text(words: tuple[str, ...], largest: int) -> str:
    if words and words != ("-",):
        return " ".join(words)
    if sys.stdin is None or (not words and sys.stdin.isatty()):
        raise UsageError("there is nothing to remember", hint="Try `memtool remember 'The API listens on port 8080.'`.")
    content = sys.stdin.buffer.read(largest + 1)
    if len(content) > largest:
        raise UsageError(f"the text on stdin has more than {largest:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"the text on stdin is not UTF-8 (byte {error.start})") from None


def _answer(session: Session, done: MemoryChange) -> dict[str, Any]:
    memory = done.memory
    return {
        "remembered": True,
        "id": memory.id,
        **memory.place._asdict(),
        "kind": memory.kind,
        "project": memory.project,
        "category": memory.category,
        "author": memory.author,
        "contradictions": [_fields(one) for one in done.contradictions],
        "superseded": done.superseded,
        "redacted": done.redacted,
        "notices": done.notices,
        "commit": done.kept.commit,
        "undo": done.kept.undo(session.vault),
    }


def _fields(memory: Memory) -> dict[str, Any]:
    known = {"text": memory.text, "id": memory.id, "author": memory.author}
    return {"name": memory.id, **memory.place._asdict(), **known}


def _print(session: Session, done: MemoryChange) -> None:
    memory, place = done.memory, done.memory.place
    end = f"-{place.end_line}" if place.end_line > place.start_line else ""
    where = f"{place.path}:{place.start_line}{end}"
    click.echo(output.printable(f"{memory.id}  {where}" if memory.kind == FACT else where))
    if done.superseded:
        click.echo(output.printable(f"It supersedes {done.superseded}."))
    for one in done.contradictions:
        author = f" (by {one.author})" if one.author else ""
        click.echo(f"It may contradict {output.printable(one.id)}{author}:")
        click.echo(f"  {output.printable(brief(one.text, 200))}")
    output.say("If it replaces one of them, repeat the command with --supersedes ID." if done.contradictions else "")
    output.say_redacted(done.redacted)
    output.say(*done.notices)
    undo = done.kept.undo(session.vault)
    output.say(f"Undo: {undo}" if undo else f"Undo: memtool forget {memory.id}")


_ENDS = {FACT: "archived", NOTE: "archived", TODO: "done", LINE: "removed from the note"}


@click.command("forget")
@REF
@click.option("--purge", "for_good", is_flag=True, help="Remove it from its file for good, after asking.")
@click.option("--yes", is_flag=True, help="Do not ask before --purge, or before archiving a whole session.")
@with_json
def forget(session: Session, ref: str, *, for_good: bool, yes: bool) -> None:
    """Archive a fact or a note, or close an open item, so that agents no longer receive it.

    REF is the id of a fact, the path or the name of a note, the path and the line of an open item, or the short id of a
    line that a session received, such as k3f9. Facts and notes are archived: `memtool search --all` still finds them. A
    line of a note is removed from it, and a session note that is written again does not repeat it, not even in other
    words. The line with the subject of a session represents its whole note; memtool asks before it archives that. git
    can undo it. With --purge it is deleted.
    """
    if yes and not (for_good or is_line_id(ref.strip("[]"))):
        raise UsageError("--yes goes with --purge")
    work = session.work
    target = find_target(work, ref)
    is_session = is_line_id(ref.strip("[]")) and sort_of(target) == NOTE and target.kind == SESSION
    if (for_good or (is_session and not target.status)) and not yes:
        name = f"Remove {target.id} for good" if for_good else f"It represents a session. Archive all of {target.id}"
        output.confirm(f"{output.printable(brief(target.text, output.width()))}\n{name}?")
    done = forget_memory(work, target, for_good=for_good)
    catch_up(work)
    answer = {"kind": sort_of(target), "name": target.id, "path": target.path, "changed": done.changed}
    commit = {"commit": done.kept.commit, "undo": done.kept.undo(session.vault), "notice": done.kept.notice}
    if not session.emits({**answer, "purged": for_good, **commit}):
        _print_forgotten(session, done, for_good=for_good)


def _print_forgotten(session: Session, done: MemoryChange, *, for_good: bool) -> None:
    name, end = output.printable(done.memory.id), _ENDS[sort_of(done.memory)]
    if not done.changed:
        click.echo(f"{name} is already {end}.")
        return
    click.echo(f"{name} is {'deleted' if for_good else end}.")
    session.say_kept(done.kept)
    if for_good and done.kept.commit:
        output.say("git's history still holds it, and so do copies of the vault: see `memtool purge --history TEXT`.")
    elif for_good:
        output.say("Copies of the vault may still hold it.")


@click.command("purge")
@click.argument("text_or_ref")
@click.option("--text", "is_text", is_flag=True, help="Treat the argument as a text, even if it is a reference.")
@click.option("--history", is_flag=True, help="Rewrite the vault's git history, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_json
def purge(session: Session, text_or_ref: str, *, is_text: bool, history: bool, yes: bool) -> None:
    """Remove a text, or the target of a reference, for good.

    A text, such as a password, is masked in every file of the vault, the archive, kept transcripts, the index, ledgers
    and the queue, in upper and lower case, and where it is encoded (URL, base64, JSON, shell, HTML). With `-` it is
    read from stdin, so that no shell history keeps it. A reference is the id of a fact, or the path of a note or a
    line, as `memtool forget` takes it.

    git's history keeps older versions. With --history it is rewritten, with stashes and notes, and unreachable commits
    are removed; that cannot be undone. Afterwards, overwrite the remote by hand and clone the vault again elsewhere.
    """
    from memtool.memory.purge import extent_of, find_purge_target, purge as remove

    asked = sys.stdin.readline().rstrip("\r\n") if text_or_ref == "-" else text_or_ref
    target: Memory | None = None if is_text else find_purge_target(session.work, asked)
    extent = None if target else extent_of(session.work, asked)
    if not yes:
        name = f"{target.id} ({brief(target.text, output.width())})" if target else "this text"
        if extent:
            name += f" ({counted(extent.places, 'place')} in {counted(extent.files, 'file')})"
        output.confirm(
            f"Remove {output.printable(name)} from the whole vault{', and rewrite git history' if history else ''}?"
        )
    done = remove(session.work, asked, target, history=history)
    rewritten = done.rewritten and {"commits": done.rewritten.commits, "remotes": done.rewritten.remotes}
    answer = {"files": done.refs, "state": done.state, "named": done.named, "commit": done.kept.commit}
    if session.emits({**answer, "history": rewritten or None}):
        return
    files = f"{counted(len(done.refs), 'file')} changed: {some_of(done.refs, 5)}"
    click.echo(output.printable(files) if done.refs else "No file of the vault holds it.")
    click.echo(f"{counted(done.state, 'file')} of memtool's own state changed; the index was rebuilt.")
    output.say(done.kept.notice)
    output.say(f"The names of these files still hold it: {some_of(done.named, 5)}" if done.named else "")
    if not history:
        output.say("git's history still holds it; `memtool purge --history` removes it there, too.")
    elif done.rewritten:
        output.say(f"{counted(done.rewritten.commits, 'commit')} rewritten.")
        remotes = done.rewritten.remotes
        if remotes:
            output.say(f"The remote still holds it: `git push --force --all {remotes[0]}` in the vault overwrites it.")
        output.say("Other clones of this vault still hold it, and would send it back: delete them and clone it again.")
    output.say("Backups of the vault and the client's own transcripts are not touched.")
    if extent and extent.unread:
        output.say(f"Not searched, because they hold no text or are too large: {some_of(extent.unread, 5)}")
