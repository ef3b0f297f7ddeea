"""`memtool test`."""

from __future__ import annotations

from pathlib import Path

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.index.engine import use_index
from memtool.recall.expectations import Verdict, parse_expectations, try_expectations
from memtool.text.lines import counted

_LARGEST = 16_777_216  # bytes
_FAILED = 1


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, file: str, *, as_json: bool) -> None:
    """Check that prompts are given what you expect of the memory.

    FILE holds expectations, in TOML: this prompt in this project is given that fact, that prompt is given nothing. Each
    is asked as the first prompt of a session, by words; nothing is written. The exit code is 1 if one does not hold, so
    that it can stand in a vault's CI.
    """
    expectations = parse_expectations(_read(file))
    outcomes = use_index(
        session.place(), lambda index: list(try_expectations(session.work, index, expectations))
    )  # fmt: skip
    failed = [outcome for outcome in outcomes if outcome.faults]
    if as_json:
        answer = [{**one.expectation._asdict(), "faults": one.faults, "given": one.given} for one in outcomes]
        output.emit_json({"passed": len(outcomes) - len(failed), "failed": len(failed), "expectations": answer})
    else:
        for outcome in failed:
            _print(outcome)
        many = counted(len(outcomes), "expectation")
        click.echo(f"{len(outcomes) - len(failed)} of {many} hold." if failed else f"All {many} hold.")
    click.get_current_context().exit(_FAILED if failed else 0)


def _read(name: str) -> str:
    path = Path(name)
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise UsageError(f"'{name}' is no file of expectations", hint="Name a file in TOML.")
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"'{name}' cannot be read: {error}", hint="Name a file in TOML.") from None


def _print(outcome: Verdict) -> None:
    one = outcome.expectation
    project = f" in {one.project}" if one.project else ""
    asked = f"'{one.prompt}'" if one.prompt else "the start of a session"
    head = f"{one.number}: {' '.join(asked.split())}{project}"
    click.echo(output.shortened(output.printable(head), output.width()))
    for fault in outcome.faults:
        click.echo(f"   {output.printable(fault)}")
    for line in outcome.given.split("\n"):
        if line.startswith("- "):
            click.echo(output.shortened(f"   | {output.printable(line)}", output.width()))
