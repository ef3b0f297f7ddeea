"""`memtool forget`."""

from __future__ import annotations

import sys

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.index.engine import catch_up
from memtool.memory.forget import (
    LINE,
    ForgetTarget,
    Forgotten,
    find_target,
    forget,
    forget_for_good,
)
from memtool.recall.framing import is_line_id
from memtool.text.lines import brief
from memtool.vault.kinds import FACT, NOTE, TODO


@click.command()
@click.argument("ref")
@click.option("--purge", is_flag=True, help="Remove it from its file for good, after asking.")
@click.option("--yes", is_flag=True, help="Do not ask, with --purge and for all of a session.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, ref: str, *, purge: bool, yes: bool, as_json: bool) -> None:
    """Archive a fact or a note, or strike out an open item, so that it is no longer given.

    REF is the id of a fact, the path or the name of a note, the path and the line of an open item, or the short id of a
    line that a session was given, such as k3f9. A fact and a note are archived: `memtool search --all` still finds
    them. A line of a note is taken out of it, and a session note that is written again does not bring it back, in other
    words neither. The line that says what a session was about stands for all of its note, and is asked for. git can
    undo it. With --purge it is removed.
    """
    if yes and not (purge or is_line_id(ref.strip("[]"))):
        raise UsageError("--yes goes with --purge")
    work = session.work
    target = find_target(work, ref)
    if (purge or (target.is_session and not target.is_gone)) and not yes:
        _ask(target, purge=purge)
    done = forget_for_good(work, target) if purge else forget(work, target)
    catch_up(work)
    if as_json:
        _print_json(session, done, purge=purge)
    else:
        _print(session, done, purge=purge)


def _ask(target: ForgetTarget, *, purge: bool) -> None:
    name = output.printable(target.name)
    deed = f"Remove {name} for good" if purge else f"It stands for the whole session. Archive all of {name}"
    if sys.stdin is None or not sys.stdin.isatty():
        asking = "--purge" if purge else f"the line stands for a whole session, '{name}': forgetting it"
        raise UsageError(f"{asking} must ask, and there is nobody to answer", hint="If you are sure, add --yes.")
    text = output.printable(brief(target.text, output.width()))
    click.confirm(f"{text}\n{deed}?", abort=True, err=True)


def _print_json(session: Session, done: Forgotten, *, purge: bool) -> None:
    target, kept = done.target, done.kept
    answer = {"kind": target.what, "name": target.name, "path": target.path, "changed": done.changed, "purged": purge}
    output.emit_json({**answer, "commit": kept.commit, "undo": kept.undo(session.vault), "notice": kept.notice})


def _print(session: Session, done: Forgotten, *, purge: bool) -> None:
    name = output.printable(done.target.name)
    if not done.changed:
        click.echo(f"{name} is {_ENDS[done.target.what]} already.")
        return
    if not purge:
        click.echo(f"{name} is {'struck out' if done.target.what == TODO else _ENDS[done.target.what]}.")
    else:
        click.echo(f"{name} is removed.")
    output.say(*filter(None, [done.kept.notice]))
    undo = done.kept.undo(session.vault)
    if undo:
        output.say(f"Undo: {undo}")
    if purge:
        output.say(_STILL_THERE if done.kept.commit else "Copies of the vault may still hold it.")


_ENDS = {FACT: "archived", NOTE: "archived", TODO: "done", LINE: "taken out of the note"}
_STILL_THERE = (
    "git's history still holds it, and so do copies of the vault. `memtool purge --history TEXT` removes a text there."
)
