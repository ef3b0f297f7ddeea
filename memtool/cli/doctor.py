"""`memtool doctor`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memtool import doctor
from memtool.cli import output
from memtool.cli.session import Session, with_vault, working_folder

_SIGNS = {doctor.OK: ("ok", "green"), doctor.NOTE: ("note", "yellow"), doctor.BROKEN: ("broken", "red")}


@click.command()
@click.option("--fix", "is_fixed", is_flag=True, help="First remove what killed runs left in the vault.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
@click.pass_context
def command(ctx: click.Context, session: Session, *, is_fixed: bool, as_json: bool) -> None:
    """Check the vault, the index and the settings.

    Each finding says what is wrong and how to mend it. A note is written, indexed and found in a temporary vault, to
    see that the whole way works. The exit code is 1 if something is broken.
    """
    path, origin = session.vault_path()
    if is_fixed:
        output.say(*(f"removed {name}" for name in doctor.fix(path)))
    checks = doctor.examine(path, origin, session.environ, folder=working_folder())
    broken = any(check.state == doctor.BROKEN for check in checks)
    if as_json:
        output.emit_json({"healthy": not broken, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            _print(check)
    ctx.exit(1 if broken else 0)


def _print(check: doctor.Check) -> None:
    word, colour = _SIGNS[check.state]
    click.echo(f"{click.style(f'{word:>6}', fg=colour)}  {check.subject}: {output.printable(check.sentence)}")
    if check.fix and check.state != doctor.OK:
        click.echo(f"        {output.printable(check.fix)}")
