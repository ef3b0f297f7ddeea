"""`memtool context` and `memtool given`: the context of a new session, and the memories that a session received."""

from __future__ import annotations

import sys
from functools import partial
from itertools import groupby
from typing import Any

import click

from memtool.beside import team_beside
from memtool.cli import completion, output
from memtool.cli.options import AT, project_option, with_json
from memtool.cli.output import Branch, outline
from memtool.cli.session import Session
from memtool.clients import CLAUDE_CODE, title_of
from memtool.errors import SessionNotFound, UsageError
from memtool.memory.given_now import givings_now
from memtool.recall.given import START, Giving, read_givings, session_named, sessions_given
from memtool.recall.ledger import ledger_folder
from memtool.recall.uses import fates_of_session, sums_of
from memtool.text.lines import counted, tokens_in
from memtool.vault.layout import projects_of
from memtool.vault.memory import IMPORTED
from memtool.vault.reading import parse_ref


@click.command()
@project_option("The project; by default, that of the working folder.")
@click.option("--budget", type=click.IntRange(min=0), metavar="TOKENS", help="How long it may be, in tokens.")
@AT
@click.option("--all", "whole", is_flag=True, help="Show everything, whatever the budget.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "ansi", "json"]),
    help="Markdown as the agent gets it, the same with colours, or JSON. On a terminal: with colours.",
)
@with_json
def command(
    session: Session, *, project: str | None, budget: int | None, at: str | None, whole: bool, form: str | None
) -> None:
    """Show what an agent receives when a session begins."""
    if session.as_json and form not in (None, "json"):
        raise UsageError(f"--json and --format {form} exclude each other")
    if whole and budget is not None:
        raise UsageError("--all and --budget exclude each other")
    session.overrides["recall.session_tokens"] = budget
    session.go_back(at)
    session.as_json |= form == "json"
    known = projects_of(session.vault)
    if project is not None and project not in known:
        hint = f"It knows {', '.join(known)}." if known else "It knows none yet."
        raise UsageError(f"there is no project '{project}' in the vault", hint=hint)
    name = session.work.area().name if project is None else project
    most = session.settings.recall.session_tokens
    text, refs, tokens = _context(session, name, whole=whole, is_past=at is not None)
    if session.emits({"project": name, "budget": most, "tokens": tokens, "refs": refs, "text": text}):
        return
    if not text:
        output.say("There is nothing to show yet." if most or whole else "The budget is 0, so an agent gets nothing.")
    elif form == "ansi" or (not form and sys.stdout and sys.stdout.isatty()):
        styles: dict[str, dict[str, Any]] = {"#": {"bold": True, "fg": "cyan"}, "<": {"dim": True}}
        lines = [click.style(line, **styles.get(line[:1], {})) for line in text.split("\n")]
        click.echo("\n".join(lines), color=None if session.environ.get("NO_COLOR") else True)
    else:
        click.echo(text)


def _context(session: Session, project: str, *, whole: bool, is_past: bool) -> tuple[str, tuple[str, ...], int]:
    """Return the context of *project*, with that of the user's team; the notes that it is made of; and its tokens."""
    from memtool.recall.start.session_start import session_context

    make = partial(session_context, project=project, whole=whole)
    team = None if is_past else team_beside(session.work)
    if team is None:
        block = make(session.work)
        return block.text, tuple(block.refs), block.tokens
    shared = team.shared_start(session.work, project, make, whole=whole, waits=True)
    output.say(shared.notice)
    return shared.text, (*shared.own.refs, *dict.fromkeys(line.ref for line in shared.lines)), tokens_in(shared.text)


def _coloured(line: str) -> str:
    if line.startswith("## "):
        return click.style(line, bold=True, fg="cyan")
    return click.style(line, dim=True) if line.startswith("<") else line


@click.command()
@click.argument("session_id", metavar="[SESSION]", required=False, shell_complete=completion.sessions)
@click.option("--last", is_flag=True, help="The last session of any project.")
@with_json
def given(session: Session, session_id: str | None, *, last: bool) -> None:
    """Show which memories a session received, why, and which it did not.

    SESSION is the id of a session, or its beginning; by default, the last session of this folder's project. Each line
    begins with the short id by which `memtool forget` removes it. Once the session has ended, you see how many lines
    arrived and which ones the agent used, according to the client's transcript. What was forgotten since is not shown,
    and a prompt only as far as the vault knows its words.
    """
    if session_id and last:
        raise UsageError("--last and SESSION exclude each other")
    name, givings = _session_given(session, session_id, is_last=last)
    records = list(givings_now(session.work, name, givings))
    sums = sums_of(fates_of_session(session.work.index_folder, name).values())
    client = givings[-1].client
    answer = {"session": name, "client": client or CLAUDE_CODE, "sums": sums and sums._asdict(), "given": records}
    if session.emits(answer):
        return
    title = f"Session {name} ({title_of(client)})" if client else f"Session {name}"
    outline(": ".join(filter(None, [title, sums and str(sums)])), map(_branch, records))


def _session_given(session: Session, ref: str | None, *, is_last: bool) -> tuple[str, list[Giving]]:
    folder = ledger_folder(session.work)
    sessions = sessions_given(folder)
    if ref:
        begun = parse_ref(ref).name.rpartition("/")[2].removesuffix(".md").rstrip("….")  # as `search` shows it
        name = session_named(begun, sessions)
        return name, read_givings(folder, name)
    project = session.work.area().name
    for name in sessions:
        givings = read_givings(folder, name)
        if givings and (is_last or givings[-1].project == project):
            return name, givings
    hint = "Hooks record it as sessions go on; `memtool doctor` checks them."
    if is_last:
        raise SessionNotFound("no session received a memory yet", hint=hint)
    which = f"no session of '{project}'" if project else "no session without a project"
    raise SessionNotFound(f"{which} received a memory yet", hint=f"{SessionNotFound.hint} {hint}")


def _branch(record: dict[str, Any]) -> Branch:
    """Return a record of the session, with its lines; at the start, they are below their notes."""
    at = record["at"][:16].replace("T", " ")
    head = "at the start" if record["event"] == START else f"prompt {record['turn']}: {record['prompt'] or '…'}"
    below: list[Branch] = []
    for path, lines in groupby(record["lines"], key=lambda line: line["path"]):
        branches = [_line(line, f"[{line['id']}]") for line in lines]
        below += [Branch(path, branches)] if record["event"] == START else branches
    for line in record["team"]:
        likely = f"{line['relevance']:.0%} likely – " if "relevance" in line else ""
        below.append(Branch(f"[team] {line['text']}", [Branch(f"{likely}{line['place']}")]))
    if record["gone"]:
        below.append(Branch(f"{counted(record['gone'], 'line')} more, removed from the vault since"))
    elif not (record["lines"] or record["team"]):
        below.append(Branch("nothing"))
    return Branch(f"{at}  {head}", [*below, *(_line(line, "not given:") for line in record["next"])])


def _line(line: dict[str, Any], lead: str) -> Branch:
    """Return *line*, and below it why it was given or was not, its use, and its place."""
    used = line.get("used")
    fate = "did not arrive" if line.get("arrived") == 0 else "" if used is None else "used" if used else "not used"
    by = f" (by {line['author']})" if line["author"] not in ("", IMPORTED) else ""
    why = "; ".join(filter(None, (line.get("because"), line.get("why"), fate)))
    place = f"{line['path']}:{line['line']}" if line["line"] else line["path"]
    text = f"{lead} {' '.join(line['text'].split())}{by}"
    return Branch(text, [Branch(f"{why} – {place}")] if why else [])
