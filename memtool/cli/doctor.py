"""`memtool doctor`."""

from __future__ import annotations

import click

from memtool import doctor
from memtool.beside import CHECKS, by_name
from memtool.cli import output
from memtool.cli.session import Session, with_vault, working_folder

_SIGNS = {doctor.OK: ("ok", "green"), doctor.NOTE: ("note", "yellow"), doctor.BROKEN: ("broken", "red")}


@click.command()
@click.option("--fix", "is_fixed", is_flag=True, help="First mend what can be mended without any risk.")
@click.option("--deep", is_flag=True, help="Look into every note, and ask each model for one token.")
@click.option("--team", is_flag=True, help="Check the memory of a team instead: its database, tokens and remotes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
@click.pass_context
def command(ctx: click.Context, session: Session, *, is_fixed: bool, deep: bool, team: bool, as_json: bool) -> None:
    """Check the vault, the index, the settings, the clients and what happened when nobody watched.

    Each finding says what is wrong and how to mend it. A note is written, indexed and found in a vault made for this,
    each installed hook is given an edit there, and each MCP server is asked for its tools. Nothing is changed without
    --fix, which removes what killed runs left, builds a damaged index anew and takes out schedules of vaults that are
    gone. The exit code is 1 if something is broken.
    """
    if team:
        ctx.exit(_told(by_name(CHECKS)(session.environ), as_json=as_json))
    path, origin = session.vault_path()
    checks = doctor.examine(path, origin, session.environ, folder=working_folder(), deep=deep)
    mends = [check.mend for check in checks if check.mend] if is_fixed else []
    if mends:
        output.say(*(mend() for mend in mends))
        checks = doctor.examine(path, origin, session.environ, folder=working_folder())
    ctx.exit(_told(checks, as_json=as_json))


def _told(checks: list[doctor.Check], *, as_json: bool) -> int:
    """Print *checks*, and return the exit code."""
    broken = any(check.state == doctor.BROKEN for check in checks)
    if as_json:
        output.emit_json({"healthy": not broken, "checks": [_as_json(check) for check in checks]})
    elif output.on_terminal():
        _show(checks)
    else:
        for check in checks:
            _print(check)
    return 1 if broken else 0


def _as_json(check: doctor.Check) -> dict[str, str]:
    return {"subject": check.subject, "state": check.state, "sentence": check.sentence, "fix": check.fix}


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
