"""The health of work in the background: capture, the weekly run, models and their costs, who writes the notes."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest
from typing import NamedTuple

from memtool.capture import limits as capture_limits
from memtool.capture.log import NAME as LOG_NAME, LogEntry, read_problems
from memtool.capture.queue import Queue
from memtool.consolidate.week import SCHEDULE, read_kept, read_run
from memtool.doctor.check import BROKEN, NAMED, NOTE, OK, Check
from memtool.errors import MemtoolError
from memtool.llm import Request, models_of, open_provider, writer_of
from memtool.llm.call_log import CallLog, calls_of, usage
from memtool.llm.chain import Chain, Clock
from memtool.llm.writers import NOTES, USUAL_TOKENS
from memtool.recall.uses import fates_between, sums_of
from memtool.schedules import Lost, find_lost, is_in_force, remove_lost
from memtool.service_client import ask_again, is_at_work, service_place
from memtool.text.frontmatter import plain_fields, split_front_matter
from memtool.text.lines import counted
from memtool.vault.files import read_head
from memtool.vault.layout import Vault, find_state_folder, outer_folder
from memtool.vault.session_names import FOLDER
from memtool.vault.sources import last_removal, list_sources
from memtool.workspace import Workspace

_RULES = ("rules", "extractive")


def work_checks(work: Workspace, *, deep: bool) -> Iterator[Check]:
    """Give the findings about capture, given memories, kept transcripts, the weekly run and the models."""
    yield from capture_checks(work)
    yield from given_checks(work)
    yield from source_checks(work)
    yield from schedule_checks(work)
    yield from model_checks(work, deep=deep)


def capture_checks(work: Workspace) -> Iterator[Check]:
    """Give the findings about the queue, and about errors of hooks and of the worker in the last days."""
    vault = work.vault
    folders = [vault.state_path]
    with contextlib.suppress(MemtoolError):  # the checks of the index say it
        folders.append(outer_folder(vault.root, work.cache))
    now = work.now()
    errors, over = read_problems(vault, folders, now)
    see = f"See {' and '.join(str(folder / LOG_NAME) for folder in folders if (folder / LOG_NAME).exists())}."
    for entry in errors[-NAMED:]:
        yield Check("capture", BROKEN, _line_of(entry), see)
    if len(errors) > NAMED:
        yield Check("capture", BROKEN, f"and {counted(len(errors) - NAMED, 'more error')} in the last day")
    if over:
        problems = counted(len(over), "old or small problem")
        yield Check(
            "capture",
            NOTE,
            f"{problems} in the last {capture_limits.PROBLEM_DAYS} days; the last: {_line_of(over[-1])}",
            see,
        )
    queue = Queue(vault)
    for job in queue.parked()[:NAMED]:
        fix = "Try it again with `memtool capture --drain --now`."
        yield Check("capture", BROKEN, f"{queue.name_of(job, work.home)} was not captured: {job.reason}", fix)
    waiting = queue.waiting()
    # As long as hooks run, a worker starts within an hour.
    overdue = [job for job in waiting if now.timestamp() - max(job.queued_at, job.due_at) > 3600.0]
    if overdue:
        fix = "Run `memtool capture --drain` to see why."
        sessions = counted(len(overdue), "session has", "sessions have")
        yield Check("capture", BROKEN, f"{sessions} waited for more than an hour", fix)
    elif not errors:
        yield Check("capture", OK, f"no problems, {counted(len(waiting), 'session')} pending")


def given_checks(work: Workspace) -> Iterator[Check]:
    """Report how many memories reached the sessions of the last days, by the clients' transcripts."""
    today, sums = work.now().date(), None
    with contextlib.suppress(MemtoolError):  # the checks of the index say it
        if folder := find_state_folder(work.vault, work.cache):
            sums = sums_of(
                fates_between(folder, f"{today - dt.timedelta(days=capture_limits.PROBLEM_DAYS)}", f"{today}")
            )
    if sums is None or sums.arrived is None:
        return
    sentence = f"lines for the sessions of the last {capture_limits.PROBLEM_DAYS} days: {sums}"
    if sums.given >= 5 and not sums.arrived:
        fix = "Check the hooks in the client (`/hooks`), and the findings about them above."
        yield Check("given", BROKEN, f"{sentence}: the client drops memtool's answers", fix)
    else:
        yield Check("given", OK, sentence)


