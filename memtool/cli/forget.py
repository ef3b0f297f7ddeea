"""`memtool forget` and `memtool purge`."""

from __future__ import annotations

import sys

import click

from memtool.cli import output
from memtool.cli.options import REF, with_json
from memtool.cli.session import Session
from memtool.errors import UsageError
from memtool.index.engine import catch_up
from memtool.memory.forget import LINE, find_target, forget, forget_for_good, sort_of
from memtool.memory.new_memory import MemoryChange
from memtool.recall.framing import is_line_id
from memtool.text.lines import brief, counted, some_of
from memtool.vault.memory import FACT, NOTE, SESSION, TODO, Memory

_ENDS = {FACT: "archived", NOTE: "archived", TODO: "done", LINE: "removed from the note"}


@click.command()
@REF
@click.option("--purge", "for_good", is_flag=True, help="Remove it from its file for good, after asking.")
@click.option("--yes", is_flag=True, help="Do not ask before --purge, or before archiving a whole session.")
@with_json
def command(session: Session, ref: str, *, for_good: bool, yes: bool) -> None:
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
        _confirm(f"{output.printable(brief(target.text, output.width()))}\n{name}?")
    done = forget_for_good(work, target) if for_good else forget(work, target)
    catch_up(work)
    answer = {"kind": sort_of(target), "name": target.id, "path": target.path, "changed": done.changed}
    commit = {"commit": done.kept.commit, "undo": done.kept.undo(session.vault), "notice": done.kept.notice}
    if not session.emits({**answer, "purged": for_good, **commit}):
        _print(session, done, for_good=for_good)


def _confirm(question: str) -> None:
    if not output.confirmed(question):
        raise click.Abort


def _print(session: Session, done: MemoryChange, *, for_good: bool) -> None:
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
        _confirm(
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
