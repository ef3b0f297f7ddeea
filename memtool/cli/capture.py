"""`memtool capture`."""

from __future__ import annotations

import datetime as dt
import os
import time
from pathlib import Path
from typing import Any

import click

from memtool.capture.queue import TRIES, Job, Queue
from memtool.cli import completion, output
from memtool.cli.options import with_json
from memtool.cli.output import table
from memtool.cli.session import Session
from memtool.errors import UsageError
from memtool.llm.call_log import calls_of, usage
from memtool.llm.writers import note_cost
from memtool.settings.text_providers import VENDORS
from memtool.text.lines import counted


@click.command()
@click.argument("transcripts", nargs=-1, metavar="[TRANSCRIPT]...", shell_complete=completion.files)
@click.option("--drain", is_flag=True, help="Capture the queued sessions, then end. Hooks start this by themselves.")
@click.option("--now", is_flag=True, help="With --drain: include sessions that wait for another try, or failed.")
@click.option("--status", "only_status", is_flag=True, help="Show the queue: pending and failed sessions.")
@click.option("--usage", "only_usage", is_flag=True, help="Show the calls of models, and their cost.")
@click.option("--rewrite", is_flag=True, help="Rewrite the notes of kept sessions: the named ones, or all.")
@click.option("--with", "writer", type=click.Choice(("none", *VENDORS)), help="With --rewrite: the model that writes.")
@with_json
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
) -> None:
    """Turn sessions into notes: the queued ones, or the given TRANSCRIPTs.

    You rarely need this command: the hooks that `memtool install claude-code` installs put each session on a queue, and
    start `memtool capture --drain` in the background.

    With --rewrite, the arguments are sessions, by their ids or notes. Their notes are written again from the turns that
    the vault keeps. Your own edits in them are kept, and so are notes by a model unless --with names a writer.
    """
    if writer and not rewrite:
        raise UsageError("--with goes with --rewrite")
    if rewrite and not (drain or now or only_status or only_usage):
        _rewrite(session, transcripts, writer or "")
        return
    if sum([drain, only_status, only_usage, rewrite or bool(transcripts)]) > 1:
        raise UsageError("--drain, --status, --usage, --rewrite and TRANSCRIPT exclude each other")
    if now and not drain:
        raise UsageError("--now goes with --drain")
    if only_usage:
        _print_usage(session)
    elif drain or transcripts:
        _drain(session, transcripts, now=now)
    else:
        _print_status(session)


def _rewrite(session: Session, refs: tuple[str, ...], writer: str) -> None:
    from memtool.capture.session_capture import rewrite_notes
    from memtool.cli.show import find_kept

    session.vault.check_made()
    sessions = [find_kept(session, ref)[0] for ref in refs]
    with output.progress_bar("Rewriting notes") as progress:
        done = rewrite_notes(session.work, sessions, progress, writer=writer)
    if not session.emits(done._asdict()):
        left = f"; {counted(done.left, 'note')} by a model left as they are (see --with)" if done.left else ""
        click.echo(f"{counted(done.notes, 'note')} rewritten{left}.")
        output.say(*done.problems)
    if done.problems:
        raise click.exceptions.Exit(1)


def _drain(session: Session, transcripts: tuple[str, ...], *, now: bool) -> None:
    from memtool.worker import work_off

    session.vault.check_made()
    if now:
        Queue(session.vault).revive()
    jobs = list(map(_job, transcripts))  # an unreadable one is an error before any other is queued
    for job in jobs:
        Queue(session.vault).put(job)
    drained, problems = work_off(session.work)
    messages = [problem.message for problem in problems]
    if session.emits(drained._asdict() | {"problems": messages}):
        return
    if drained.busy:
        click.echo("Another worker is running.")
        if transcripts:
            click.echo(f"It will also capture {counted(len(transcripts), 'session')} that you have queued.")
    else:
        click.echo(f"{counted(len(drained.captured), 'session')} captured.")
    for ids, end in (
        (drained.empty, "had nothing to note."),
        (drained.failed, "will be tried again."),
        (drained.parked, "failed: see `memtool capture --status`."),
    ):
        if ids:
            click.echo(f"{counted(len(ids), 'session')} {end}")
    output.say(*messages)


def _job(transcript: str) -> Job:
    from memtool.capture.transcript.forms import WHERE_TRANSCRIPTS_ARE, check_transcript

    path = Path(os.path.realpath(transcript))  # `resolve` raises for a loop of symlinks
    if not path.is_file():
        raise UsageError(f"there is no transcript at '{transcript}'", hint=WHERE_TRANSCRIPTS_ARE)
    return Job(check_transcript(path), str(path), event="capture", queued_at=time.time())


def _print_status(session: Session) -> None:
    queue = Queue(session.vault)
    waiting, parked = queue.waiting(), queue.parked()
    if session.emits({"waiting": [_fields(job) for job in waiting], "parked": [_fields(job) for job in parked]}):
        return
    click.echo(f"{counted(len(waiting), 'session')} pending, {len(parked)} failed.")
    states = [(job, _state(job, is_parked=job in parked)) for job in (*waiting, *parked)]
    table(("Session", "State"), [(queue.name_of(job, session.work.home), state) for job, state in states])
    if parked:
        output.say("Try them again with `memtool capture --drain --now`. Their notes by rules are kept.")


def _state(job: Job, *, is_parked: bool) -> str:
    if is_parked:
        return f"failed after {counted(job.tries, 'try', 'tries')}: {job.reason}"
    if not job.tries:
        return f"since {_clock(job.queued_at)} ({job.event})"
    reason = f": {job.reason}" if job.reason else " (being captured, or its worker died)"
    return f"try {job.tries} of {TRIES}, again at {_clock(job.due_at)}{reason}"


def _clock(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _fields(job: Job) -> dict[str, Any]:
    names = ("session_id", "transcript", "event", "queued_at", "due_at", "tries", "reason")
    return {name: getattr(job, name) for name in names}


def _print_usage(session: Session) -> None:
    rows, cost, limit = usage(session.vault), note_cost(calls_of(session.vault)), session.settings.llm.daily_tokens
    days = [row._asdict() for row in rows]
    if session.emits({"budget": limit, "usage": days, "a_note": cost._asdict() if cost else None}):
        return
    if not rows:
        click.echo("No model was called yet.")
    cells = []
    for row in rows:
        unusable = f", {row.failed:,} without a usable answer" if row.failed else ""
        price = f", {row.cost_usd:.4f} USD" if row.cost_usd is not None else ""
        tokens = f"{row.input_tokens:,} tokens in, {row.output_tokens:,} out"
        cells.append((row.day, row.provider, f"{counted(row.calls, 'call')}{unusable}, {tokens}{price}"))
    table(("Day", "Provider", "Calls"), cells)
    if cost:
        notes = f"{counted(cost.notes, 'session note')} written"
        click.echo(f"{notes}: {cost.input_tokens:,} tokens in and {cost.output_tokens:,} out each, on average.")
    if rows and limit:
        click.echo(f"Limit: {limit:,} tokens a day (llm.daily_tokens).")
