"""`memtool context`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import click

from memtool.beside import Team, team_beside
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.recall.start.session_start import ContextBlock, session_context
from memtool.text.lines import tokens_in
from memtool.vault.layout import projects_of
from memtool.workspace import Workspace


@click.command()
@click.option("--project", metavar="NAME", help="The project; that of the working folder, if none is named.")
@click.option("--budget", type=click.IntRange(min=0), metavar="TOKENS", help="How much it may be, in tokens.")
@click.option("--at", metavar="DATE", help="As the vault stood then: 2026-02-10, 2026-02-10T14:30, 7d.")
@click.option("--all", "whole", is_flag=True, help="All of it, whatever the budget; the newest sessions as set.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "ansi", "json"]),
    help="As the agent gets it, with colours, or as JSON. On a terminal: with colours.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@with_vault
def command(
    session: Session,
    *,
    project: str | None,
    budget: int | None,
    at: str | None,
    whole: bool,
    form: str | None,
    as_json: bool,
) -> None:
    """Show what an agent is given when a session begins."""
    if as_json and form not in (None, "json"):
        raise UsageError(f"--json and --format {form} contradict each other")
    if whole and budget is not None:
        raise UsageError("--all and --budget exclude each other")
    session.overrides["recall.session_tokens"] = budget
    session.go_back(at)
    form = "json" if as_json else form or ("ansi" if sys.stdout and sys.stdout.isatty() else "markdown")
    name = _project(session, project)
    most = session.settings.recall.session_tokens
    team = team_beside(session.work) if at is None else None
    make = partial(session_context, project=name, whole=whole)
    block = _with_team(session, team, name, make, whole=whole) if team else make(session.work)
    if form == "json":
        answer = {"project": name, "budget": most, "tokens": block.tokens, "refs": block.refs, "text": block.text}
        output.emit_json(answer)
    elif block.text:
        click.echo(_coloured(block.text) if form == "ansi" else block.text, color=_wants_colour(session, form))
    else:
        output.say(
            "There is nothing to give yet." if most or whole else "The budget is 0, so an agent is given nothing."
        )


def _with_team(
    session: Session, team: Team, project: str, make: Callable[[Workspace], ContextBlock], *, whole: bool
) -> ContextBlock:
    """Return the context with what the team's vaults have of the project; without it, if the service is away."""
    shared = team.shared_start(session.work, project, make, whole=whole, waits=True)
    output.say(*filter(None, [shared.notice]))
    refs = (*shared.own.refs, *dict.fromkeys(line.ref for line in shared.lines))
    return shared.own._replace(text=shared.text, refs=refs, tokens=tokens_in(shared.text))


def _project(session: Session, named: str | None) -> str:
    if named is None:
        return session.work.area().name
    known = projects_of(session.vault)
    if named not in known:
        hint = f"It knows {', '.join(known)}." if known else "It knows none yet."
        raise UsageError(f"there is no project '{named}' in the vault", hint=hint)
    return named


def _wants_colour(session: Session, form: str) -> bool | None:
    return True if form == "ansi" and not session.environ.get("NO_COLOR") else None


def _coloured(text: str) -> str:
    return "\n".join(map(_coloured_line, text.split("\n")))


def _coloured_line(line: str) -> str:
    if line.startswith("## "):
        return click.style(line, bold=True, fg="cyan")
    if line.startswith("<"):
        return click.style(line, dim=True)
    return line
