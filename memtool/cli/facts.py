"""`memtool facts`: list, show, add, change and check the facts of the vault."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.memory.fact_book import Deed, FactBook, StoredFact, change_fact, read_facts, rivals_of
from memtool.text.lines import counted
from memtool.vault.authors import AUTHORS, IMPORTED
from memtool.vault.fact_rules import STATUSES
from memtool.vault.facts import archive, change, fields_of, restore
from memtool.vault.kinds import CATEGORIES
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.consolidate.proposals import Judged
    from memtool.consolidate.review import Choice

F = TypeVar("F", bound=Callable[..., Any])

_LISTED = 50  # facts on a page
_GLOBAL = "global"  # what `--project` calls the facts of no project


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """See and steer the facts: single statements with their evidence and their history.

    A fact is superseded or archived, never overwritten or deleted. Each change is one commit.
    """


def _as_json(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


@command.command("list")
@click.option("--project", metavar="NAME", help="Only those of this project; `global` for those of none.")
@click.option("--category", type=click.Choice(CATEGORIES), help="Only those of this category.")
@click.option("--status", type=click.Choice([*STATUSES, "all"]), default="active", show_default=True)
@click.option("--author", type=click.Choice(AUTHORS), help="Only those by this author.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="How many to show; else 50, and in JSON all.")
@click.option("--page", type=click.IntRange(min=1), default=1, help="The facts after those: 2, 3 and so on.")
@_as_json
@with_vault
def list_facts(
    session: Session,
    *,
    project: str | None,
    category: str | None,
    status: str,
    author: str | None,
    limit: int | None,
    page: int,
    as_json: bool,
) -> None:
    """List the facts, newest first, with what they contradict."""
    book = read_facts(session.vault)
    _check_project(book, project)
    chosen = [
        stored
        for stored in book
        if (project is None or (stored.project or _GLOBAL) == project)
        and category in (None, stored.fact.category)
        and status in ("all", stored.fact.status)
        and author in (None, stored.fact.author or IMPORTED)
    ]
    chosen.sort(key=lambda stored: stored.fact.timestamp, reverse=True)
    most = limit or (len(chosen) if as_json else _LISTED) or 1
    shown = chosen[most * (page - 1) : most * page]
    files = {stored.ref for stored in shown}
    rivals = rivals_of([stored for stored in chosen if stored.ref in files])
    if as_json:
        facts = [_json(stored, rivals) for stored in shown]
        output.emit_json({"facts": facts, "total": len(chosen), "problems": [*book.broken.values()]})
        return
    _print_list(shown, rivals)
    output.say(*book.broken.values())
    if not shown:
        output.say("There are no such facts.")
    if most * page < len(chosen):
        output.say(f"page {page} of {-(-len(chosen) // most)}; `--page {page + 1}` shows the next")


@command.command()
@click.argument("fact_id", metavar="ID")
@click.option("--history", "with_history", is_flag=True, help="Also what it superseded, and what superseded it.")
@_as_json
@with_vault
def show(session: Session, fact_id: str, *, with_history: bool, as_json: bool) -> None:
    """Show one fact with all that is known of it."""
    book = read_facts(session.vault)
    stored = book.get(fact_id)
    chain = book.history(stored) if with_history else [stored]
    rivals = rivals_of(list(book))
    if as_json:
        output.emit_json({"facts": [_json(each, rivals) for each in chain]})
        return
    for number, each in enumerate(chain):
        if number:
            click.echo("↓ superseded by")
        _print_fact(each, rivals)


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="TEXT [OPTION]...")
@with_vault
def add(session: Session, words: tuple[str, ...]) -> None:
    """Write down a fact.

    It is the same as `memtool remember TEXT`, with its options.
    """
    _remember(session, words)


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("fact_id", metavar="ID")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="TEXT [OPTION]...")
@with_vault
def supersede(session: Session, fact_id: str, words: tuple[str, ...]) -> None:
    """Put the new fact TEXT in the place of another.

    It is the same as `memtool remember TEXT --supersedes ID`.
    """
    read_facts(session.vault).get(fact_id)  # a mistyped id is named before anything is looked for
    _remember(session, (*words, "--supersedes", fact_id))


@command.command()
@click.argument("fact_id", metavar="ID")
@click.option("--category", type=click.Choice(CATEGORIES), help="What sort of thing it is.")
@click.option("--tag", "tags", multiple=True, help="The words to find it by, in place of those it has. Repeatable.")
@click.option("--domain", metavar="NAME", help="The field that it belongs to, such as auth.")
@click.option("--expires", metavar="DATE", help="The last day on which it holds; empty for none.")
@click.option("--evidence", metavar="TEXT", help="Why it is believed.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, from 0 to 1.")
@click.option("--reviewed", is_flag=True, help="You looked at it, and it still holds.")
@_as_json
@with_vault
def update(
    session: Session, fact_id: str, *, tags: tuple[str, ...], expires: str | None, reviewed: bool, as_json: bool,
    **given: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Change what is known about a fact. What it says is changed by `memtool facts supersede`."""
    from memtool.memory.fact_book import checked_values

    work = session.work
    values = {name: value for name, value in given.items() if value is not None}
    values |= {"tags": tags} if tags else {}
    values |= {"expires": expires} if expires is not None else {}
    if not values and not reviewed:
        raise UsageError("nothing is to be changed", hint="See `memtool facts update --help`.")
    values = checked_values(work, fact_id, values, reviewed=reviewed)
    _change(session, fact_id, "update", lambda facts: change(facts, fact_id, **values), as_json=as_json)


