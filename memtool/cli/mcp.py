"""`memtool mcp`, apart from `memtool serve`: a client waits for its start."""

from __future__ import annotations

import click

from memtool.cli.options import with_vault
from memtool.cli.session import Session


@click.command()
@click.option(
    "--profile",
    type=click.Choice(("context", "memory", "all")),
    default="context",
    show_default=True,
    help="The tools to offer.",
)
@with_vault
def command(session: Session, *, profile: str) -> None:
    """Serve the memory to an agent over MCP, on stdin and stdout, until stdin ends.

    An agent's client starts this by itself after `memtool install`. It uses the same vault as the hooks: a
    `memtool.toml` in the agent's folder, which may be a stranger's, does not name the vault.
    """
    from memtool.mcp.server import serve

    session.looks_upwards = False
    serve(profile, session.open_workspace)
