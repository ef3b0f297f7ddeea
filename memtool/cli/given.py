"""`memtool given`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.clients import CLAUDE_CODE, title_of
from memtool.errors import SessionNotFound, UsageError
from memtool.memory.given_now import told_now
from memtool.recall.given import START, Giving, read_givings, session_named, sessions_given
from memtool.recall.ledger import ledger_folder
from memtool.recall.uses import fates_of_session, sums_of
from memtool.text.lines import counted
from memtool.vault.authors import IMPORTED
from memtool.vault.reading import parse_ref


@click.command()
@click.argument("session_id", metavar="[SESSION]", required=False)
@click.option("--last", is_flag=True, help="The last session anywhere, not only that of this folder's project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, session_id: str | None, *, last: bool, as_json: bool) -> None:
    """Show what a session was given, why, and what was not.

    SESSION is the id of a session, or its beginning; without it, the last one of this folder's project. Each line
    stands behind the short id with which `memtool forget` takes it back. Once the session has ended, it says how many
    lines arrived and which the agent used, by the client's transcript. What was forgotten since is not shown, and of a
    prompt only words that the vault knows.
    """
    if session_id and last:
        raise UsageError("--last and SESSION exclude each other")
    folder = ledger_folder(session.work)
    name, givings = _wanted(session, folder, session_id, is_last=last)
    told = list(told_now(session.work, name, givings))
    sums = sums_of(fates_of_session(session.work.index_folder, name).values())
    if as_json:
        client = givings[-1].client or CLAUDE_CODE
        output.emit_json({"session": name, "client": client, "sums": sums and sums._asdict(), "given": told})
        return
    title = f"{name} ({title_of(givings[-1].client)})" if givings[-1].client else name
    title = ": ".join(filter(None, [title, sums and str(sums)]))
    if output.on_terminal():
        _show(title, told)
    else:
        click.echo(f"Session {output.printable(title)}")
        for one in told:
            _print(one)


def _wanted(session: Session, folder: Path, named: str | None, *, is_last: bool) -> tuple[str, list[Giving]]:
    sessions = sessions_given(folder)
    if named:
        begun = parse_ref(named).name.rpartition("/")[2].removesuffix(".md").rstrip("….")  # as `search` shows it
        name = session_named(begun, sessions)
        return name, read_givings(folder, name)
    project = session.work.area().name
    for name in sessions:
        givings = read_givings(folder, name)
        if givings and (is_last or givings[-1].project == project):
            return name, givings
    hint = "Hooks write it down as sessions go on; `memtool doctor` says whether they work."
    if is_last:
        raise SessionNotFound("no session was given anything yet", hint=hint)
    wanted = f"no session of '{project}'" if project else "no session without a project"
    raise SessionNotFound(f"{wanted} was given anything yet", hint=f"{SessionNotFound.hint} {hint}")


def _show(name: str, told: list[dict[str, Any]]) -> None:
    """Draw a tree of the session: each time it was given something, with its lines; at the start, below their notes."""
    from memtool.cli import screen

    tree = screen.tree(screen.text(f"Session {name}", "bold"))
    for one in told:
        branch = tree.add(screen.text(_head(one), "cyan"))
        for path, lines in groupby(one["lines"], key=lambda line: line["path"]):
            place = branch.add(screen.text(path, "dim")) if one["event"] == START else branch
            for line in lines:
                place.add(screen.lines(_line(line, f"[{line['id']}]"), _why(line)))
        for line in one["team"]:
            branch.add(screen.lines(*_of_team(line)))
        if remark := _remark(one):
            branch.add(screen.text(remark, "dim"))
        for line in one["next"]:
            branch.add(screen.lines(_line(line, "not given:"), _why(line)))
    screen.show(tree)


def _print(told: dict[str, Any]) -> None:
    room = output.width()
    click.echo()
    click.echo(output.shortened(output.printable(_head(told)), room))
    for path, lines in groupby(told["lines"], key=lambda line: line["path"]):
        if told["event"] == START:
            click.echo(f"  {output.printable(path)}")
        for line in lines:
            _print_line(line, f"[{line['id']}]", room)
    for line in told["team"]:
        said, where = _of_team(line)
        click.echo(output.shortened(output.printable(f"  {said}"), room))
        click.echo(output.printable(f"      {where}"))
    if remark := _remark(told):
        click.echo(f"  {remark}")
    for line in told["next"]:
        _print_line(line, "not given:", room)


def _print_line(line: dict[str, Any], lead: str, room: int) -> None:
    by = _by(line)
    said = _line(line, lead).removesuffix(by)
    click.echo(output.shortened(output.printable(f"  {said}"), room - len(by)) + by)
    if why := _why(line):
        click.echo(output.printable(f"      {why}"))


def _head(told: dict[str, Any]) -> str:
    at = told["at"][:16].replace("T", " ")
    return f"{at}  " + ("at the start" if told["event"] == START else f"prompt {told['turn']}: {told['prompt'] or '…'}")


def _remark(told: dict[str, Any]) -> str:
    if told["gone"]:
        return f"{counted(told['gone'], 'line')} more, gone from the vault since"
    return "" if told["lines"] or told["team"] else "nothing"


def _of_team(line: dict[str, Any]) -> tuple[str, str]:
    """Return a line of the team's as it was given, and where it stands."""
    likely = f"{line['relevance']:.0%} likely – " if "relevance" in line else ""
    return f"[team] {line['text']}", f"{likely}{line['place']}"


def _line(line: dict[str, Any], lead: str) -> str:
    return f"{lead} {' '.join(line['text'].split())}{_by(line)}"


def _fate(line: dict[str, Any]) -> str:
    if line.get("arrived") == 0:
        return "did not arrive"
    used = line.get("used")
    return "" if used is None else "used" if used else "not used"


def _by(line: dict[str, Any]) -> str:
    return f" (by {line['author']})" if line["author"] not in ("", IMPORTED) else ""


def _why(line: dict[str, Any]) -> str:
    """Return why *line* was given, or was not, what came of it, and its place; empty if that goes without saying."""
    why = "; ".join(filter(None, (line.get("because"), line.get("why"), _fate(line))))
    return (
        f"{why} – {line['path']}:{line['line']}" if why and line["line"] else f"{why} – {line['path']}" if why else ""
    )
