"""`memtool doctor`."""

from __future__ import annotations

import click

from memtool import doctor
from memtool.beside import CHECKS, load_object
from memtool.cli import output
from memtool.cli.options import with_json
from memtool.cli.session import Session, working_folder

_SIGNS = {doctor.OK: ("ok", "green"), doctor.NOTE: ("note", "yellow"), doctor.BROKEN: ("broken", "red")}


@click.command()
@click.option("--fix", "is_fixed", is_flag=True, help="First fix everything that is safe to fix.")
@click.option("--deep", is_flag=True, help="Check every note, and ask each model for one token.")
@click.option("--team", is_flag=True, help="Check the memory of a team instead: its database, tokens and remotes.")
@with_json
@click.pass_context
def command(ctx: click.Context, session: Session, *, is_fixed: bool, deep: bool, team: bool) -> None:
    """Check the vault, the index, the settings, the clients and the work in the background.

    Each finding says what is wrong and how to fix it. memtool writes, indexes and finds a note in a temporary vault,
    sends an edit there through each installed hook, and asks each MCP server for its tools. Nothing is changed without
    --fix, which removes the leftovers of killed runs, rebuilds a damaged index and removes schedules of deleted vaults.
    The exit code is 1 if something is broken.
    """
    if team:
        ctx.exit(_report(session, load_object(CHECKS)(session.environ)))
    path, origin = session.vault_path()
    checks = doctor.examine(path, origin, session.environ, folder=working_folder(), deep=deep)
    fixes = [check.mend for check in checks if check.mend] if is_fixed else []
    if fixes:
        output.say(*(fix() for fix in fixes))
        checks = doctor.examine(path, origin, session.environ, folder=working_folder())
    ctx.exit(_report(session, checks))


def _report(session: Session, checks: list[doctor.Check]) -> int:
    """Print *checks*, and return the exit code. On a terminal each state has a panel, the worst one last."""
    broken = any(check.state == doctor.BROKEN for check in checks)
    names = ("subject", "state", "sentence", "fix")
    if session.emits(
        {"healthy": not broken, "checks": [{name: getattr(check, name) for name in names} for check in checks]}
    ):
        return int(broken)
    for state, (word, colour) in _SIGNS.items() if output.on_terminal() else ():
        from memtool.cli import screen

        shown = [check for check in checks if check.state == state]
        rows = [(screen.text(one.subject, "bold"), screen.lines(one.sentence, _fix(one))) for one in shown]
        screen.show(*([screen.panel(word, rows, colour)] if rows else []))
    for check in checks if not output.on_terminal() else ():
        click.echo(f"{_SIGNS[check.state][0]:>6}  {check.subject}: {output.printable(check.sentence)}")
        if fix := _fix(check):
            click.echo(f"        {output.printable(fix)}")
    return int(broken)


def _fix(check: doctor.Check) -> str:
    return check.fix if check.state != doctor.OK else ""
