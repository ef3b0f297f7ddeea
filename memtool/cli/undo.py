"""`memtool undo`."""

from __future__ import annotations

import shlex

import click

from memtool.capture.captured import follow_undo
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.history.changes import find_change
from memtool.history.undoing import Undone, undo
from memtool.index.engine import catch_up
from memtool.text.lines import counted


@click.command()
@click.argument("change", required=False, default="")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, change: str, *, as_json: bool) -> None:
    """Take one change of the memory back.

    CHANGE is its number in `memtool log`, or its id; without it, the newest change that memtool made and that was not
    taken back yet. What was written since stays, committed or not; where it stands in the same place, nothing is done
    and the files are named. It is one more commit, which can be taken back as well. A session whose note was taken back
    is not written down again. Changes that memtool did not make are named, and taken back by their id only.
    """
    work = session.work
    found = find_change(work.vault, change)
    if not found.deed and found.number == (int(change) if change.isdecimal() else 0):
        hint = f"If that is what you want: `memtool undo {found.short}`."
        raise UsageError(f"change {change} is not memtool's: '{found.subject}' by {found.author}", hint=hint)
    done = undo(work.vault, found)
    follow_undo(session.vault, found)
    catch_up(work)
    if as_json:
        _print_json(session, done)
    else:
        click.echo(output.printable(f"Taken back: {found.subject} ({found.at:%Y-%m-%d %H:%M})"))
        click.echo(output.printable(f"{counted(len(done.refs), 'file')} changed: {', '.join(done.refs[:_NAMED])}"))
        output.say(f"Undo: {_back(session, done)}")


_NAMED = 5  # files


def _back(session: Session, done: Undone) -> str:
    return f"memtool --vault {shlex.quote(str(session.vault.root))} undo {done.commit[:10]}"


def _print_json(session: Session, done: Undone) -> None:
    change = done.change
    output.emit_json(
        {
            "commit": done.commit, "undoes": change.commit, "subject": change.subject, "files": done.refs,
            "undo": _back(session, done),
        }
    )  # fmt: skip
