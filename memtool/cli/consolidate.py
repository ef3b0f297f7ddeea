"""`memtool consolidate`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.text.lines import counted

if TYPE_CHECKING:
    from memtool.consolidate.run import Outcome


@click.command()
@click.option("--week", default="this", show_default=True, metavar="WEEK", help="2026-W47, this or last.")
@click.option("--facts", "only_facts", is_flag=True, help="Only distil facts; leave notes and sections as they are.")
@click.option("--once", is_flag=True, help="End at once if this machine has done that week already: for schedules.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@click.option("--open", "open_report", is_flag=True, help="Show the report of the week.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(
    session: Session, *, week: str, only_facts: bool, once: bool, dry_run: bool, open_report: bool, as_json: bool
) -> None:
    """Turn the week's sessions into facts, tidy the vault, and write a report: in one commit.

    Nothing is deleted: old notes go to the archive, facts are superseded. A second run changes nothing.
    """
    from memtool.consolidate.due import was_run
    from memtool.consolidate.run import Parts, consolidate
    from memtool.consolidate.week import parse_week

    session.vault.check_made()
    wanted = parse_week(week, session.work.now().date())
    if open_report and (dry_run or only_facts):
        raise UsageError("--open shows the report that is there; it goes with --week only")
    if open_report:
        _open(session, str(wanted))
        return
    if once and was_run(session.work, wanted):
        output.say(f"{wanted} was consolidated already.")
        return
    outcome = consolidate(session.work, wanted, Parts(tidy=not only_facts), dry=dry_run)
    if as_json:
        output.emit_json(_answer(session, outcome, dry=dry_run))
    else:
        _print(session, outcome, dry=dry_run)


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
        "problems": outcome.problems,
    }


def _print(session: Session, outcome: Outcome, *, dry: bool) -> None:
    for line in outcome.changes:
        click.echo(output.printable(f"- {line}"))
    fates = Counter(one.fate for one in outcome.judged)
    would = "would be " if dry else ""
    new = counted(fates["new"] + fates["supersedes"], "fact")
    told = f"{outcome.week}: {new} {would}new, {fates['known']} known, {fates['review']} to be decided, "
    output.say(told + f"{fates['rejected']} proposals not kept.")
    waiting = [one for one in outcome.judged if one.fate == "review"]
    for one in waiting:
        output.say(f"To be decided: {one.proposal.text} ({one.reason})")
    output.say(*outcome.problems)
    if not outcome.changes:
        output.say("Nothing is to be changed.")
    if outcome.kept.commit:
        output.say(f"Undo: {outcome.kept.undo(session.vault)}")
    elif outcome.written:
        output.say(outcome.kept.notice)


def _open(session: Session, week: str) -> None:
    from memtool.errors import NoteNotFound
    from memtool.vault.files import read_text

    path = session.vault.path(f"reports/{week}.md")
    if not path.is_file():
        raise NoteNotFound(f"reports/{week}.md")
    text = read_text(path)[0]
    if output.on_terminal():
        from memtool.cli import screen

        screen.show(screen.note(text.split("---\n", 2)[-1]))
    else:
        output.emit_text(text)
