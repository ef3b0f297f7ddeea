"""The durable queue: one small file in `.memtool/queue/` for each session that waits to be captured.

    put      a hook writes the session's file in `new/` over the older one, if there is one: the newest wins
    begin    a worker takes it out of `new/` and notes the try; should the worker die, it is due again after a lease
    finish   the file goes; one that came to `new/` meanwhile stays
    fail     it waits for the next try; after the last one it is parked, with the reason

A try is noted before it is made, so that a job which kills its worker is given up as well. Only who takes jobs holds
the lock: a hook has no time to wait, and one rename in a folder that nobody else writes needs none.

The worker is started in the background, so that a hook returns at once and nothing runs for longer than it must.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from memtool.capture import limits
from memtool.errors import Busy, OutsideVault
from memtool.named_tuple import NamedTuple
from memtool.processes import start_command
from memtool.vault.files import read_content
from memtool.vault.layout import Vault, session_name
from memtool.vault.state import make_state_folder, read_record, write_state, writing_in

PAUSES = (60.0, 600.0)  # seconds between the tries of a job that failed
TRIES = len(PAUSES) + 1

SWEEP = "sweep"  # the id of the job that looks for sessions nobody captured


class Job(NamedTuple):
    """A session to be captured, or a sweep. Times are seconds since 1970.

    Args:
        session_id: the client's name for the session.
        transcript: the path of its transcript; for a sweep, of the folder that holds the projects' folders.
        cwd: the folder in which the client works.
        event: what asked for it, such as `SessionEnd`.
        said: the last answer, redacted: the transcript may lag behind.
        compaction: the client's own summary, redacted, for the same reason.
        besides: of a sweep, the session that has just begun and is not to be looked at.
        queued_at, due_at: when it was put here, and before which time it is not to be tried.
        tries: how often it was begun.
        reason: why the last try failed.
        client: whose session it is, or whose a sweep looks for; empty for Claude Code.
        is_parked: whether it was given up.
    """

    session_id: str = ""
    transcript: str = ""
    cwd: str = ""
    event: str = ""
    said: str = ""
    compaction: str = ""
    besides: str = ""
    queued_at: float = 0.0
    due_at: float = 0.0
    tries: int = 0
    reason: str = ""
    client: str = ""
    is_parked: bool = False


class Queue(NamedTuple):
    """The queue of *vault*."""

    vault: Vault

    @property
    def folder(self) -> Path:
        """The folder of the jobs that a worker has begun."""
        return self.vault.state_path / "queue"

    @property
    def new_folder(self) -> Path:
        """The folder of the jobs that no worker has begun."""
        return self.folder / "new"

    def put(self, job: Job) -> None:
        """Put *job* in place of an older one of the same session, whoever holds the queue's lock.

        Raises:
            NotWritable: the vault's state cannot be written.
        """
        before = _read(self._new_path(job)) or _read(self._path(job))
        if before and not job.compaction:  # the transcript may still lag behind it
            job = job._replace(compaction=before.compaction)
        with writing_in(self.folder):
            _write(self._new_path(job), job)

    def waiting(self) -> list[Job]:
        """Return the jobs that are to be done, oldest first."""
        return [job for job in self._jobs() if not job.is_parked]

    def parked(self) -> list[Job]:
        """Return the jobs that were given up, oldest first."""
        return [job for job in self._jobs() if job.is_parked]

    def name_of(self, job: Job, home: Path) -> str:
        """Return *job* in a person's words: the day and title of its note, else its folder, else the session's id."""
        if job.session_id == SWEEP:
            return "looking for sessions that were not captured"
        from memtool.vault.note import Note, parse_note
        from memtool.vault.project_area import shown_path
        from memtool.vault.session_names import note_of
        from memtool.vault.sessions import session_title

        ref = note_of(self.vault, job.session_id)
        with suppress(OSError, OutsideVault):
            note = parse_note(ref, read_content(self.vault.path(ref), largest=limits.BLOCK_BYTES))
            if isinstance(note, Note):
                return " ".join(filter(None, [note.field("date")[:10], session_title(note)]))
        return f"a session in {shown_path(job.cwd, None, home)}" if job.cwd else job.session_id

    def begin(self, job: Job, now: float) -> Job | None:
        """Note that *job* is tried, and return it as it stands now; None if it was written anew, or is gone."""
        with self._lock():
            with suppress(FileNotFoundError):
                os.replace(self._new_path(job), self._path(job))
            if _read(self._path(job)) != job:
                return None
            begun = job._replace(tries=job.tries + 1, due_at=now + limits.LEASE_SECONDS)
            _write(self._path(job), begun)
            return begun

    def finish(self, job: Job) -> None:
        """Remove *job*, unless it was put here anew since it was begun."""
        with self._lock():
            if _read(self._path(job)) == job:
                self._path(job).unlink(missing_ok=True)

    def fail(self, job: Job, reason: str, now: float) -> bool:
        """Let *job* wait for its next try, or park it after the last one; return whether it was parked."""
        with self._lock():
            if _read(self._path(job)) != job or self._new_path(job).exists():
                return False
            is_last = job.tries >= TRIES
            due_at = job.due_at if is_last else now + PAUSES[job.tries - 1]
            _write(self._path(job), job._replace(due_at=due_at, reason=reason, is_parked=is_last))
            return is_last

    def revive(self) -> None:
        """Make every job due at once, those that were parked as well, with all tries before them."""
        with self._lock():
            for job in self._jobs():
                _write(self._path(job), job._replace(due_at=0.0, tries=0, is_parked=False))

    def _jobs(self) -> list[Job]:
        """Return all jobs, oldest first; of two for one session the one that no worker has begun."""
        paths = (path for folder in (self.folder, self.new_folder) for path in folder.glob("*.json"))
        # A job under another name is a copy made by a synchronised folder, or forged: no worker could begin it.
        found = {job.session_id: job for path in paths if (job := _read(path)) and path.name == _name(job)}
        return sorted(found.values(), key=lambda job: (job.queued_at, job.session_id))

    def _path(self, job: Job) -> Path:
        return self.folder / _name(job)

    def _new_path(self, job: Job) -> Path:
        return self.new_folder / _name(job)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        with writing_in(self.folder):
            make_state_folder(self.folder)
            with self.vault.lock("queue", timeout=limits.LOCK_SECONDS):
                yield


@contextmanager
def only_worker(vault: Vault, patience: float = limits.WORKER_LOCK_SECONDS) -> Iterator[bool]:
    """Be the one worker of *vault* for the length of a `with` block; gives False if there is another.

    A worker waits a moment for the lock: it may have been taken by a hook that will find this worker about to start,
    start no other, and leave its job to it.
    """
    with ExitStack() as held:
        alone = False
        with suppress(Busy):
            held.enter_context(vault.lock("worker", timeout=patience))
            alone = True
        yield alone


def _name(job: Job) -> str:
    return f"{session_name(job.session_id)}.json"


def _write(path: Path, job: Job) -> None:
    make_state_folder(path.parent)
    write_state(path, json.dumps(job._asdict()).encode(), durable=True)


def _read(path: Path) -> Job | None:
    """Return the job at *path*; None for what memtool did not write."""
    return read_record(path, Job(), largest=limits.BLOCK_BYTES)


def start_worker(vault: Vault, environ: Mapping[str, str]) -> bool:
    """Start a worker that outlives us, unless one is at work or about to be; return whether it was started.

    A worker looks at the queue once more after it has let go of its lock, so that no job is left behind.
    """
    with only_worker(vault, patience=0.0) as alone:
        started_at = 0.0
        with suppress(OSError):
            started_at = _start_path(vault).stat().st_mtime
        # One that was started a moment ago has yet to look, and will see every job.
        if not alone or abs(time.time() - started_at) < limits.WORKER_START_SECONDS:
            return False
        _start_path(vault).touch(mode=0o600)
    start_command(vault.root, environ, "capture", "--drain", yielding=True)
    return True


def forget_start(vault: Vault) -> None:
    """Say that the worker that was started is at work now: from here on its lock tells."""
    with suppress(OSError):
        _start_path(vault).unlink()


def _start_path(vault: Vault) -> Path:
    return vault.state_path / "locks" / "worker.starting"
