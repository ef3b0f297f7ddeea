"""`memtool facts`: list, show, add, change and check the facts of the vault."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memtool.cli import output
from memtool.cli.options import FACT_ID, FACT_IDS, project_option, with_json, with_vault
from memtool.cli.output import table
from memtool.cli.session import Session
from memtool.errors import UsageError
from memtool.memory.fact_book import StoredFact, read_facts, rivals_of
from memtool.text.lines import counted
from memtool.vault.facts import STATUSES, archive, change, fields_of, restore
from memtool.vault.memory import AUTHORS, CATEGORIES, IMPORTED

if TYPE_CHECKING:
    from memtool.consolidate.proposals import Judged
    from memtool.consolidate.review import Choice

_GLOBAL = "global"  # the name, for `--project`, of the facts of no project


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List, show and change facts: single statements with their evidence and their history.

    A fact is superseded or archived, never overwritten or deleted. Each change is one commit.
    """


@command.command("list")
@project_option("Only facts of this project; `global` for those of no project.")
@click.option("--category", type=click.Choice(CATEGORIES), help="Only facts of this category.")
@click.option("--status", type=click.Choice([*STATUSES, "all"]), default="active", show_default=True)
@click.option("--author", type=click.Choice(AUTHORS), help="Only facts by this author.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="How many to show; by default 50, in JSON all.")
@click.option("--page", type=click.IntRange(min=1), default=1, help="Show a later page: 2, 3 and so on.")
@with_json
def list_facts(
    session: Session,
    *,
    project: str | None,
    category: str | None,
    status: str,
    author: str | None,
    limit: int | None,
    page: int,
) -> None:
    """List facts, newest first, with the facts that they contradict."""
    book = read_facts(session.vault)
    known = sorted({stored.project or _GLOBAL for stored in book})
    if project is not None and project not in known:
        hint = f"There are facts of {', '.join(known)}." if known else "There are no facts yet."
        raise UsageError(f"there are no facts of a project '{project}'", hint=hint)
    chosen = [
        stored
        for stored in book
        if (project is None or (stored.project or _GLOBAL) == project)
        and category in (None, stored.fact.category)
        and status in ("all", stored.fact.status)
        and author in (None, stored.fact.author or IMPORTED)
    ]
    chosen.sort(key=lambda stored: stored.fact.timestamp, reverse=True)
    most = limit or (len(chosen) if session.as_json else 50) or 1
    shown = chosen[most * (page - 1) : most * page]
    files = {stored.ref for stored in shown}
    rivals = rivals_of([stored for stored in chosen if stored.ref in files])
    problems = [*book.broken.values()]
    listed = [_fields(stored, rivals) for stored in shown]
    if session.emits({"facts": listed, "total": len(chosen), "problems": problems}):
        return
    _print_list(shown, rivals)
    output.say(*problems, "" if shown else "There are no such facts.")
    output.say_page(page, -(-len(chosen) // most))


@command.command()
@FACT_ID
@click.option(
    "--history", "with_history", is_flag=True, help="Include the facts that it superseded and its successors."
)
@with_json
def show(session: Session, fact_id: str, *, with_history: bool) -> None:
    """Show one fact with all its fields."""
    book = read_facts(session.vault)
    stored = book.get(fact_id)
    chain = book.history(stored) if with_history else [stored]
    rivals = rivals_of(list(book))
    if session.emits({"facts": [_fields(each, rivals) for each in chain]}):
        return
    for number, each in enumerate(chain):
        click.echo("↓ superseded by\n" if number else "", nl=False)
        lines = [f"{each.fact.id}  {each.ref}:{each.place.start_line}", f"  {each.fact.fact}"]
        for name, value in fields_of(each.fact).items():
            if name not in ("id", "fact") and value not in (None, "", []):
                lines.append(f"  {name}: {value if isinstance(value, str) else output.as_json(value)}")
        if each.fact.id in rivals:
            lines.append(f"  contradicts: {', '.join(rivals[each.fact.id])}")
        click.echo("\n".join(map(output.printable, lines)))


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="TEXT [OPTION]...")
@with_vault
def add(session: Session, words: tuple[str, ...]) -> None:
    """Save a fact.

    This is the same as `memtool remember TEXT`, with its options.
    """
    _remember(session, words)


@command.command(context_settings={"ignore_unknown_options": True})
@FACT_ID
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="TEXT [OPTION]...")
@with_vault
def supersede(session: Session, fact_id: str, words: tuple[str, ...]) -> None:
    """Replace a fact by the new fact TEXT.

    This is the same as `memtool remember TEXT --supersedes ID`.
    """
    read_facts(session.vault).get(fact_id)  # a mistyped id is an error before anything is searched
    _remember(session, (*words, "--supersedes", fact_id))


@command.command()
@FACT_ID
@click.option("--category", type=click.Choice(CATEGORIES), help="Its category.")
@click.option("--tag", "tags", multiple=True, help="The tags to find it by; they replace the present ones. Repeatable.")
@click.option("--domain", metavar="NAME", help="Its subject area, such as auth.")
@click.option("--expires", metavar="DATE", help="The last day on which it holds; empty for none.")
@click.option("--evidence", metavar="TEXT", help="Why it is believed.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How certain it is, from 0 to 1.")
@click.option("--reviewed", is_flag=True, help="You checked it, and it still holds.")
@with_json
def update(
    session: Session, fact_id: str, *, tags: tuple[str, ...], expires: str | None, reviewed: bool,
    **others: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Change the fields of a fact. `memtool facts supersede` changes its statement."""
    from memtool.memory.memories import checked_values

    values = {name: value for name, value in others.items() if value is not None}
    values |= {"tags": tags} if tags else {}
    values |= {"expires": expires} if expires is not None else {}
    if not values and not reviewed:
        raise UsageError("there is nothing to change", hint="See `memtool facts update --help`.")
    values = checked_values(session.work, fact_id, values, reviewed=reviewed)
    _change(session, fact_id, "update", lambda facts: change(facts, fact_id, **values))


@command.command("archive")
@FACT_IDS
@with_json
def archive_facts(session: Session, fact_ids: tuple[str, ...]) -> None:
    """Archive facts, so that they are no longer shown.

    `memtool facts restore` brings them back.
    """
    for fact_id in fact_ids:
        _change(session, fact_id, "archive", lambda facts, one=fact_id: archive(facts, one))


@command.command("restore")
@FACT_IDS
@with_json
def restore_facts(session: Session, fact_ids: tuple[str, ...]) -> None:
    """Restore archived facts."""
    for fact_id in fact_ids:
        _change(session, fact_id, "restore", lambda facts, one=fact_id: restore(facts, one))


@command.command()
@with_json
@click.pass_context
def verify(ctx: click.Context, session: Session) -> None:
    """Check all facts.

    The format, ids, chains, contradictions, evidence and anchors are checked. The exit code is 1 if a rule is broken.
    """
    from memtool.memory.fact_book import FAILING, verify as find

    book = read_facts(session.vault)
    found = find(session.work, book)
    failed = [finding for finding in found if finding.kind in FAILING]
    count = sum(1 for _ in book)
    answer = {"ok": not failed, "facts": count, "findings": [finding._asdict() for finding in found]}
    if not session.emits(answer):
        for finding in found:
            place = f"{finding.ref}:{finding.line}" if finding.line else finding.ref
            click.echo(output.printable("  ".join(filter(None, [finding.kind, finding.id, place]))))
            click.echo(output.printable(f"  {finding.sentence}"))
        others = f"{counted(len(failed), 'problem')}, {counted(len(found) - len(failed), 'thing')} to look at."
        output.say(f"{counted(count, 'fact')}: {others if found else 'no problems.'}")
    ctx.exit(1 if failed else 0)


@command.command()
@click.option("--keep", multiple=True, metavar="ID", help="Accept this proposal, or `all`. Repeatable.")
@click.option("--drop", multiple=True, metavar="ID", help="Reject this proposal, or `all`. Repeatable.")
@with_json
def review(session: Session, *, keep: tuple[str, ...], drop: tuple[str, ...]) -> None:
    """Decide on the facts that the weekly run proposes.

    Keep, drop or change each of them. On a terminal you are asked; otherwise they are listed. A dropped fact is not
    proposed again.
    """
    from memtool.cli.consolidate import ask_each, print_proposals
    from memtool.consolidate.review import DROP, KEEP, Choice, stored_proposals, weeks_to_review
    from memtool.consolidate.run import apply_review

    def chosen(judged: Judged) -> Choice | None:
        for name in (judged.proposal.id, "all"):
            if name in drop or name in keep:
                return Choice(DROP if name in drop else KEEP, judged.proposal.text)
        return None

    weeks = {week: stored_proposals(session.vault, week) for week in weeks_to_review(session.vault)}
    known = {one.proposal.id for waiting in weeks.values() for one in waiting} | {"all"}
    if unknown := {*keep, *drop} - known:
        raise UsageError(f"there is no proposal '{min(unknown)}'", hint="`memtool facts review` lists them.")
    is_asked = not (keep or drop or session.as_json) and sys.stdin.isatty() and output.on_terminal()
    for week, waiting in weeks.items():
        choices = ask_each(waiting) if is_asked else {one.proposal.id: c for one in waiting if (c := chosen(one))}
        if choices:
            outcome = apply_review(session.work, week, choices)
            click.echo("".join(f"- {output.printable(line)}\n" for line in outcome.changes), nl=False)
            session.say_kept(outcome.kept._replace(notice=""))
    left = [one for week in weeks for one in stored_proposals(session.vault, week)]
    if session.emits({"proposals": [{**one.proposal._asdict(), "id": one.proposal.id} for one in left]}) or is_asked:
        return
    print_proposals(left)
    output.say("Decide with `--keep ID|all` and `--drop ID|all`." if left else "No proposed fact waits for you.")


def _remember(session: Session, words: Sequence[str]) -> None:
    """Run `memtool remember` with *words*, in this vault."""
    from memtool.cli.remember import command as remember

    remember.main(list(words), prog_name="memtool remember", standalone_mode=False, obj=session)


def _change(session: Session, fact_id: str, action: str, new: Callable[..., Any]) -> None:
    from memtool.index.engine import catch_up
    from memtool.memory.memories import change_fact

    stored, kept = change_fact(session.work, fact_id, action, new)
    catch_up(session.work)
    commit = {"commit": kept.commit, "undo": kept.undo(session.vault)}
    if not session.emits({**_fields(stored, {}), **commit}):
        place = f"{stored.ref}:{stored.place.start_line}"
        click.echo(output.printable(f"{fact_id}  {place}  {stored.fact.status}"))
        session.say_kept(kept)


def _fields(stored: StoredFact, rivals: dict[str, list[str]]) -> dict[str, Any]:
    place = {"path": stored.ref, "start_line": stored.place.start_line, "end_line": stored.place.end_line}
    return {**fields_of(stored.fact), **place, "project": stored.project, "contradicts": rivals.get(stored.fact.id, [])}


def _print_list(shown: Sequence[StoredFact], rivals: dict[str, list[str]]) -> None:
    """Print *shown*: on a terminal the id and the marks of a fact are below it, in a pipe each fact is one line."""
    rows: list[Sequence[str | Sequence[str]]] = []
    for stored in shown:
        fact, day = stored.fact, stored.fact.timestamp[:10]
        marks = [f"contradicts {', '.join(rivals[fact.id])}" if fact.id in rivals else ""]
        marks = [*filter(None, [*marks, f"to review: {fact.review}" if fact.review else ""])]
        if output.on_terminal():
            about = [fact.category, fact.author, "" if fact.status == "active" else fact.status, *marks]
            rows.append((day, stored.project, (fact.fact, fact.id, "; ".join(filter(None, about)))))
        else:
            known = (fact.id, day, fact.status, stored.project or _GLOBAL, fact.category, fact.author)
            rows.append((*known, "  ".join([fact.fact, *(f"[{mark}]" for mark in marks)])))
    table(("Day", "Project", "Fact"), rows)
