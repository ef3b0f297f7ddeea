"""`memtool purge`."""

from __future__ import annotations

import sys

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.memory.forget import ForgetTarget
from memtool.memory.purge import Extent, Purged, extent_of, find_purge_target, purge
from memtool.text.lines import brief, counted, some_of

_NAMED = 5  # files in a sentence


@click.command()
@click.argument("text_or_ref")
@click.option("--text", "is_text", is_flag=True, help="Take the argument for a text, whatever else it names.")
@click.option("--history", is_flag=True, help="Rewrite the vault's git history, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, text_or_ref: str, *, is_text: bool, history: bool, yes: bool, as_json: bool) -> None:
    """Remove a text, or what a reference names, for good.

    A text, such as a password, is masked in every file of the vault, in the archive, in kept transcripts, in the index,
    ledgers and the queue, in capitals or not, and where it is encoded (URL, base64, JSON, shell, HTML). With `-` it is
    read from the standard input, so that no shell remembers it. A reference is the id of a fact, the path of a note or
    of a line, as `memtool forget` takes it.

    git's history keeps what is in older commits. With --history these are rewritten, stashes and notes as well, and
    what nothing leads to any more is removed; it cannot be undone. Afterwards the remote must be overwritten by hand,
    and every other clone made anew.
    """
    asked = sys.stdin.readline().rstrip("\r\n") if text_or_ref == "-" else text_or_ref
    target = None if is_text else find_purge_target(session.work, asked)
    extent = None if target else extent_of(session.work, asked)
    if not yes:
        _ask(target, extent, history=history)
    done = purge(session.work, asked, target, history=history)
    if as_json:
        _print_json(done)
    else:
        _print(done, history=history)
        if extent and extent.unread:
            say = f"Not looked into, as they hold no text or are too large: {some_of(extent.unread, _NAMED)}"
            output.say(output.printable(say))


def _ask(target: ForgetTarget | None, extent: Extent | None, *, history: bool) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("purge asks first, and it needs a terminal for that", hint="If you are sure, add --yes.")
    name = f"{target.name} ({brief(target.text, output.width())})" if target else "this text"
    if extent:
        name += f" ({counted(extent.places, 'place')} in {counted(extent.files, 'file')})"
    where = ", and rewrite git's history" if history else ""
    click.confirm(output.printable(f"Remove {name} from the whole vault{where}?"), abort=True, err=True)


def _print(done: Purged, *, history: bool) -> None:
    if done.refs:
        click.echo(output.printable(f"{counted(len(done.refs), 'file')} changed: {some_of(done.refs, _NAMED)}"))
    else:
        click.echo("No file of the vault holds it.")
    click.echo(f"{counted(done.state, 'file')} of memtool's own state changed; the index was made anew.")
    output.say(*filter(None, [done.kept.notice]))
    if done.named:
        output.say(output.printable(f"The names of these files still hold it: {some_of(done.named, _NAMED)}"))
    if not history:
        output.say("git's history still holds it; `memtool purge --history` removes it there, too.")
    elif done.rewritten:
        output.say(f"{counted(done.rewritten.commits, 'commit')} rewritten.", *_elsewhere(done.rewritten.remotes))
    output.say("Backups of the vault and the client's own transcripts are not touched.")


def _elsewhere(remotes: tuple[str, ...]) -> list[str]:
    if not remotes:
        return ["Other clones of this vault still hold it: remove them and clone it anew."]
    return [
        f"The remote still holds it: `git push --force --all {remotes[0]}` in the vault overwrites it.",
        "On every other machine: remove the clone and clone it anew; a sync from an old one would bring it back.",
    ]


def _print_json(done: Purged) -> None:
    history = {"commits": done.rewritten.commits, "remotes": done.rewritten.remotes} if done.rewritten else None
    output.emit_json(
        {"files": done.refs, "state": done.state, "named": done.named, "commit": done.kept.commit, "history": history}
    )
