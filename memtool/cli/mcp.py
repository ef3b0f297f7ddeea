"""`memtool mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from memtool import settings
from memtool.cli.session import Session, with_vault, working_folder
from memtool.vault.layout import open_vault
from memtool.workspace import Workspace

PROFILES = ("context", "memory", "all")


@click.command()
@click.option(
    "--profile", type=click.Choice(PROFILES), default="context", show_default=True, help="Which tools to offer."
)
@with_vault
def command(session: Session, *, profile: str) -> None:
    """Serve the memory to an agent over MCP, on stdin and stdout, until stdin ends.

    An agent's client starts this by itself, once it is registered: `claude mcp add memtool -- memtool mcp`.
    """
    from memtool.mcp.server import serve

    def open_workspace(folder: Path | None) -> Workspace:
        # Found anew for each call: the vault may come and go while the server runs, and its settings may change.
        vault = open_vault(session.vault_path()[0])
        known = settings.load(vault.settings_path, session.environ, session.overrides)
        return Workspace(vault, known, session.environ, Path.home(), folder or working_folder())

    serve(profile, open_workspace)
