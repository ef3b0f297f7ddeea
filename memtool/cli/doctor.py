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
    elif output.on_terminal():
        _show(checks)
    else:
        for check in checks:
            _print(check)
    ctx.exit(1 if broken else 0)


def _show(checks: list[doctor.Check]) -> None:
    """Draw a panel for each state, the worst last: that is where the eye rests."""
    from memtool.cli import screen

    for state, (word, colour) in _SIGNS.items():
        rows = [
            (screen.text(check.subject, "bold"), screen.lines(check.sentence, _mended(check)))
            for check in checks
            if check.state == state
        ]
        if rows:
            screen.show(screen.panel(word, rows, colour))


def _print(check: doctor.Check) -> None:
    click.echo(f"{_SIGNS[check.state][0]:>6}  {check.subject}: {output.printable(check.sentence)}")
    if mended := _mended(check):
        click.echo(f"        {output.printable(mended)}")


def _mended(check: doctor.Check) -> str:
    return check.fix if check.state != doctor.OK else ""