def source_checks(work: Workspace) -> Iterator[Check]:
    """Report how many sources of sessions are kept, their size, and when some were removed."""
    kept = list_sources(work.vault)
    if kept:
        size = f"{sum(one.size for one in kept) / (1 << 20):,.1f}"
        yield Check("transcripts", OK, f"{counted(len(kept), 'session')} kept with all turns, {size} MB")
    else:
        yield Check(
            "transcripts", OK, "no session is kept yet; `memtool import claude-code` imports those of this machine"
        )
    if removed := last_removal(work.vault):
        old = counted(removed.sessions, "old session")
        yield Check("transcripts", OK, f"{old} removed at {removed.at[:16]}, by `transcripts.max_mb` and `keep_days`")


def service_checks(work: Workspace) -> Iterator[Check]:
    """Report the parts of the vault's process, if one runs."""
    try:
        place = service_place(work.cache, work.vault.root)
    except MemtoolError:
        return  # the check of the index reports it
    if not is_at_work(place):
        return
    asked = (ask_again(place, {"ask": "status"}, patience=1.0) for _ in range(2))  # the machine may be busy
    status = next((answer for answer in asked if answer), None)
    try:
        pid, idle, memory = (int(status[name]) for name in ("pid", "idle", "memory")) if status else (0, 0, 0)
    except (LookupError, TypeError, ValueError, OverflowError):
        pid = 0
    if not pid or not status:
        sentence = "the service of this vault does not answer; search works without it"
        fix = "It may have just started. If this lasts, `memtool serve --stop` ends it."
        yield Check("service", NOTE, sentence, fix)
        return
    size = f", {memory / 1e6:.0f} MB" if memory else ""
    yield Check("service", OK, f"process {pid}{size}, last request {idle} s ago: {status.get('parts')}")


def schedule_checks(work: Workspace) -> Iterator[Check]:
    """Report whether the week is consolidated; the system is asked only about an installed schedule."""
    kind, run = read_kept(work, SCHEDULE), read_run(work)
    if run and not run.is_done:
        sentence = f"the consolidation of {run.week} failed at {run.at[:16]}: {run.said}"
        yield Check("schedule", BROKEN, sentence, "Run `memtool consolidate --week last` to see why.")
    elif kind and not is_in_force(work, kind):
        yield Check("schedule", NOTE, f"{kind} no longer has the schedule", "Run `memtool schedule install` again.")
    elif kind or run:
        last = f"the last run was of {run.week} at {run.at[:16]}" if run else "it has not run yet"
        yield Check("schedule", OK, f"{f'installed for {kind}' if kind else 'none is installed'}; {last}")
    else:
        yield Check("schedule", OK, "none; `memtool schedule install` consolidates each week")
    for lost in find_lost(work):
        sentence = f"{lost.name} consolidates '{lost.vault}', which does not exist"

        def mend(lost: Lost = lost) -> str:
            remove_lost(work, lost)
            return f"removed the schedule {lost.name}"

        yield Check("schedule", NOTE, sentence, "`memtool doctor --fix` removes it.", mend)


def model_checks(work: Workspace, *, deep: bool) -> Iterator[Check]:
    """Report the models, whether they can be called, and the cost of today; *deep* asks each for one token."""
    providers = models_of(work.settings.llm)
    for name in providers:
        try:
            open_provider(name, work.settings.llm, work.settings.keys)
        except MemtoolError as error:
            yield Check("models", NOTE, f"{name} cannot be called: {error}", error.hint)
            continue
        if deep:
            yield _asked(work, name)
        else:
            yield Check("models", OK, f"{name} is set up; `memtool doctor --deep` calls it")
    if not providers:
        yield Check("models", OK, "none: notes are written by rules, without a model")
    today = work.now().date().isoformat()
    rows = [row for row in usage(work.vault) if row.day == today]
    tokens = sum(row.input_tokens + row.output_tokens for row in rows)
    cost = sum(row.cost_usd or 0.0 for row in rows)
    money = f", {cost:.4f} USD where the price is known" if any(row.cost_usd is not None for row in rows) else ""
    limit = work.settings.llm.daily_tokens
    yield Check("costs", OK, f"{tokens:,} tokens today{money}" + (f", limit {limit:,}" if tokens and limit else ""))


