"""`memtool helper`, which a session's start runs in the background."""

from __future__ import annotations

import contextlib

import click

from memtool.cli.session import Session, with_vault
from memtool.errors import Busy
from memtool.recall.prompts.warm_helper import IDLE, run_helper


@click.command(hidden=True)
@click.option("--idle", type=float, default=IDLE, help="End after so many seconds without a question.")
@with_vault
def command(session: Session, *, idle: float) -> None:
    """Hold the model and the vectors of a vault for prompts and searches, until nobody asks any more."""
    with contextlib.suppress(Busy):  # another one does
        run_helper(session.work, idle=idle)
