"""Problems of the hooks and the worker, from their logs, without those that have been mended since."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memtool.capture.log import ERROR, NOTE, Entry, read_log
from memtool.capture.queue import Queue
from memtool.capture.records import record_path
from memtool.vault.layout import Vault
from memtool.vault.sessions import session_ref

DAYS = 7  # for which problems are spoken of
ROUTES = "routes"  # the subject of what a worker says once a day only, so that its silence means nothing

_SAME_RUN = 60.0  # seconds; a worker complains after it has captured what it can
_FRESH = timedelta(days=1)  # later, a hook or a worker that still fails has said so again


class PastProblems(NamedTuple):
    """Entries of the log, oldest first: errors that may stand, and what is over or was only a warning."""

    standing: tuple[Entry, ...]
    over: tuple[Entry, ...]


def read_problems(vault: Vault, folders: Iterable[Path], now: datetime) -> PastProblems:
    """Return the problems of the last days in the logs in *folders*.

    An error is over after a day, and as soon as the session that a worker failed at has got its note. One that names
    no session is over when a session was captured since: whatever fails still has said so again.
    """
    queue = Queue(vault)
    left = {job.session_id for job in (*queue.waiting(), *queue.parked())}
    captured_at = _captured_at(vault)
    standing: list[Entry] = []
    over: list[Entry] = []
    for entry in read_log(folders, now - timedelta(days=DAYS)):
        if entry.level != NOTE:
            is_fresh = entry.level == ERROR and datetime.fromisoformat(entry.at) > now - _FRESH
            stands = is_fresh and not _is_made_good(vault, entry, left, captured_at)
            (standing if stands else over).append(entry)
    return PastProblems(tuple(standing), tuple(over))


def _is_made_good(vault: Vault, entry: Entry, left: set[str], captured_at: float) -> bool:
    """Return whether *entry* tells of what has worked since. A session that is *left* on the queue has not."""
    session_id, colon, _ = entry.message.partition(": ")
    if entry.subject == "worker" and colon and " " not in session_id:
        return session_id not in left and (vault.root / session_ref(session_id)).is_file()
    return entry.subject != ROUTES and datetime.fromisoformat(entry.at).timestamp() + _SAME_RUN < captured_at


def _captured_at(vault: Vault) -> float:
    """Return when a session was captured last, in seconds since 1970."""
    times = [0.0]
    with suppress(OSError), os.scandir(record_path(vault, "x").parent) as entries:
        times += [entry.stat().st_mtime for entry in entries]
    return max(times)
