"""`memtool consolidate`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memtool.cli import output
from memtool.cli.options import DRY_RUN, with_json
from memtool.cli.session import Session
from memtool.errors import NoteNotFound, UsageError
from memtool.text.lines import counted

if TYPE_CHECKING:
    from memtool.consolidate.proposals import Judged
    from memtool.consolidate.review import Choice
    from memtool.consolidate.run import Outcome
    from memtool.consolidate.week import Week


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
    from memtool.consolidate.run import apply_review, consolidate

    if apply_choices:
        outcome = apply_review(session.work, wanted)
    else:
        is_asked = session.work.settings.consolidate.review == "ask" if review is None else review
        outcome = consolidate(session.work, wanted, tidy=not only_facts, review_first=is_asked, dry=dry_run)
    if session.emits(_answer(session, outcome, dry=dry_run)):
        return
    _print(session, outcome, dry=dry_run)
    if outcome.is_open and not dry_run:
        _decide(session, wanted)


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
        waiting = [one for one in outcome.judged if one.fate in ("new", "supersedes", "review")]
        print_proposals(waiting)
        output.say(f"{outcome.week}: {counted(len(waiting), 'proposed fact')} to decide on, {others}.")
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


def _decide(session: Session, week: Week) -> None:
    """Let a person at the terminal decide at once; else print how to."""
    from memtool.consolidate.review import stored_proposals
    from memtool.consolidate.run import apply_review

    waiting = stored_proposals(session.vault, week)
    if waiting and sys.stdin.isatty() and output.on_terminal():
        _print(session, apply_review(session.work, week, ask_each(waiting)), dry=False)
    elif waiting:
        output.say("Decide on them with `memtool facts review`.")


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
