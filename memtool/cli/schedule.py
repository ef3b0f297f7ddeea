"""`memtool schedule`."""

from __future__ import annotations

import signal
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.consolidate.week import read_run
from memtool.text.lines import counted

if TYPE_CHECKING:
    from memtool.consolidate.week import LastRun
    from memtool.schedules.schedule_files import Schedule

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def command() -> None:
    """Let the system consolidate the vault once a week, what it slept through included."""


@command.command()
@click.option("--kind", type=click.Choice(["systemd", "launchd", "cron", "windows"]), help="What is to run it.")
@click.option("--dry-run", "--print", "dry_run", is_flag=True, help="Show the files and the commands; change nothing.")
@_AS_JSON
@with_vault
def install(session: Session, *, kind: str | None, dry_run: bool, as_json: bool) -> None:
    """Set up what this machine has to run it.

    That is a systemd timer, a launchd agent, a line in the crontab or a Windows task. A second time changes nothing.
    Another kind takes the place of the first; each vault has its own.
    """
    from memtool.schedules import schedule, schedule_files

    session.vault.check_made()
    work = session.work
    plan = schedule_files.plan(work, kind or schedule.choose_kind(work))
    changed = False if dry_run else schedule.install(work, plan)
    if as_json:
        output.emit_json({**_fields(plan), "changed": changed, "dry_run": dry_run})
    elif dry_run:
        output.emit_text("\n".join(schedule.shown(plan)))
    else:
        done = "is set up" if changed else "was set up already"
        click.echo(f"The week is consolidated by {plan.kind}: {plan.name} {done}.")
        click.echo(f"Next: {_minute(schedule.next_run(work.now()))}. `memtool schedule status` shows how it went.")


@command.command()
@_AS_JSON
@with_vault
def status(session: Session, *, as_json: bool) -> None:
    """Say what is installed, and how the last run ended.

    And when this machine ran it last, and runs it next.
    """
    from memtool.consolidate.review import stored_proposals, weeks_to_review
    from memtool.schedules import schedule

    work = session.work
    found = [(plan, schedule.look(work, plan)) for plan in schedule.find_installed(work)]
    run = read_run(work)
    runs_next = schedule.next_run(work.now()) if any(state.is_in_force for _, state in found) else None
    if as_json:
        installed = [{**_fields(plan), **state._asdict()} for plan, state in found]
        next_at = runs_next.isoformat(timespec="seconds") if runs_next else None
        output.emit_json({"installed": installed, "last_run": run._asdict() if run else None, "next_run": next_at})
        return
    for plan, state in found:
        click.echo(f"{plan.kind}: {plan.name}{'' if state.is_in_force else ', which the system does not heed'}")
        if state.differs or not state.is_in_force:
            output.say("It is not as this memtool would set it up: run `memtool schedule install` again.")
    if not found:
        click.echo("No schedule is installed for this vault. `memtool schedule install` sets one up.")
    click.echo(output.printable(_told(run)))
    if waiting := sum(len(stored_proposals(session.vault, week)) for week in weeks_to_review(session.vault)):
        click.echo(f"{counted(waiting, 'proposed fact')} to decide on: `memtool facts review`")
    if runs_next:
        click.echo(f"Next run: {_minute(runs_next)}, or when the machine is up again")


@command.command()
@_AS_JSON
@with_vault
def remove(session: Session, *, as_json: bool) -> None:
    """Take out what was set up for this vault."""
    from memtool.schedules import schedule

    found = schedule.find_installed(session.work)
    refused = [sentence for plan in found for sentence in schedule.remove(session.work, plan)]
    if as_json:
        output.emit_json({"removed": [_fields(plan) for plan in found], "problems": refused})
        return
    for plan in found:
        click.echo(f"Removed from {plan.kind}: {plan.name}.")
    if not found:
        click.echo("Nothing to do: no schedule is installed for this vault.")
    output.say(*refused)


@command.command()
@with_vault
def run(session: Session) -> None:
    """Stay here and do it: for containers.

    A week that was missed comes first. Needs the extra `schedule`. Ctrl-C and SIGTERM end it at once.
    """
    from memtool.schedules.schedule import keep_running

    session.vault.check_made()
    signal.signal(signal.SIGTERM, _end)
    keep_running(session.work, _log, time.sleep)


def _end(*_: object) -> NoReturn:
    sys.exit(0)


def _log(sentence: str) -> None:
    output.say(f"{datetime.now().astimezone():%Y-%m-%d %H:%M} {sentence}")


def _fields(plan: Schedule) -> dict[str, Any]:
    return {"kind": plan.kind, "name": plan.name, "files": {str(path): text for path, text in plan.texts.items()}}


def _told(run: LastRun | None) -> str:
    if run is None:
        return "Last run: none on this machine"
    ended = run.said if run.is_done else f"it failed: {run.said}"
    return f"Last run: {run.at[:16].replace('T', ' ')}: {ended}"


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
