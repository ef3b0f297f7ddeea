"""`memtool uninstall`: one command for each client of `memtool.integrations.client_setups`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from memtool.cli import output
from memtool.cli.install import DRY_RUN, JSON, PROJECT, as_fields, files_of, target_of
from memtool.cli.session import Session, with_vault
from memtool.consolidate.week import kept_schedule
from memtool.embeddings.helper import end_helpers
from memtool.errors import MemtoolError
from memtool.installation import how_to_remove
from memtool.integrations.client_setups import CLIENTS, ClientSetup, get_client, installed_clients
from memtool.integrations.plans import Plan, carry_out
from memtool.integrations.record import Installations, do_without, update
from memtool.settings import user_cache_path


@click.group(chain=True)
def command() -> None:
    """Take memtool out of another program."""


def _command_for(client: ClientSetup) -> click.Command:
    """Return the command that takes memtool out of *client*."""

    def uninstall(session: Session, **options: Any) -> None:  # noqa: ANN401  (click hands them over)
        _uninstall(client, session, **options)

    uninstall.__doc__ = f"""Take memtool out of {client.title}.

    Exactly what `memtool install {client.name}` put in goes, whichever memtool did it, and for whichever vault. A file
    that nobody else has changed since is as it was before, byte for byte. The vault stays, and need not be there.
    """
    for option in (JSON, DRY_RUN, PROJECT):
        uninstall = option(uninstall)
    return click.command(client.name)(with_vault(uninstall))


def _uninstall(client: ClientSetup, session: Session, *, project: str | None, dry_run: bool, as_json: bool) -> None:
    target = target_of(session, project)
    planned = client.removal(target)
    if not dry_run:
        carry_out(planned, session.environ)
        do_without(session.environ, client.installation(target), ())
        if not installed_clients(target):
            update(session.environ, _without_vaults)
    ended = end_helpers(user_cache_path(session.environ)) if project is None and not dry_run else 0
    notices = [*planned.notices, *client.left(target), *_schedule(session)]
    if as_json:
        output.emit_json(as_fields(planned, dry_run=dry_run) | {"helpers_ended": ended, "notices": notices})
        return
    if dry_run and planned.changes:
        output.emit_text(planned.diff())
    else:
        click.echo(output.printable_lines(_as_text(client, planned, target.home)))
    output.say(*notices)


def _without_vaults(record: Installations) -> None:
    record.vaults.clear()


def _schedule(session: Session) -> Iterator[str]:
    with suppress(MemtoolError):  # the vault need not be there
        if kind := kept_schedule(session.work):
            yield f"{kind} still consolidates each week: `memtool schedule remove` takes that out"


def _as_text(client: ClientSetup, planned: Plan, home: Path) -> str:
    if not planned.changes:
        return f"Nothing to do: memtool is not in {client.title}."
    return (
        f"memtool is out of {client.title}. Changed: {files_of(planned, home)}.\n"
        f"Your vault stays. To remove it, delete its folder; to remove memtool, `{how_to_remove()}`."
    )


for _name in CLIENTS:
    command.add_command(_command_for(get_client(_name)))
