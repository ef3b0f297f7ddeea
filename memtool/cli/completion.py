"""`memtool completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from memtool.cli.completing import SHELLS


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print what lets SHELL complete memtool's commands, projects, notes, ids and agents.

    It belongs into a file that the shell reads when it starts.
    """
    script = get_completion_class(shell)
    assert script is not None  # noqa: S101  (click has these three)
    click.echo(script(click.Command("memtool"), {}, "memtool", "_MEMTOOL_COMPLETE").source(), nl=False)
