"""The worker: takes one job after the other from the queue, and ends when there is none.

One worker works on a vault at a time. What a worker has begun when it dies is due again a few minutes later. A job is
a session, a sweep, or a long note of the vault, which gets a summary by a model in one line of its front matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memtool.capture.captured import Captured, find_uncaptured
from memtool.capture.daily_lines import write_late_entries
from memtool.capture.log import ERROR, WARNING, LogEntry
from memtool.capture.note_place import keep_what_is_by_hand
from memtool.capture.queue import SWEEP, Job, Queue, forget_start, only_worker
from memtool.capture.saved import NOTE, summarise_note
from memtool.capture.session_capture import GOES_ON, capture_session
from memtool.clients import CLAUDE_CODE, title_of
from memtool.errors import MemtoolError, sentence_of
from memtool.history.one_commit import commit_noted
from memtool.vault.sources import trim_sources
from memtool.workspace import Workspace

Tell = Callable[[LogEntry], None]  # where problems go


class Drained(NamedTuple):
    """The work of one worker: sessions captured, those that held nothing to note, tries that failed, jobs given up.

    *busy* says that another was at work.
    """

    captured: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    busy: bool = False
    empty: tuple[str, ...] = ()


def drain(work: Workspace, tell: Tell, ended: Callable[[Job], None] = lambda _: None) -> Drained:
    """Do every job that is due. Problems are told, and kept with their jobs; none is raised.

    *ended* is called with the job of each session that has ended, once it is captured.
    """
    return _Worker(work, tell, ended).drain()


class _Worker:
    def __init__(self, work: Workspace, tell: Tell, ended: Callable[[Job], None]) -> None:
        self._workspace = work
        self._tell_entry = tell
        self._tell_end = ended
        self._queue = Queue(work.vault)
        self._done = Drained()
        self._captured: list[Captured] = []
        self._has_ended = False  # a session has, whatever became of it
        self._empty: set[str] = set()  # sessions that held nothing to note
        self._missed: set[str] = set()  # sessions whose jobs were not as they had been listed
        self._out_of_reach: set[str] = set()  # sessions whose jobs cannot be begun now

    def drain(self) -> Drained:
        while True:
            with only_worker(self._workspace.vault) as alone:
                if not alone:
                    return self._done._replace(busy=self._done == Drained())
                forget_start(self._workspace.vault)
                self._do_all_due()
            if not self._due():  # a hook that came just before we let go has left its job to us
                return self._done

    def _do_all_due(self) -> None:
        while due := self._due():
            for job in due:
                self._try(job)
        try:
            write_late_entries(self._workspace.vault, language=self._workspace.language)
        except MemtoolError as error:
            self._tell(f"edits are missing in the daily notes: {error}")
        self._commit()

    def _due(self) -> list[Job]:
        now = self._now()
        jobs = self._queue.waiting()
        return [job for job in jobs if job.due_at <= now and job.session_id not in self._out_of_reach]

    def _try(self, job: Job) -> None:
        try:
            begun = self._queue.begin(job, self._now())
        except MemtoolError as error:
            self._out_of_reach.add(job.session_id)
            self._tell(f"{job.session_id}: {error}")
            return
        if begun is None:  # it was written anew meanwhile; who finds that twice does not try for ever
            (self._out_of_reach if job.session_id in self._missed else self._missed).add(job.session_id)
            return
        self._has_ended |= job.session_id != SWEEP and job.event not in GOES_ON
        reason = self._do(begun)
        try:
            self._end(begun, reason)
        except MemtoolError as error:  # it stays begun, and is due again in a while
            self._tell(f"{job.session_id}: {error}")

    def _do(self, job: Job) -> str:
        """Do *job* and return why it failed; empty if it did not."""
        try:
            return self._sweep(job) if job.session_id == SWEEP else self._capture(job)
        except Exception as error:  # noqa: BLE001  (a bug in one session must not keep the others waiting)
            return sentence_of(error)

    def _end(self, job: Job, reason: str) -> None:
        done = self._done
        if not reason:
            self._queue.finish(job)
            if job.session_id in self._empty:
                self._done = done._replace(empty=(*done.empty, job.session_id))
            elif job.session_id != SWEEP:
                self._done = done._replace(captured=(*done.captured, job.session_id))
            return
        self._tell(f"{job.session_id}: {reason}")
        if self._queue.fail(job, reason, self._now()):
            self._done = done._replace(parked=(*done.parked, job.session_id))
        else:
            self._done = done._replace(failed=(*done.failed, job.session_id))

    def _capture(self, job: Job) -> str:
        take = summarise_note if job.event == NOTE else capture_session
        captured = take(self._workspace, job)
        (self._empty.discard if captured.refs else self._empty.add)(job.session_id)
        if job.event not in (*GOES_ON, NOTE):
            self._tell_end(job)
        if captured.refs and job.event not in GOES_ON:
            self._captured.append(captured)
        if captured.retry_may_help:
            return captured.fallback
        if captured.fallback:
            self._tell(f"{job.session_id}: its summary is extractive: {captured.fallback}", WARNING)
        return ""

    def _sweep(self, job: Job) -> str:
        waiting = {job.besides, *(other.session_id for other in [*self._queue.waiting(), *self._queue.parked()])}
        for found in find_uncaptured(self._workspace.vault, Path(job.transcript), self._now(), job.client):
            if found.session_id not in waiting:
                self._queue.put(found)
        return ""

    def _commit(self) -> None:
        """Commit what was written, in hooks as well, once a session has ended: while it goes on its notes change."""
        if not self._has_ended:
            return
        try:
            vault = self._workspace.vault
            commit_noted(vault, _message(self._captured), before=partial(keep_what_is_by_hand, vault))
            trim_sources(vault, self._workspace.settings.transcripts, self._workspace.now())
        except MemtoolError as error:
            self._tell(f"the notes were written, but not committed: {error}")
        self._captured.clear()
        self._has_ended = False

    def _now(self) -> float:
        return self._workspace.now().timestamp()

    def _tell(self, sentence: str, level: str = ERROR) -> None:
        self._tell_entry(LogEntry(self._workspace.now().isoformat(timespec="seconds"), level, "worker", sentence))


def _message(captured: Sequence[Captured]) -> str:
    """Return the message of the commit: its subject, and below it each session that ended, with its note."""
    if not captured:
        return "capture: daily notes\n\nA session ended that left no note of its own."
    told = {one.refs[0]: one for one in captured}
    subject = f"capture: {_said(captured[-1])}"[:100] if len(told) == 1 else f"capture: {len(told)} sessions"
    return "\n".join([subject, "", *(f"- {_said(one, is_listed=True)[:200]} ({ref})" for ref, one in told.items())])


def _said(captured: Captured, *, is_listed: bool = False) -> str:
    """Return the project and the topic; of one that *is_listed* before that whose it was, if not Claude Code's."""
    project = f"{captured.project}: " if captured.project else ""
    client = f"({title_of(captured.client)}) " if is_listed and captured.client != CLAUDE_CODE else ""
    return f"{project}{client}{captured.topic or 'a session'}"
