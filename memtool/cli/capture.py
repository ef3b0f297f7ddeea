"""`memtool capture`."""

from __future__ import annotations

import datetime as dt
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memtool.capture.queue import TRIES, Job, Queue
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import UsageError
from memtool.llm.call_log import Usage, calls_of, usage
from memtool.llm.writers import note_cost
from memtool.settings.text_providers import VENDORS
from memtool.text.lines import counted

if TYPE_CHECKING:
    from memtool.capture.drain import Drained


_SOME_FAILED = 1  # exit code


@click.command()
@click.argument("transcripts", nargs=-1, metavar="[TRANSCRIPT]...")
@click.option("--drain", is_flag=True, help="Capture the sessions that wait, then end. Hooks start this by themselves.")
@click.option("--now", is_flag=True, help="With --drain: also those that wait for another try, or were given up.")
@click.option("--status", "only_status", is_flag=True, help="Say what waits and what was given up.")
@click.option("--usage", "only_usage", is_flag=True, help="Say what models were asked, and what that took.")
@click.option("--rewrite", is_flag=True, help="Write the notes of kept sessions anew: those named, or all.")
@click.option(
    "--with", "writer", type=click.Choice(("none", *VENDORS)), help="With --rewrite: the model that writes them."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(
    session: Session,
    transcripts: tuple[str, ...],
    *,
    rewrite: bool,
    writer: str | None,
    drain: bool,
    now: bool,
    only_status: bool,
    only_usage: bool,
    as_json: bool,
) -> None:
    """Turn sessions into notes: those that wait, or the TRANSCRIPTs named here.

    As a rule there is nothing to do by hand: the hooks that `memtool install claude-code` brings put each session on
    a queue, and start `memtool capture --drain` in the background.

    With --rewrite what is named are sessions, by their ids or notes. Their notes are made anew of the turns that the
    vault keeps. What you have changed in them by hand stays, and so do notes by a model unless --with names a writer.
    """
    if writer and not rewrite:
        raise UsageError("--with goes with --rewrite")
    if rewrite and not (drain or now or only_status or only_usage):
        _rewrite(session, transcripts, writer or "", as_json=as_json)
        return
    if sum([drain, only_status, only_usage, rewrite or bool(transcripts)]) > 1:
        raise UsageError("--drain, --status, --usage, --rewrite and TRANSCRIPT exclude each other")
    if now and not drain:
        raise UsageError("--now goes with --drain")
    if only_usage:
        _print_usage(session, as_json=as_json)
    elif drain or transcripts:
        _drain(session, transcripts, now=now, as_json=as_json)
    else:
        _print_status(session, as_json=as_json)


def _rewrite(session: Session, named: tuple[str, ...], writer: str, *, as_json: bool) -> None:
    from memtool.capture.rewriting import rewrite_notes
    from memtool.cli.show_turns import find_kept

    session.vault.check_made()
    sessions = [find_kept(session, name)[0] for name in named]
    with output.progress_bar("Rewriting notes") as progress:
        done = rewrite_notes(session.work, sessions, progress, writer=writer)
    if as_json:
        output.emit_json(done._asdict())
    else:
        left = f"; {counted(done.left, 'note')} by a model left as they are (see --with)" if done.left else ""
        click.echo(f"{counted(done.notes, 'note')} rewritten{left}.")
        output.say(*done.problems)
    if done.problems:
        raise click.exceptions.Exit(_SOME_FAILED)


def _drain(session: Session, transcripts: tuple[str, ...], *, now: bool, as_json: bool) -> None:
    from memtool.worker import work_off

    session.vault.check_made()
    if now:
        Queue(session.vault).revive()
    _put(session, transcripts)
    drained, problems = work_off(session.work)
    if as_json:
        output.emit_json(drained._asdict() | {"problems": [problem.message for problem in problems]})
    else:
        _print_drained(drained, len(transcripts))
        output.say(*(problem.message for problem in problems))


def _put(session: Session, transcripts: tuple[str, ...]) -> None:
    from memtool.capture.transcript.forms import WHERE_TRANSCRIPTS_ARE, check_transcript

    jobs = []
    for transcript in transcripts:
        path = Path(os.path.realpath(transcript))  # `resolve` raises for a loop of symlinks
        if not path.is_file():
            raise UsageError(f"there is no transcript at '{transcript}'", hint=WHERE_TRANSCRIPTS_ARE)
        jobs.append(Job(check_transcript(path), str(path), event="capture", queued_at=time.time()))
    for job in jobs:
        Queue(session.vault).put(job)


def _print_drained(drained: Drained, queued: int) -> None:
    if drained.busy:
        click.echo("Another worker is at work.")
        if queued:
            click.echo(f"It will also capture {counted(queued, 'session')} that you have put on the queue.")
        return
    click.echo(f"{counted(len(drained.captured), 'session')} captured.")
    if drained.empty:
        click.echo(f"{counted(len(drained.empty), 'session')} held nothing to note.")
    if drained.failed:
        click.echo(f"{counted(len(drained.failed), 'session')} will be tried again.")
    if drained.parked:
        click.echo(f"{counted(len(drained.parked), 'session')} given up: see `memtool capture --status`.")


def _print_status(session: Session, *, as_json: bool) -> None:
    queue = Queue(session.vault)
    waiting, parked = queue.waiting(), queue.parked()
    if as_json:
        output.emit_json({"waiting": [_fields(job) for job in waiting], "parked": [_fields(job) for job in parked]})
        return
    home = Path.home()
    rows = [(queue.name_of(job, home), _state(job)) for job in waiting]
    rows += [
        (queue.name_of(job, home), f"given up after {counted(job.tries, 'try', 'tries')}: {job.reason}")
        for job in parked
    ]
    click.echo(f"{counted(len(waiting), 'session')} waiting, {len(parked)} given up.")
    if output.on_terminal() and rows:
        from memtool.cli import screen

        screen.show(screen.table(("Session", "State"), rows))
    else:
        for name, state in rows:
            click.echo(output.printable(f"  {name}: {state}"))
    if parked:
        output.say("Try them again with `memtool capture --drain --now`. Their extractive notes stand.")


def _state(job: Job) -> str:
    if not job.tries:
        return f"since {_clock(job.queued_at)} ({job.event})"
    reason = f": {job.reason}" if job.reason else " (being captured, or its worker died)"
    return f"try {job.tries} of {TRIES}, again at {_clock(job.due_at)}{reason}"


def _clock(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _fields(job: Job) -> dict[str, Any]:
    names = ("session_id", "transcript", "event", "queued_at", "due_at", "tries", "reason")
    return {name: getattr(job, name) for name in names}


def _print_usage(session: Session, *, as_json: bool) -> None:
    rows, cost = usage(session.vault), note_cost(calls_of(session.vault))
    if as_json:
        days = [row._asdict() for row in rows]
        a_note = cost._asdict() if cost else None
        output.emit_json({"budget": session.settings.llm.daily_tokens, "usage": days, "a_note": a_note})
        return
    if not rows:
        click.echo("No model was asked yet.")
    elif output.on_terminal():
        _show_usage(rows)
    else:
        for row in rows:
            click.echo(_usage_line(row))
    if cost:
        notes = f"{counted(cost.notes, 'session note')} written"
        click.echo(f"{notes}: {cost.input_tokens:,} tokens in and {cost.output_tokens:,} out each, on the average.")
    if rows and (limit := session.settings.llm.daily_tokens):
        click.echo(f"At most {limit:,} tokens in a day (llm.daily_tokens).")


def _show_usage(rows: list[Usage]) -> None:
    from memtool.cli import screen

    names = ("Day", "Provider", "Calls", "Without a usable answer", "Tokens in", "Tokens out", "USD")
    cells = [
        (row.day, row.provider, f"{row.calls:,}", f"{row.failed:,}", f"{row.input_tokens:,}", f"{row.output_tokens:,}",
         "" if row.cost_usd is None else f"{row.cost_usd:.4f}")
        for row in rows
    ]  # fmt: skip
    screen.show(screen.table(names, cells, right=names[2:]))


def _usage_line(row: Usage) -> str:
    failed = f", {row.failed} without a usable answer" if row.failed else ""
    cost = f", {row.cost_usd:.4f} USD" if row.cost_usd is not None else ""
    tokens = f"{row.input_tokens:,} tokens in, {row.output_tokens:,} out"
    return f"{row.day}  {row.provider}: {counted(row.calls, 'call')}{failed}, {tokens}{cost}"
