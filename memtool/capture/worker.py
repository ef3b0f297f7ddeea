"""The worker: takes one job after the other from the queue, and ends when there is none.

One worker works on a vault at a time. What a worker has begun when it dies is due again a few minutes later.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from memtool.capture.log import ERROR, Entry
from memtool.capture.queue import SWEEP, Job, Queue, only_worker
from memtool.capture.session_capture import GOES_ON, Captured, Context, capture_session
from memtool.capture.sweep import find_uncaptured
from memtool.errors import MemtoolError
from memtool.vault import history
from memtool.vault.layout import Vault

Tell = Callable[[Entry], None]  # where problems go


class Drained(NamedTuple):
    """What a worker did: sessions captured, tries that failed, jobs given up; *busy* if another was at work."""

    captured: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    busy: bool = False


def drain(context: Context, tell: Tell) -> Drained:
    """Do every job that is due. Problems are told, and kept with their jobs; none is raised."""
    queue = Queue(context.vault)
    total = Drained()
    while True:
        with only_worker(context.vault) as alone:
            if not alone:
                return total._replace(busy=not total.captured)
            total = _work(context, queue, tell, total)
        if not _due(context, queue):  # a hook that came just before we let go has left its job to us
            return total


def _due(context: Context, queue: Queue) -> list[Job]:
    now = context.now().timestamp()
    return [job for job in queue.waiting() if job.due_at <= now]


def _work(context: Context, queue: Queue, tell: Tell, total: Drained) -> Drained:
    to_commit: list[Captured] = []
    while due := _due(context, queue):
        for job in due:
            begun = queue.begin(job, context.now().timestamp())
            if begun is None:
                continue
            total = _do(context, queue, begun, tell, total, to_commit)
    _commit(context.vault, to_commit, tell, context)
    return total


def _do(context: Context, queue: Queue, job: Job, tell: Tell, total: Drained, to_commit: list[Captured]) -> Drained:
    reason = ""
    try:
        if job.session_id == SWEEP:
            _sweep(context, queue, job)
        else:
            captured = capture_session(context, job)
            if captured.refs and job.event not in GOES_ON:
                to_commit.append(captured)
            if captured.may_pass:
                reason = captured.fallback
            elif captured.fallback:
                _tell(context, tell, f"{job.session_id}: its summary is extractive: {captured.fallback}")
    except MemtoolError as error:
        reason = str(error)
    except (OSError, RecursionError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        reason = f"a bug in memtool, please report it: {type(error).__name__}: {error}"
    if not reason:
        queue.finish(job)
        return total if job.session_id == SWEEP else total._replace(captured=(*total.captured, job.session_id))
    _tell(context, tell, f"{job.session_id}: {reason}")
    if queue.fail(job, reason, context.now().timestamp()):
        return total._replace(parked=(*total.parked, job.session_id))
    return total._replace(failed=(*total.failed, job.session_id))


def _sweep(context: Context, queue: Queue, job: Job) -> None:
    waiting = {job.besides, *(other.session_id for other in [*queue.waiting(), *queue.parked()])}
    for found in find_uncaptured(context.vault, Path(job.transcript), context.now().timestamp()):
        if found.session_id not in waiting:
            queue.put(found)


def _commit(vault: Vault, captured: Sequence[Captured], tell: Tell, context: Context) -> None:
    if not captured:
        return
    refs = list(dict.fromkeys(ref for one in captured for ref in one.refs))
    with contextlib.suppress(MemtoolError):
        if history.find_repository(vault.root) != vault.root:
            return
        try:
            with vault.lock("history"):  # others commit, too: `memtool remember`, say
                history.commit(vault.root, refs, _message(captured))
        except MemtoolError as error:
            _tell(context, tell, f"the notes were written, but not committed: {error}")


def _tell(context: Context, tell: Tell, sentence: str) -> None:
    tell(Entry(context.now().isoformat(timespec="seconds"), ERROR, "worker", sentence))


def _message(captured: Sequence[Captured]) -> str:
    if len({one.refs[0] for one in captured}) == 1:
        project = f"{captured[0].project}: " if captured[0].project else ""
        return f"capture: {project}{captured[0].topic or 'a session'}"[:100]
    return f"capture: {len({one.refs[0] for one in captured})} sessions"
