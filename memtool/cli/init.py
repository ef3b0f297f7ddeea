"""`memtool init`."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from memtool.cli import completion
from memtool.cli.options import with_json
from memtool.cli.output import printable, say
from memtool.cli.session import Session
from memtool.errors import MemtoolError, UsageError
from memtool.history.template import make_vault
from memtool.install.record import call_own
from memtool.settings import find_vault_path


@click.command()
@click.argument("path", required=False, shell_complete=completion.folders)
@with_json
def command(session: Session, path: str | None) -> None:
    """Make a vault at PATH, or add what a folder of notes lacks to be one.

    Existing files are not changed. The vault becomes a git repository with a first commit, unless it is inside another
    repository. You can run this again at any time: it adds what is missing. It also records that the vault is yours, so
    that its triggers may become rules of a client.
    """
    if path == "":
        raise UsageError("PATH is empty", hint="Name a folder, such as `memtool init ~/memory`.")
    made = make_vault(session.vault_path(path)[0], home=Path.home(), announce=say)
    with suppress(MemtoolError):  # then `memtool install` asks
        call_own(session.environ, made.vault)
    root = str(made.vault.root)
    if session.emits(asdict(made) | {"vault": root}):
        return
    if not made.created and not made.committed:
        click.echo(f"Nothing to do: the vault at {printable(root)} is complete.")
    else:
        click.echo(f"The vault is ready: {printable(root)}")
        if made.created:
            click.echo(f"Added: {', '.join(made.created)}")
        if made.repository_made:
            click.echo("It is a new git repository: `memtool log` shows its history, `memtool undo` reverts a change.")
        elif made.committed:
            click.echo("Committed to its git history.")
        found, _ = find_vault_path(None, session.environ, Path(os.sep))
        if found.resolve() != made.vault.root:  # hooks and commands elsewhere would not find it
            command = f"memtool config set vault {shlex.quote(root)}"
            click.echo(printable(f"Next: `{command}`, so that every command and agent uses this vault."))
        click.echo("Next: `memtool install claude-code`, so that sessions become notes.")
    say(*made.notices)
