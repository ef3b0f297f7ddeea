"""`memtool consolidate` and `memtool schedule`."""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memtool.cli import output
from memtool.cli.options import DRY_RUN, with_json, with_vault
from memtool.cli.session import Session
from memtool.errors import NoteNotFound, UsageError
from memtool.text.lines import counted

if TYPE_CHECKING:
    from memtool.consolidate.proposals import Judged
    from memtool.consolidate.review import Choice
    from memtool.consolidate.run import Outcome
    from memtool.schedules import Schedule


@click.command()
@click.option("--week", default="this", show_default=True, metavar="WEEK", help="2026-W47, this or last.")
@click.option("--facts", "only_facts", is_flag=True, help="Only propose facts; leave notes and sections unchanged.")
@click.option("--once", is_flag=True, help="End at once if this machine has already done that week: for schedules.")
@DRY_RUN
@click.option("--review/--accept", default=None, help="Let new facts wait for your review, or write them at once.")
@click.option("--apply", "apply_choices", is_flag=True, help="Carry out your decisions in the review note.")
@click.option("--open", "open_report", is_flag=True, help="Show the report of the week.")
@with_json
def command(
    session: Session,
    *,
    week: str,
    only_facts: bool,
    once: bool,
    dry_run: bool,
    review: bool | None,
    apply_choices: bool,
    open_report: bool,
) -> None:
    """Propose facts from the week's sessions, tidy the vault, and write a report, all in one commit.

    The facts wait for `memtool facts review` (`consolidate.review` in the settings). Nothing is deleted: old notes are
    archived, facts are superseded. A second run changes nothing.
    """
    from memtool.consolidate.week import parse_week, was_run

    session.vault.check_made()
    wanted = parse_week(week, session.work.now().date())
    if open_report and (dry_run or only_facts or review or apply_choices):
        raise UsageError("--open shows the existing report; it goes with --week only")
    if apply_choices and (dry_run or only_facts or review):
        raise UsageError("--apply carries out a review; it goes with --week only")
    if open_report:
        _open(session, str(wanted))
        return
    if once and was_run(session.work, wanted):
        output.say(f"{wanted} is already consolidated.")
        return
    from memtool.consolidate.review import stored_proposals
    from memtool.consolidate.run import apply_review, consolidate

    if apply_choices:
        outcome = apply_review(session.work, wanted)
    else:
        is_asked = session.work.settings.consolidate.review == "ask" if review is None else review
        outcome = consolidate(session.work, wanted, tidy=not only_facts, review_first=is_asked, dry=dry_run)
    if session.emits(_answer(session, outcome, dry=dry_run)):
        return
    _print(session, outcome, dry=dry_run)
    waiting = stored_proposals(session.vault, wanted) if outcome.is_open and not dry_run else []
    if waiting and sys.stdin.isatty() and output.on_terminal():
        _print(session, apply_review(session.work, wanted, ask_each(waiting)), dry=False)
    elif waiting:
        output.say("Decide on them with `memtool facts review`.")


def _answer(session: Session, outcome: Outcome, *, dry: bool) -> dict[str, Any]:
    judged = [
        {
            "fate": one.fate, "reason": one.reason, "other": one.other, "id": one.proposal.id,
            "text": one.proposal.text,
            "project": one.proposal.project, "category": one.proposal.category, "author": one.proposal.author,
            "confidence": one.proposal.confidence, "sources": [span.source for span in one.proposal.spans],
        }
        for one in outcome.judged
    ]  # fmt: skip
    return {
        "week": str(outcome.week),
        "dry_run": dry,
        "proposals": judged,
        "changes": outcome.changes,
        "files": [*outcome.written],
        "commit": outcome.kept.commit,
        "undo": outcome.kept.undo(session.vault),
        "notice": outcome.kept.notice,
        "problems": outcome.problems,
    }


def _print(session: Session, outcome: Outcome, *, dry: bool) -> None:
    for line in outcome.changes:
        click.echo(output.printable(f"- {line}"))
    fates = Counter(one.fate for one in outcome.judged)
    refused = [one for one in outcome.judged if one.fate == "rejected" and not one.other]  # without those of before
    known = fates["known"] + fates["rejected"] - len(refused)
    new, others = fates["new"] + fates["supersedes"], f"{known} known, {len(refused)} not kept"
    if outcome.is_open:
        print_proposals(outcome.waiting)
        output.say(f"{outcome.week}: {counted(len(outcome.waiting), 'proposed fact')} to decide on, {others}.")
    else:
        would = "would be " if dry else ""
        output.say(f"{outcome.week}: {counted(new, 'fact')} {would}new, {fates['review']} to decide on, {others}.")
        print_proposals([one for one in outcome.judged if one.fate == "review"], "To decide on: ")
    print_proposals(refused, "Not kept: ")
    output.say(*outcome.problems, "" if outcome.changes or outcome.is_open else "Nothing to change.")
    session.say_kept(outcome.kept)


def print_proposals(judged: Sequence[Judged], before: str = "") -> None:
    """Print *judged*, each with its project and its reason; with *before* in front of each, they go to stderr."""
    for one in judged:
        proposal = one.proposal
        why = f": {one.reason}" if one.reason else ""
        about = f"{before}{proposal.project or '–'}: {proposal.text} ({proposal.category}, {proposal.author}){why}"
        if before:
            output.say(about)
        else:
            click.echo(output.printable(f"{proposal.id}  {about}"))


def ask_each(waiting: Sequence[Judged]) -> dict[str, Choice]:
    """Return a person's choice on each proposal, one key for each; one that they leave open stays open."""
    from memtool.consolidate.review import CHANGE, DROP, KEEP, Choice

    keys = "k keep, d drop, c change, s skip, q leave the rest"
    choices = {}
    for number, one in enumerate(waiting, 1):
        proposal = one.proposal
        click.echo(output.printable_lines(f"\n{number}/{len(waiting)}  {' '.join(proposal.text.split())}"))
        output.say(f"{proposal.project}, {proposal.category}, {proposal.author}: {one.reason}".rstrip(": "), keys)
        while (key := click.getchar().casefold()) not in ("k", "d", "c", "s", "q"):
            output.say(keys)
        if key == "q":
            break
        if key == "c":
            choices[proposal.id] = Choice(CHANGE, click.prompt("The new statement", default=proposal.text))
        elif key != "s":
            choices[proposal.id] = Choice(KEEP if key == "k" else DROP, proposal.text)
    return choices


def _open(session: Session, week: str) -> None:
    from memtool.vault.files import read_text

    path = session.vault.path(f"reports/{week}.md")
    if not path.is_file():
        missing = NoteNotFound(f"reports/{week}.md")
        missing.hint = f"`memtool consolidate --week {week}` writes it."
        raise missing
    text = read_text(path)[0]
    if output.on_terminal():
        from memtool.cli import screen

        screen.show(screen.note(text.split("---\n", 2)[-1]))
    else:
        output.emit_text(text)


@click.group("schedule")
def schedule() -> None:
    """Let the system consolidate the vault once a week. A week that the machine slept through is done later."""


@schedule.command()
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


@schedule.command()
@with_json
def status(session: Session) -> None:
    """Show the schedule, its last run and its next one."""
    from memtool import schedules
    from memtool.consolidate.review import stored_proposals, weeks_to_review
    from memtool.consolidate.week import read_run

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


@schedule.command()
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


@schedule.command()
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
