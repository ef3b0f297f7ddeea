"""The health of work in the background: capture, the queue, the weekly run, models and their costs."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator
from functools import partial

from memtool.capture.log import DAYS, NAME as LOG_NAME, LogEntry, read_problems
from memtool.capture.queue import Queue
from memtool.consolidate.week import read_run
from memtool.doctor.check import BROKEN, NOTE, OK, Check
from memtool.errors import MemtoolError
from memtool.llm import Request, models_of, open_provider
from memtool.llm.call_log import CallLog, usage
from memtool.llm.chain import Chain, Clock
from memtool.recall.uses import fates_between, sums_of
from memtool.schedules.missed_week import kept_schedule
from memtool.schedules.schedule import Lost, find_lost, is_in_force, remove_lost
from memtool.service_client import ask_again, is_at_work, service_place
from memtool.text.lines import counted
from memtool.vault.layout import find_state_folder, outer_folder
from memtool.vault.sources import MB, last_removal, list_sources
from memtool.workspace import Workspace

_NAMED = 10  # parked jobs
_NAMED_ERRORS = 3
_TELLING = 5  # lines of which none arrived
_PATIENCE = 1.0  # seconds for the service
_TRIES = 2  # the machine may be busy
_OVERDUE = 3600.0  # seconds; a worker starts within one, as long as hooks run


def capture_checks(work: Workspace) -> Iterator[Check]:
    """Give a finding for the errors of hooks and of the worker, within the last days."""
    vault = work.vault
    folders = [vault.state_path]
    with contextlib.suppress(MemtoolError):  # the checks of the index say it
        folders.append(outer_folder(vault.root, work.cache))
    now = work.now()
    errors, over = read_problems(vault, folders, now)
    see = f"See {' and '.join(str(folder / LOG_NAME) for folder in folders if (folder / LOG_NAME).exists())}."
    for entry in errors[-_NAMED_ERRORS:]:
        yield Check("capture", BROKEN, _told(entry), see)
    if len(errors) > _NAMED_ERRORS:
        yield Check("capture", BROKEN, f"and {counted(len(errors) - _NAMED_ERRORS, 'more error')} in the last day")
    if over:
        problems = counted(len(over), "old or small problem")
        yield Check("capture", NOTE, f"{problems} in the last {DAYS} days; the last: {_told(over[-1])}", see)
    queue = Queue(vault)
    for job in queue.parked()[:_NAMED]:
        fix = "Try it again with `memtool capture --drain --now`."
        yield Check("capture", BROKEN, f"{queue.name_of(job, work.home)} was given up: {job.reason}", fix)
    waiting = queue.waiting()
    overdue = [job for job in waiting if now.timestamp() - max(job.queued_at, job.due_at) > _OVERDUE]
    if overdue:
        fix = "Run `memtool capture --drain` and see what it says."
        sessions = counted(len(overdue), "session has", "sessions have")
        yield Check("capture", BROKEN, f"{sessions} waited for more than an hour", fix)
    elif not errors:
        yield Check("capture", OK, f"nothing to mend, {counted(len(waiting), 'session')} waiting")


def given_checks(work: Workspace) -> Iterator[Check]:
    """Say what became of the lines that the sessions of the last days were given, by the clients' transcripts."""
    today, sums = work.now().date(), None
    with contextlib.suppress(MemtoolError):  # the checks of the index say it
        if folder := find_state_folder(work.vault, work.cache):
            sums = sums_of(fates_between(folder, f"{today - dt.timedelta(days=DAYS)}", f"{today}"))
    if sums is None or sums.arrived is None:
        return
    sentence = f"lines for the sessions of the last {DAYS} days: {sums}"
    if sums.given >= _TELLING and not sums.arrived:
        fix = "Look at the hooks in the client (`/hooks`), and at what is said of them above."
        yield Check("given", BROKEN, f"{sentence}: the client drops what memtool says", fix)
    else:
        yield Check("given", OK, sentence)


def source_checks(work: Workspace) -> Iterator[Check]:
    """Say how many sources of sessions are kept, how large they are, and when some were removed."""
    kept = list_sources(work.vault)
    if kept:
        size = f"{sum(one.size for one in kept) / MB:,.1f}"
        yield Check("transcripts", OK, f"{counted(len(kept), 'session')} kept with all turns, {size} MB")
    else:
        yield Check(
            "transcripts", OK, "no session is kept yet; `memtool import claude-code` keeps those of this machine"
        )
    if removed := last_removal(work.vault):
        old = counted(removed.sessions, "old session")
        yield Check(
            "transcripts", OK, f"{old} removed at {removed.at[:16]}, as `transcripts.max_mb` and `keep_days` say"
        )