def _asked(work: Workspace, name: str) -> Check:
    """Ask the provider *name* for one token; the log of calls counts it."""
    ledger = CallLog(work.vault, work.settings.llm.daily_tokens)
    settings = work.settings.llm._replace(writer=name, providers=())
    chain = Chain(settings, work.settings.keys, ledger, Clock(work.now))
    outcome = chain.complete(Request("Answer with one word.", "Say ok.", max_tokens=256), str, purpose="doctor")
    if outcome.answer is None:
        return Check("models", BROKEN, outcome.reasons[0], "Check its key, address and model.")
    answer = outcome.answer
    return Check("models", OK, f"{name} ({answer.model}) answered within {answer.seconds:.1f} s")


def _line_of(entry: LogEntry) -> str:
    return f"{entry.at}, {entry.subject}: {entry.message}"


class _WrittenNote(NamedTuple):
    """A note of a session: when it was written last, and by whom."""

    at: str
    writer: str


def writer_checks(work: Workspace, stamps: Mapping[str, tuple[int, int]]) -> Iterator[Check]:
    """Give a finding on who wrote the last notes among the files of the vault with these *stamps*."""
    refs = (ref for ref in stamps if ref.startswith(FOLDER) and ref.endswith(".md"))
    # Files by their time: a clone may have made all of them at once, so more are read than are named.
    newest = nlargest(500, refs, key=lambda ref: (stamps[ref][1], ref))
    last = sorted(_notes(work.vault, newest), reverse=True)[:10]
    if not last:
        return
    names = {**dict.fromkeys(_RULES, "memtool's rules"), "agent": "the agent itself", "": "an unknown writer"}
    counts = Counter(names.get(note.writer, note.writer) for note in last)
    by_whom = ", ".join(f"{count} by {name}" for name, count in counts.most_common())
    notes = counted(len(last), "session note") if len(last) > 1 else "session note"
    sentence = f"the last {notes}: {by_whom}"
    writer = writer_of(work.settings.llm)
    if not writer:
        how = "" if work.settings.llm.writer else "; `memtool config set llm.writer claude` lets a model write them"
        yield Check("writer", OK, sentence + how)
    elif last[0].writer not in (*_RULES, ""):
        yield Check("writer", OK, sentence)
    else:
        why, fix = _why_not(work)
        yield Check("writer", NOTE, f"{sentence}; {writer} did not write the last one: {why}", fix)


def _notes(vault: Vault, refs: Iterable[str]) -> Iterator[_WrittenNote]:
    for ref in refs:
        with contextlib.suppress(OSError):
            matter, _ = split_front_matter(read_head(vault.root / ref, 4_096).decode("utf-8", "replace"))
            fields = plain_fields(matter or "")
            if fields.get("type") == "session":
                yield _WrittenNote(fields.get("updated") or fields.get("date", ""), fields.get("writer", ""))


def _why_not(work: Workspace) -> tuple[str, str]:
    """Return why no model wrote, as far as the ledger of its calls knows, and what can be done."""
    calls, limit = calls_of(work.vault), work.settings.llm.daily_tokens
    today = work.now().date().isoformat()
    spent = sum(call.input_tokens + call.output_tokens for call in calls if call.at[:10] == today)
    if limit and spent + USUAL_TOKENS[0] > limit:
        why = f"{spent:,} of today's {limit:,} tokens are used"
        return why, "Raise it with `memtool config set llm.daily_tokens NUMBER`, or wait for tomorrow."
    names = models_of(work.settings.llm)
    last = next((call for call in reversed(calls) if call.purpose == NOTES and call.provider in names), None)
    if last is None:
        return "it was not called yet; that happens when a session ends", ""
    if last.failure:
        when = last.at[:16].replace("T", " ")
        return f"{last.provider} failed at {when}: {last.failure}", "`memtool doctor --deep` asks it for a word."
    return "it was not called for that session, or not yet; see `memtool capture --status`", ""
