"""`memtool sync`."""

from __future__ import annotations

import time
from functools import partial

import click

from memtool.capture.by_hand import keep_what_is_by_hand
from memtool.capture.note_place import part_same_names
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.history.syncing import Synced, sync
from memtool.index.engine import catch_up
from memtool.index.turn_table import catch_up_turns
from memtool.text.lines import counted, some_of
from memtool.worker import update_routes

_NAMED = 5  # files
_PAUSE = 0.2  # seconds before the second try; longer before each further one


@click.command()
@click.option("--edits", is_flag=True, help="Commit what you have changed by hand as well, as your own.")
@click.option("--join", is_flag=True, help="Make one vault of two that began by themselves.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, *, edits: bool, join: bool, as_json: bool) -> None:
    """Bring the vault together with its remote, and so with your other machines.

    It fetches, merges and pushes the branch that is checked out, and asks nothing. Facts, daily notes, open items,
    session notes and the routing table are merged item by item. Where two machines changed the same place of a text,
    both stand in the file between marks, and the file is named. What you have changed and not committed stays here,
    unless you say --edits.
    """
    work = session.work

    def follow() -> None:
        update_routes(work, new_table=False)

    def wait(attempt: int) -> None:
        time.sleep(_PAUSE * attempt * (1 + int(work.random(1), 16) / 255))  # so that two machines do not meet again

    keep = partial(keep_what_is_by_hand, work.vault)
    with output.waiting() as tell:
        if output.is_watched():
            tell("Synchronising")
        done = sync(
            work.vault, wait=wait, after_merge=follow, join=join, edits=edits, before_commit=keep,
            before_merge=partial(part_same_names, work.vault),
        )  # fmt: skip
    catch_up(work)
    catch_up_turns(work)
    if as_json:
        output.emit_json(done._asdict())
    else:
        _print(done)


def _print(done: Synced) -> None:
    deeds = [f"{counted(done.received, 'change')} received"] if done.received else []
    deeds += [f"{counted(done.sent, 'change')} sent"] if done.sent else []
    remote = output.printable(done.remote)
    click.echo(f"{remote}: {', '.join(deeds)}." if deeds else f"{remote}: nothing new on either side.")
    if done.aside:
        named = some_of([f"{name} → {beside}" for name, beside in done.aside.items()], _NAMED)
        output.say(f"the remote brought files in place of some that git ignores here; yours have new names: {named}")
    if done.unsolved:
        output.say(
            f"two texts stand between marks in {some_of(done.unsolved, _NAMED)}: keep what holds, with an editor"
        )
    if done.waiting:
        output.say(
            f"not committed, so it stays here: {some_of(done.waiting, _NAMED)} (`memtool sync --edits` sends it, too)"
        )
