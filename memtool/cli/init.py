"""`memtool init`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from memtool.cli.output import emit_json, printable, say
from memtool.cli.session import Session, with_vault
from memtool.errors import MemtoolError, UsageError
from memtool.history.template import MadeVault, make_vault
from memtool.install.record import call_own


@click.command()
@click.argument("path", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@with_vault
def command(session: Session, path: str | None, as_json: bool) -> None:
    """Make a vault at PATH, or add to a folder of notes what it lacks.

    No byte of a file that exists is changed. The vault becomes a git repository with a first commit, unless it lies in
    somebody else's. Run it again at any time: it adds what is missing. It also says that the vault is yours, so that
    its triggers may become rules of a client.
    """
    if path == "":
        raise UsageError("PATH is empty", hint="Name a folder, such as `memtool init ~/memory`.")
    root, _ = session.vault_path(path)
    made = make_vault(root, home=Path.home(), announce=say)
    with suppress(MemtoolError):  # then `memtool install` asks
        call_own(session.environ, made.vault)
    if as_json:
        emit_json(asdict(made) | {"vault": str(made.vault.root)})
    else:
        click.echo(_as_text(made))
        say(*made.notices)


def _as_text(made: MadeVault) -> str:
    root = printable(str(made.vault.root))
    if not made.created and not made.committed:
        return f"Nothing to do: the vault at {root} is complete."
    lines = [f"The vault is ready: {root}"]
    if made.created:
        lines.append(f"Added: {', '.join(made.created)}")
    if made.repository_made:
        lines.append("Made a git repository of it, for its history: `memtool log` shows it, `memtool undo` takes back.")
    elif made.committed:
        lines.append("Committed to its git history.")
    lines.append("Next: `memtool install claude-code`, so that sessions become notes.")
    return "\n".join(lines)