def service_checks(work: Workspace) -> Iterator[Check]:
    """Say which parts of the vault's process work, if there is one."""
    try:
        place = service_place(work.cache, work.vault.root)
    except MemtoolError:
        return  # the check of the index has said it
    if not is_at_work(place):
        return
    asked = (ask_again(place, {"ask": "status"}, patience=_PATIENCE) for _ in range(_TRIES))
    status = next((answer for answer in asked if answer), None)
    try:
        pid, idle, memory = (int(status[name]) for name in ("pid", "idle", "memory")) if status else (0, 0, 0)
    except (LookupError, TypeError, ValueError, OverflowError):
        pid = 0
    if not pid or not status:
        sentence = "the service of this vault does not answer, and search goes on without it"
        fix = "It may have begun just now. If it stays so, `memtool serve --stop` ends it."
        yield Check("service", NOTE, sentence, fix)
        return
    size = f", {memory / 1e6:.0f} MB" if memory else ""
    yield Check("service", OK, f"process {pid}{size}, asked for the last time {idle} s ago: {status.get('parts')}")


def schedule_checks(work: Workspace) -> Iterator[Check]:
    """Say whether the week is consolidated; the system is asked only about a schedule that was installed."""
    kind, run = kept_schedule(work), read_run(work)
    if run and not run.is_done:
        sentence = f"the consolidation of {run.week} failed at {run.at[:16]}: {run.said}"
        yield Check("schedule", BROKEN, sentence, "Run `memtool consolidate --week last` and see what it says.")
    elif kind and not is_in_force(work, kind):
        yield Check(
            "schedule", NOTE, f"{kind} no longer knows what was set up", "Run `memtool schedule install` again."
        )
    elif kind or run:
        last = f"the last run was of {run.week} at {run.at[:16]}" if run else "nothing was run yet"
        yield Check("schedule", OK, f"{f'installed for {kind}' if kind else 'none is installed'}; {last}")
    else:
        yield Check("schedule", OK, "none; `memtool schedule install` consolidates each week")
    for lost in find_lost(work):
        sentence = f"{lost.name} consolidates '{lost.vault}', which is gone"
        yield Check("schedule", NOTE, sentence, "`memtool doctor --fix` removes it.", partial(_removed, work, lost))


def _removed(work: Workspace, lost: Lost) -> str:
    remove_lost(work, lost)
    return f"removed the schedule {lost.name}"


def model_checks(work: Workspace, *, deep: bool) -> Iterator[Check]:
    """Say who writes, whether he can, and what that cost today; *deep* asks each model for one token."""
    providers = models_of(work.settings.llm)
    for name in providers:
        try:
            open_provider(name, work.settings.llm, work.settings.keys)
        except MemtoolError as error:
            yield Check("models", NOTE, f"{name} cannot be asked: {error}", error.hint)
            continue
        if deep:
            yield _asked(work, name)
        else:
            yield Check("models", OK, f"{name} can be asked; `memtool doctor --deep` does so")
    if not providers:
        yield Check("models", OK, "none: what is written is taken from the sessions themselves")
    yield _cost_check(work)


def _asked(work: Workspace, name: str) -> Check:
    """Ask the provider *name* for one token, which the ledger counts."""
    ledger = CallLog(work.vault, work.settings.llm.daily_tokens)
    settings = work.settings.llm._replace(writer=name, providers=())
    chain = Chain(settings, work.settings.keys, ledger, Clock(work.now))
    outcome = chain.complete(Request("Answer with one word.", "Say ok.", max_tokens=256), str, purpose="doctor")
    if outcome.answer is None:
        return Check("models", BROKEN, outcome.reasons[0], "Check its key, its address and its model.")
    answer = outcome.answer
    return Check("models", OK, f"{name} ({answer.model}) answered within {answer.seconds:.1f} s")


def _cost_check(work: Workspace) -> Check:
    today = work.now().date().isoformat()
    rows = [row for row in usage(work.vault) if row.day == today]
    tokens = sum(row.input_tokens + row.output_tokens for row in rows)
    cost = sum(row.cost_usd or 0.0 for row in rows)
    money = f", {cost:.4f} USD where the price is known" if any(row.cost_usd is not None for row in rows) else ""
    limit = work.settings.llm.daily_tokens
    return Check(
        "costs", OK, f"{tokens:,} tokens today{money}" + (f", of {limit:,} at most" if tokens and limit else "")
    )


def _told(entry: LogEntry) -> str:
    return f"{entry.at}, {entry.subject}: {entry.message}"
