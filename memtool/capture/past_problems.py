"""What went wrong where nobody was watching, and whether it still needs somebody's care."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memtool.capture.log import ERROR, NOTE, Entry, read_log
from memtool.capture.queue import Queue
from memtool.vault.layout import Vault
from memtool.vault.sessions import session_ref

DAYS = 7  # for which problems are spoken of
_FRESH = timedelta(days=1)  # later, a hook or a worker that still fails has said so again


class PastProblems(NamedTuple):
    """Entries of the log, oldest first: errors that may stand, and what is over or was only a warning."""

    standing: tuple[Entry, ...]
    over: tuple[Entry, ...]


def read_problems(vault: Vault, folders: Iterable[Path], now: datetime) -> PastProblems:
    """Return the problems of the last days in the logs in *folders*.

    An error is over after a day, and as soon as the session that a worker failed at has got its note.
    """
    queue = Queue(vault)
    left = {job.session_id for job in (*queue.waiting(), *queue.parked())}
    standing: list[Entry] = []
    over: list[Entry] = []
    for entry in read_log(folders, now - timedelta(days=DAYS)):
        if entry.level != NOTE:
            stands = entry.level == ERROR and _is_fresh(entry, now) and not _is_made_good(vault, entry, left)
            (standing if stands else over).append(entry)
    return PastProblems(tuple(standing), tuple(over))


def _is_fresh(entry: Entry, now: datetime) -> bool:
    return datetime.fromisoformat(entry.at) > now - _FRESH


def _is_made_good(vault: Vault, entry: Entry, left: set[str]) -> bool:
    """Whether *entry* is a worker's on a session that has its note by now, and that is not *left* on the queue."""
    session_id, colon, _ = entry.message.partition(": ")
    if entry.subject != "worker" or not colon or session_id in left:
        return False
    return (vault.root / session_ref(session_id)).is_file()
