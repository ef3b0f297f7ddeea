"""The log of what went wrong where nobody was watching: in hooks and in the worker.

`memtool doctor` reads it, without what has been mended since.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memtool.capture import limits
from memtool.errors import MemtoolError
from memtool.settings import user_cache_path
from memtool.vault.layout import Vault, outer_folder
from memtool.vault.state import append_state, make_state_folder, read_state

NAME = "hook.log"
# A warning is not as good as it could be: a summary without a model, say. A note is nothing to mend at all.
ERROR, WARNING, NOTE = "error", "warning", "note"

ROUTES = "routes"  # the subject of what a worker says once a day only, so that its silence means nothing


class LogEntry(NamedTuple):
    """One line of the log. *at* is ISO 8601 with its zone; *subject* is the event, or `worker`."""

    at: str
    level: str
    subject: str
    message: str


def log(folders: Iterable[Path], entry: LogEntry) -> None:
    """Append *entry* to the log in the first of *folders* that takes it. If none does, nobody can be told."""
    subject = "".join(char for char in entry.subject if char.isalnum() or char in "-_")[:40] or "-"
    line = f"{entry.at} {entry.level} {subject} {_text(entry)}\n"
    for folder in folders:
        path = folder / NAME
        with suppress(OSError):
            append_state(path, line.encode("utf-8", "replace"))
            with suppress(OSError):  # another process may have been quicker
                if path.stat().st_size > limits.SMALL_FILE_BYTES:
                    os.replace(path, path.with_name(f"{NAME}.1"))
            return


def log_for_vault(root: Path | None, environ: Mapping[str, str], entry: LogEntry) -> None:
    """Append *entry* to the log of the vault at *root*; where that cannot be written, to one in the user's cache."""
    folders: list[Path] = []
    if root:
        with suppress(OSError, MemtoolError):
            vault = Vault(root)
            vault.check_made()
            make_state_folder(vault.state_path)
            folders.append(vault.state_path)
    with suppress(OSError, MemtoolError):
        cache = user_cache_path(environ)
        outer = outer_folder(root, cache) if root else cache
        outer.mkdir(mode=0o700, parents=True, exist_ok=True)
        folders.append(outer)
    log(folders, entry)


def read_log(folders: Iterable[Path], since: datetime) -> list[LogEntry]:
    """Return the entries of the logs in *folders* from *since* on, oldest first."""
    entries: list[LogEntry] = []
    for folder in folders:
        for name in (f"{NAME}.1", NAME):
            with suppress(OSError):
                content = read_state(folder / name, largest=4 * limits.SMALL_FILE_BYTES)
                lines = content.decode("utf-8", "replace").splitlines()
                entries += [entry for line in lines if (entry := _entry(line, since))]
    return sorted(entries)


def log_once_a_day(folders: Sequence[Path], entry: LogEntry) -> bool:
    """Append *entry*, unless the same was said within a day; return whether it was not."""
    day_ago = datetime.fromisoformat(entry.at) - timedelta(days=1)
    if any(said.message == _text(entry) for said in read_log(folders, day_ago)):
        return False
    log(folders, entry)
    return True


def _entry(line: str, since: datetime) -> LogEntry | None:
    at, level, subject, message = (*line.split(" ", 3), "", "", "", "")[:4]
    try:
        is_recent = datetime.fromisoformat(at) >= since
    except (ValueError, TypeError):
        return None
    return LogEntry(at, level, subject, message) if is_recent else None


def _text(entry: LogEntry) -> str:
    return " ".join(entry.message.split())[:500]


class PastProblems(NamedTuple):
    """Entries of the log, oldest first: errors that may stand, and what is old or was only a warning."""

    standing: tuple[LogEntry, ...]
    over: tuple[LogEntry, ...]


def read_problems(vault: Vault, folders: Iterable[Path], now: datetime) -> PastProblems:
    """Return the problems of the last days in the logs in *folders*.

    An error is over after a day. What has worked since is forgotten: the session that a worker failed at has its note,
    the vault that was missing is there. An error that names no session is forgotten when a session was captured since:
    whatever fails still has said so again.
    """
    from memtool.capture.captured import record_path  # not for hooks, which only log
    from memtool.capture.queue import Queue

    queue = Queue(vault)
    left = {job.session_id for job in (*queue.waiting(), *queue.parked())}
    captured_at = 0.0  # when a session was captured last
    with suppress(OSError), os.scandir(record_path(vault, "x").parent) as records:
        captured_at = max((each.stat().st_mtime for each in records), default=0.0)
    standing: list[LogEntry] = []
    over: list[LogEntry] = []
    for entry in read_log(folders, now - timedelta(days=limits.PROBLEM_DAYS)):
        if entry.level == NOTE or (entry.level == ERROR and _is_resolved(vault, entry, left, captured_at)):
            continue
        is_fresh = entry.level == ERROR and datetime.fromisoformat(entry.at) > now - timedelta(days=1)
        (standing if is_fresh else over).append(entry)
    return PastProblems(tuple(standing), tuple(over))


def _is_resolved(vault: Vault, entry: LogEntry, left: set[str], captured_at: float) -> bool:
    """Return whether what *entry* reports has worked since. A session that is *left* on the queue has not."""
    # The sentences of VaultNotFound and NotAVault, as `memtool.vault.layout` writes them.
    if entry.message.startswith("there is no vault at ") or "' is no vault: " in entry.message:
        return vault.settings_path.is_file()
    session_id, colon, _ = entry.message.partition(": ")
    if entry.subject == "worker" and colon and " " not in session_id:
        from memtool.vault.session_names import note_of

        return session_id not in left and (vault.root / note_of(vault, session_id)).is_file()
    ended_at = datetime.fromisoformat(entry.at).timestamp() + 60.0  # a worker complains after it has captured
    return entry.subject != ROUTES and ended_at < captured_at
