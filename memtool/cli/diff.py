"""`memtool diff`."""

from __future__ import annotations

import datetime as dt
from typing import Any

import click

from memtool.cli import output
from memtool.cli.log import fields_of, heading, remark
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.history.changes import Change, find_change, read_changes
from memtool.history.past import Difference, since, uncommitted, what_changed
from memtool.history.repository import get_own_repository
from memtool.index.filters import parse_day


@click.command()
@click.argument("change", required=False, default="")
@click.option("--since", "day", metavar="DATE", help="All that differs from then: 2026-02-10, 2026-02, 7d, yesterday.")
@click.option("--uncommitted", "is_waiting", is_flag=True, help="What is written and in no commit yet.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, change: str, *, day: str | None, is_waiting: bool, as_json: bool) -> None:
    """Show what a change did to the memory, line by line.

    CHANGE is its number in `memtool log`, or its id; without it, the newest change.
    """
    if sum(map(bool, (change, day, is_waiting))) > 1:
        raise UsageError("CHANGE, --since and --uncommitted exclude each other")
    vault = session.vault
    get_own_repository(vault.root)
    about: dict[str, Any] = {}
    if day:
        begun = dt.date.fromisoformat(parse_day(day, session.work.now().date()))
        found, head = since(vault, begun), f"since {begun}"
    elif is_waiting:
        found, head = uncommitted(vault), "in no commit yet"
    else:
        one = find_change(vault, change or ("1" if read_changes(session.vault) else ""))
        found, head, about = what_changed(vault, one), _head(one), {"change": fields_of(one)}
    if as_json:
        output.emit_json({**about, "files": [difference._asdict() for difference in found]})
        return
    click.echo(output.printable(head))
    for difference in found:
        _print(difference)
    if not found:
        output.say("Nothing differs.")


def _head(change: Change) -> str:
    about = "  ".join(filter(None, (change.short, heading(change), remark(change))))
    return f"{change.number}  {change.at:%Y-%m-%d %H:%M}  {about}"


def _print(difference: Difference) -> None:
    click.echo()
    click.secho(output.printable(f"{difference.deed}: {difference.path}"), bold=True)
    for line in difference.lines:
        colour = _COLOURS.get(line[0])
        click.secho(output.printable(line), fg=colour, dim=colour is None)


_COLOURS = {"+": "green", "-": "red"}
