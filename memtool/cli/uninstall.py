"""`memtool uninstall`: out of the agents of `memtool.clients`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from memtool.cli import output
from memtool.cli.install import DRY_RUN, JSON, NAMES, PROJECT, AgentCommand, as_fields, files_of, target_of
from memtool.cli.session import Session, with_vault
from memtool.errors import MemtoolError
from memtool.install.agents import AgentSetup, agents_with_memtool, get_setup
from memtool.install.plans import Plan, carry_out
from memtool.install.record import Installations, do_without, update
from memtool.installation import how_to_remove
from memtool.schedules.missed_week import kept_schedule
from memtool.service_client import end_services
from memtool.settings import user_cache_path


@click.command(cls=AgentCommand, no_args_is_help=True)
@NAMES
@PROJECT
@DRY_RUN
@JSON
@with_vault
def command(session: Session, agents: tuple[str, ...], *, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Take memtool out of Claude Code and other agents.

    Exactly what `memtool install` put in goes, whichever memtool did it, and for whichever vault. A file that was not
    changed since is as it was before, byte for byte. The vault stays, and need not be there.
    """
    clients = [get_setup(name) for name in dict.fromkeys(agents)]
    done = [_uninstall(client, session, as_json=as_json, **options) for client in clients]
    if as_json:
        output.emit_json(done[0] if len(done) == 1 else {"agents": done})


def _uninstall(
    client: AgentSetup, session: Session, *, project: str | None, dry_run: bool, as_json: bool
) -> dict[str, object]:
    target = target_of(session, project)
    planned = client.removal(target)
    if not dry_run:
        carry_out(planned, session.environ)
        do_without(session.environ, client.installation(target), ())
        if not agents_with_memtool(target):
            update(session.environ, _without_vaults)
    ended = end_services(user_cache_path(session.environ)) if project is None and not dry_run else 0
    notices = [*planned.notices, *client.left(target), *_schedule(session)]
    if not as_json:
        if dry_run and planned.changes:
            output.emit_text(planned.diff())
        else:
            click.echo(output.printable_lines(_as_text(client, planned, target.home)))
        output.say(*notices)
    fields = {"processes_ended": ended, "notices": notices}
    return {"agent": client.name, **as_fields(planned, dry_run=dry_run), **fields}


def _without_vaults(record: Installations) -> None:
    record.vaults.clear()


def _schedule(session: Session) -> Iterator[str]:
    with suppress(MemtoolError):  # the vault need not be there
        if kind := kept_schedule(session.work):
            yield f"{kind} still consolidates each week: `memtool schedule remove` takes that out"


def _as_text(client: AgentSetup, planned: Plan, home: Path) -> str:
    if not planned.changes:
        return f"Nothing to do: memtool is not in {client.title}."
    return (
        f"memtool is out of {client.title}. Changed: {files_of(planned, home)}.\n"
        f"Your vault stays. To remove it, delete its folder; to remove memtool, `{how_to_remove()}`."
    )
