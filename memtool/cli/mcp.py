"""`memtool mcp`."""

from __future__ import annotations

import click

from memtool.cli.session import Session, with_vault

PROFILES = ("context", "memory", "all")


@click.command()
@click.option(
    "--profile", type=click.Choice(PROFILES), default="context", show_default=True, help="Which tools to offer."
)
@with_vault
def command(session: Session, *, profile: str) -> None:
    """Serve the memory to an agent over MCP, on stdin and stdout, until stdin ends.

    An agent's client starts this by itself, once `memtool install` has registered it. The vault is the one that hooks
    use: a `memtool.toml` in the agent's folder, which may be a stranger's, does not name it.
    """
    from memtool.mcp.server import serve

    session.looks_upwards = False
    serve(profile, session.open_workspace)