@command.command("archive")
@click.argument("fact_ids", metavar="ID...", nargs=-1, required=True)
@_as_json
@with_vault
def archive_facts(session: Session, fact_ids: tuple[str, ...], *, as_json: bool) -> None:
    """Let facts come up no more.

    `memtool facts restore` brings them back.
    """
    for fact_id in fact_ids:
        _change(session, fact_id, "archive", lambda facts, one=fact_id: archive(facts, one), as_json=as_json)


@command.command("restore")
@click.argument("fact_ids", metavar="ID...", nargs=-1, required=True)
@_as_json
@with_vault
def restore_facts(session: Session, fact_ids: tuple[str, ...], *, as_json: bool) -> None:
    """Bring archived facts back."""
    for fact_id in fact_ids:
        _change(session, fact_id, "restore", lambda facts, one=fact_id: restore(facts, one), as_json=as_json)


@command.command()
@_as_json
@with_vault
@click.pass_context
def verify(ctx: click.Context, session: Session, *, as_json: bool) -> None:
    """Check all facts.

    Their format, ids, chains, contradictions, evidence and anchors are checked. Exit code 1: a rule is broken.
    """
    from memtool.memory.verification import FAILING, verify as find

    book = read_facts(session.vault)
    found = find(session.work, book)
    failed = [finding for finding in found if finding.kind in FAILING]
    count = sum(1 for _ in book)
    if as_json:
        answer = {"ok": not failed, "facts": count, "findings": [finding._asdict() for finding in found]}
        output.emit_json(answer)
    else:
        for finding in found:
            place = f"{finding.ref}:{finding.line}" if finding.line else finding.ref
            named = f"{finding.id}  " if finding.id else ""
            click.echo(output.printable(f"{finding.kind}  {named}{place}"))
            click.echo(output.printable(f"  {finding.sentence}"))
        rest = f"{counted(len(failed), 'problem')}, {counted(len(found) - len(failed), 'thing')} to look at."
        output.say(f"{counted(count, 'fact')}: " + (rest if found else "all is well."))
    ctx.exit(1 if failed else 0)


