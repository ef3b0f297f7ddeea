"""`memtool given`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import NoteNotFound, UsageError
from memtool.index.engine import use_index
from memtool.recall.given import START, GivenLine, Giving, read_givings, session_named, sessions_given
from memtool.recall.given_now import Said, evidence, reason, said_now, shared_words, terms_of
from memtool.recall.ledger import ledger_folder
from memtool.vault.authors import IMPORTED
from memtool.vault.numbers import counted


@click.command()
@click.argument("session_id", metavar="[SESSION]", required=False)
@click.option("--last", is_flag=True, help="The last session anywhere, not only that of this folder's project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, session_id: str | None, *, last: bool, as_json: bool) -> None:
    """Show what a session was given, why, and what was not.

    SESSION is the id of a session, or its beginning; without it, the last one of this folder's project. Each line
    stands behind the short id with which `memtool forget` takes it back. What was forgotten since is not shown, and of
    a prompt only words that the vault knows.
    """
    if session_id and last:
        raise UsageError("--last and SESSION exclude each other")
    folder = ledger_folder(session.work)
    name, givings = _wanted(session, folder, session_id, is_last=last)
    told = list(_told(session, givings))
    if as_json:
        output.emit_json({"session": name, "given": told})
    else:
        click.echo(click.style(f"Session {output.printable(name)}", bold=True))
        for one in told:
            _print(one)


def _wanted(session: Session, folder: Path, named: str | None, *, is_last: bool) -> tuple[str, list[Giving]]:
    sessions = sessions_given(folder)
    if named:
        name = session_named(named, sessions)
        return name, read_givings(folder, name)
    project = session.work.area().name
    for name in sessions:
        givings = read_givings(folder, name)
        if givings and (is_last or givings[-1].project == project):
            return name, givings
    hint = "Hooks write it down as sessions go on; `memtool doctor` says whether they work."
    wanted = "any session" if is_last else f"a session of '{project}'" if project else "a session without a project"
    error = NoteNotFound(wanted)
    error.hint = hint if is_last else f"Try `memtool given --last`. {hint}"
    raise error


def _told(session: Session, givings: list[Giving]) -> Iterator[dict[str, Any]]:
    """Give the fields of each record, with what its lines say now."""
    projects, today = session.work.client_projects, session.work.now().date()
    frequency = _frequency(session, terms_of(giving.prompt for giving in givings))

    def look(line: GivenLine) -> Said | None:
        return said_now(session.vault, line, projects, today)

    for giving in givings:
        lines = [_fields(line, giving, look, frequency) for line in giving.lines]
        after = [_fields(line, giving, look, frequency) for line in giving.next]
        yield {
            "at": giving.at, "event": giving.event, "project": giving.project, "turn": giving.turn,
            "prompt": giving.prompt, "lines": [line for line in lines if line],
            "gone": sum(line is None for line in lines), "next": [line for line in after if line],
        }  # fmt: skip


def _frequency(session: Session, terms: list[str]) -> dict[str, float]:
    """Return the share of the chunks of the vault that hold each of *terms*."""
    marks = ", ".join("?" * len(terms))
    query = f"SELECT term, doc FROM vocabulary WHERE term IN ({marks})"  # noqa: S608  (marks only)

    def look(index: Any) -> dict[str, float]:  # noqa: ANN401  (an `Index`)
        count = index.db.execute("SELECT count(*) FROM chunk").fetchone()[0] or 1
        return {term: number / count for term, number in index.db.execute(query, terms)}

    return use_index(session.place(), look) if terms else {}


def _fields(
    line: GivenLine, giving: Giving, look: Callable[[GivenLine], Said | None], frequency: dict[str, float]
) -> dict[str, Any] | None:
    """Return what is told of *line*; None if it does not stand any more."""
    said = look(line)
    if said is None:
        return None
    fields = {"id": line.id, "text": said.text, "author": said.author, "path": line.ref, "line": line.line}
    if line.fact_id:
        fields["fact"] = line.fact_id
    if giving.event == START:
        return fields
    shared = shared_words(giving.prompt, said, frequency)
    fields |= {"relevance": line.relevance, "shared": list(shared), "evidence": dict(line.evidence)}
    fields["why"] = evidence(line, shared)
    return fields | ({"left_out": line.left_out, "because": reason(line)} if line.left_out else {})


def _print(told: dict[str, Any]) -> None:
    room = output.width()
    at = told["at"][:16].replace("T", " ")
    head = "at the start" if told["event"] == START else f"prompt {told['turn']}: {told['prompt'] or '…'}"
    click.echo()
    click.echo(click.style(output.shortened(output.printable(f"{at}  {head}"), room), fg="cyan"))
    for path, lines in groupby(told["lines"], key=lambda line: line["path"]):
        if told["event"] == START:
            click.echo(click.style(f"  {output.printable(path)}", dim=True))
        for line in lines:
            _print_line(line, f"[{line['id']}]", room)
    if told["gone"]:
        click.echo(click.style(f"  {counted(told['gone'], 'line')} more, gone from the vault since", dim=True))
    if not told["lines"] and not told["gone"]:
        click.echo("  nothing")
    for line in told["next"]:
        _print_line(line, "not given:", room)


def _print_line(line: dict[str, Any], lead: str, room: int) -> None:
    by = f" (by {line['author']})" if line["author"] not in ("", IMPORTED) else ""
    click.echo(output.shortened(output.printable(f"  {lead} {' '.join(line['text'].split())}"), room - len(by)) + by)
    why = "; ".join(filter(None, (line.get("because"), line.get("why"))))
    if not why:
        return
    where = f"{line['path']}:{line['line']}" if line["line"] else line["path"]
    click.echo(click.style(output.printable(f"      {why} – {where}"), dim=True))
