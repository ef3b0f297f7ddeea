"""`memtool schedule`."""

from __future__ import annotations

import signal
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memtool.cli import output
from memtool.cli.options import with_json, with_vault
from memtool.cli.session import Session
from memtool.consolidate.week import read_run
from memtool.text.lines import counted

if TYPE_CHECKING:
    from memtool.schedules import Schedule


@click.group()
def command() -> None:
    """Let the system consolidate the vault once a week. A week that the machine slept through is done later."""


@command.command()
@click.option("--kind", type=click.Choice(["systemd", "launchd", "cron", "windows"]), help="The scheduler to use.")
@click.option("--dry-run", "--print", "dry_run", is_flag=True, help="Show the files and the commands; change nothing.")
@with_json
def install(session: Session, *, kind: str | None, dry_run: bool) -> None:
    """Set up a schedule with what this machine has.

    This is a systemd timer, a launchd agent, a line in the crontab or a Windows task. Running it again changes nothing.
    Another kind replaces the first; each vault has its own schedule.
    """
    from memtool import schedules

    session.vault.check_made()
    work = session.work
    plan = schedules.plan(work, kind or schedules.choose_kind(work))
    changed = False if dry_run else schedules.install(work, plan)
    if session.emits({**_fields(plan), "changed": changed, "dry_run": dry_run}):
        return
    if dry_run:
        output.emit_text("\n".join(schedules.shown(plan)))
    else:
        done = "is set up" if changed else "was already set up"
        click.echo(f"{plan.kind} consolidates each week: {plan.name} {done}.")
        click.echo(f"Next: {_minute(schedules.next_run(work.now()))}. `memtool schedule status` shows the result.")


@command.command()
@with_json
def status(session: Session) -> None:
    """Show the schedule, its last run and its next one."""
    from memtool import schedules
    from memtool.consolidate.review import stored_proposals, weeks_to_review

    work = session.work
    found = [(plan, schedules.look(work, plan)) for plan in schedules.find_installed(work)]
    run = read_run(work)
    runs_next = schedules.next_run(work.now()) if any(state.is_in_force for _, state in found) else None
    installed = [{**_fields(plan), **state._asdict()} for plan, state in found]
    next_at = runs_next.isoformat(timespec="seconds") if runs_next else None
    if session.emits({"installed": installed, "last_run": run._asdict() if run else None, "next_run": next_at}):
        return
    for plan, state in found:
        click.echo(f"{plan.kind}: {plan.name}{'' if state.is_in_force else ' is disabled'}")
        if state.differs or not state.is_in_force:
            output.say("It is disabled, or another version wrote it: run `memtool schedule install` again.")
    if not found:
        click.echo("No schedule is installed for this vault. `memtool schedule install` sets one up.")
    if run is None:
        click.echo("Last run: none on this machine")
    else:
        result = run.said if run.is_done else f"it failed: {run.said}"
        click.echo(output.printable(f"Last run: {run.at[:16].replace('T', ' ')}: {result}"))
    if waiting := sum(len(stored_proposals(session.vault, week)) for week in weeks_to_review(session.vault)):
        click.echo(f"{counted(waiting, 'proposed fact')} to decide on: `memtool facts review`")
    if runs_next:
        click.echo(f"Next run: {_minute(runs_next)}, or when the machine is up again")


@command.command()
@with_json
def remove(session: Session) -> None:
    """Remove the schedule of this vault."""
    from memtool import schedules

    found = schedules.find_installed(session.work)
    refused = [sentence for plan in found for sentence in schedules.remove(session.work, plan)]
    if session.emits({"removed": [_fields(plan) for plan in found], "problems": refused}):
        return
    for plan in found:
        click.echo(f"Removed from {plan.kind}: {plan.name}.")
    if not found:
        click.echo("Nothing to do: no schedule is installed for this vault.")
    output.say(*refused)


@command.command()
@with_vault
def run(session: Session) -> None:
    """Stay in the foreground and consolidate each week: for containers.

    A missed week is done first. This needs the extra `schedule`. Ctrl-C and SIGTERM end it at once.
    """
    from memtool.schedules import keep_running

    session.vault.check_made()

    def log(sentence: str) -> None:
        output.say(f"{_minute(datetime.now().astimezone())} {sentence}")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    keep_running(session.work, log, time.sleep)


def _fields(plan: Schedule) -> dict[str, Any]:
    return {"kind": plan.kind, "name": plan.name, "files": {str(path): text for path, text in plan.texts.items()}}


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
