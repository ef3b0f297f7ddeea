"""`memtool sync`."""

from __future__ import annotations

import time
from functools import partial

import click

from memtool.capture.note_place import keep_what_is_by_hand, part_same_names
from memtool.cli import output
from memtool.cli.options import with_json
from memtool.cli.session import Session
from memtool.history.syncing import sync
from memtool.index.engine import catch_up
from memtool.index.turn_table import catch_up_turns
from memtool.text.lines import counted, some_of
from memtool.worker import update_routes


@click.command()
@click.option("--edits", is_flag=True, help="Also commit your own changes, in your name.")
@click.option("--join", is_flag=True, help="Join two vaults that were made independently.")
@with_json
def command(session: Session, *, edits: bool, join: bool) -> None:
    """Synchronise the vault with its remote, and so with your other machines.

    This fetches, merges and pushes the checked-out branch, without questions. Facts, daily notes, open items, session
    notes and the routing table are merged item by item. If two machines changed the same place of a text, the file
    keeps both versions between conflict marks, and is named. Your uncommitted changes stay here, unless you use
    --edits.
    """
    work = session.work

    def follow() -> None:
        update_routes(work, new_table=False)

    def wait(attempt: int) -> None:
        # Seconds, longer each time, and not the same on two machines.
        time.sleep(0.2 * attempt * (1 + int(work.random(1), 16) / 255))

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
    if session.emits(done._asdict()):
        return
    moved = [f"{counted(done.received, 'change')} received"] if done.received else []
    moved += [f"{counted(done.sent, 'change')} sent"] if done.sent else []
    click.echo(output.printable(f"{done.remote}: {', '.join(moved) or 'nothing new on either side'}."))
    if done.aside:
        named = some_of([f"{name} → {beside}" for name, beside in done.aside.items()], 5)
        output.say(f"the remote has files with the names of some that git ignores here; yours were renamed: {named}")
    if done.unsolved:
        output.say(f"conflicts in {some_of(done.unsolved, 5)}: keep the right version, with an editor")
    if done.waiting:
        output.say(f"not committed, so not sent: {some_of(done.waiting, 5)} (`memtool sync --edits` sends it, too)")
