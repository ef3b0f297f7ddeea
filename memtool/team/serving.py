"""`memtool serve --engine postgres`: the vaults of a team, from the first request to the last."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import click

from memtool.cli import output
from memtool.errors import BadSetting, ProviderMissing
from memtool.installation import how_to_add
from memtool.settings import database_address, load
from memtool.team.app import make_team_app
from memtool.team.gate import TeamGate
from memtool.team.postgres.schema import migrate
from memtool.team.service import TeamService
from memtool.web.life import Life
from memtool.web.server import listening, run, share_memory, stopped_by_signals

_GRACE = 2.5  # seconds for requests, when the service ends: then their connections are cut


def serve_team(environ: Mapping[str, str], *, host: str, port: int | None, as_json: bool) -> None:
    """Serve the vaults that the user's own settings name until somebody stops it.

    Raises:
        ProviderMissing: a library is not installed.
        BadSetting: the settings name no vaults or no database, or *host* is no address.
        MemtoolError: the port is taken, or the database refuses.
    """
    if find_spec("psycopg_pool") is None:
        raise ProviderMissing("psycopg is not installed", hint=how_to_add("postgres"))
    known = load(None, environ)
    address = database_address(known, environ)
    if not address or not known.team.vaults:
        missing = "vault is named that a team shares" if address else "database is named"
        raise BadSetting(f"no {missing}", hint="Set `[team] vaults` and `[index] dsn`: docs/team.md.")
    migrate(address)
    service = TeamService(known, environ, Path.home(), address, lambda: datetime.now().astimezone())
    share_memory()
    _bound_files(service.max_bytes)
    with listening(host, port) as listener:
        life = Life(grace=_GRACE)
        at, port, *_ = listener.getsockname()
        url = f"http://[{at}]:{port}" if ":" in at else f"http://{at}:{port}"
        with stopped_by_signals(life):
            if as_json:
                output.emit_json_line({"state": "starting", "url": url, "vaults": list(service.clones)})
            else:
                click.echo(f"Serving {', '.join(service.clones)} at {url}")
            run(TeamGate(make_team_app(service, life), service, life), life, listener)


def _bound_files(max_bytes: int) -> None:
    """Let neither this process nor the git that it runs write a larger file, such as a remote's pack without an end."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        wanted = max_bytes if most == resource.RLIM_INFINITY else min(max_bytes, most)
        resource.setrlimit(resource.RLIMIT_FSIZE, (wanted, most))