@command.command()
@click.option("--keep", multiple=True, metavar="ID", help="Accept this proposal, or `all`. Repeatable.")
@click.option("--drop", multiple=True, metavar="ID", help="Refuse this proposal, or `all`. Repeatable.")
@_as_json
@with_vault
def review(session: Session, *, keep: tuple[str, ...], drop: tuple[str, ...], as_json: bool) -> None:
    """Decide on the facts that the week proposes.

    Each is kept, dropped or changed. On a terminal you are asked; else they are listed. What you drop is not proposed
    again.
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
        raise UsageError(f"no proposal '{min(unknown)}' waits", hint="`memtool facts review` lists them.")
    is_asked = not (keep or drop or as_json) and sys.stdin.isatty() and output.on_terminal()
    for week, waiting in weeks.items():
        choices = ask_each(waiting) if is_asked else {one.proposal.id: c for one in waiting if (c := chosen(one))}
        if choices:
            outcome = apply_review(session.work, week, choices)
            click.echo("".join(f"- {output.printable(line)}\n" for line in outcome.changes), nl=False)
            if outcome.kept.commit:
                output.say(f"Undo: {outcome.kept.undo(session.vault)}")
    left = [one for week in weeks for one in stored_proposals(session.vault, week)]
    if as_json:
        output.emit_json({"proposals": [{**one.proposal._asdict(), "id": one.proposal.id} for one in left]})
    elif not is_asked:
        print_proposals(left)
        output.say("`--keep ID|all` and `--drop ID|all` decide." if left else "No proposed fact waits.")


def _remember(session: Session, words: Sequence[str]) -> None:
    """Run `memtool remember` with *words*, in this vault."""
    from memtool.cli.remember import command as remember

    remember.main(list(words), prog_name="memtool remember", standalone_mode=False, obj=session)


def _change(session: Session, fact_id: str, deed: str, new: Callable[..., Any], *, as_json: bool) -> None:
    from memtool.index.engine import catch_up

    work: Workspace = session.work
    done: Deed = change_fact(work, fact_id, deed, new)
    catch_up(work)
    undo = done.kept.undo(session.vault)
    if as_json:
        output.emit_json({**_json(done.stored, {}), "commit": done.kept.commit, "undo": undo})
        return
    click.echo(
        output.printable(f"{fact_id}  {done.stored.ref}:{done.stored.place.start_line}  {done.stored.fact.status}")
    )
    output.say(*filter(None, [done.kept.notice, f"Undo: {undo}" if undo else ""]))


def _check_project(book: FactBook, named: str | None) -> None:
    known = sorted({stored.project or _GLOBAL for stored in book})
    if named is not None and named not in known:
        hint = f"There are facts of {', '.join(known)}." if known else "There are no facts yet."
        raise UsageError(f"there are no facts of a project '{named}'", hint=hint)


def _json(stored: StoredFact, rivals: dict[str, list[str]]) -> dict[str, Any]:
    place = {"path": stored.ref, "start_line": stored.place.start_line, "end_line": stored.place.end_line}
    return {**fields_of(stored.fact), **place, "project": stored.project, "contradicts": rivals.get(stored.fact.id, [])}


def _print_list(chosen: Sequence[StoredFact], rivals: dict[str, list[str]]) -> None:
    if output.on_terminal():
        from memtool.cli import screen

        columns = ("day", "project", "category", "by", "fact")
        rows = [
            (
                stored.fact.timestamp[:10],
                stored.project,
                stored.fact.category,
                stored.fact.author,
                screen.lines(stored.fact.fact, _marks(stored, rivals)),
            )
            for stored in chosen
        ]
        screen.show(screen.table(columns, rows))
        return
    for stored in chosen:
        fact = stored.fact
        known = (fact.id, fact.timestamp[:10], fact.status, stored.project or _GLOBAL, fact.category, fact.author)
        click.echo(output.printable("  ".join(filter(None, [*known, fact.fact, _marks(stored, rivals, named=False)]))))


def _marks(stored: StoredFact, rivals: dict[str, list[str]], *, named: bool = True) -> str:
    """Return the marks of the fact for its reader: its id, what it contradicts, why to look at it again."""
    fact = stored.fact
    told = [fact.id if named else "", fact.status if named and fact.status != "active" else ""]
    told += [f"contradicts {', '.join(rivals[fact.id])}" if fact.id in rivals else ""]
    told += [f"look at it again: {fact.review}" if fact.review else ""]
    return "; ".join(filter(None, told)) if named else " ".join(f"[{one}]" for one in filter(None, told))


def _print_fact(stored: StoredFact, rivals: dict[str, list[str]]) -> None:
    fields = fields_of(stored.fact)
    click.echo(output.printable(f"{stored.fact.id}  {stored.ref}:{stored.place.start_line}"))
    click.echo(output.printable(f"  {stored.fact.fact}"))
    for name in fields:
        if name not in ("id", "fact") and fields[name] not in (None, "", []):
            value = fields[name] if isinstance(fields[name], str) else output.as_json(fields[name])
            click.echo(output.printable(f"  {name}: {value}"))
    if stored.fact.id in rivals:
        click.echo(output.printable(f"  contradicts: {', '.join(rivals[stored.fact.id])}"))
