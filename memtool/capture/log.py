"""The log of what went wrong where nobody was watching: in hooks and in the worker. `memtool doctor` reads it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memtool.vault.state import append_state, read_state

NAME = "hook.log"
# A warning is not as good as it could be: a summary without a model, say. A note is nothing to mend at all.
ERROR, WARNING, NOTE = "error", "warning", "note"

_LARGEST = 262_144  # bytes; then it becomes `hook.log.1`, in place of the older one
_MOST_READ = 4 * _LARGEST
_LONGEST = 500  # characters of a message


class Entry(NamedTuple):
    """One line of the log. *at* is ISO 8601 with its zone; *subject* is the event, or `worker`."""

    at: str
    level: str
    subject: str
    message: str


def log(folders: Iterable[Path], entry: Entry) -> None:
    """Append *entry* to the log in the first of *folders* that takes it. If none does, nobody can be told."""
    line = f"{entry.at} {entry.level} {_word(entry.subject)} {_text(entry)}\n"
    for folder in folders:
        with suppress(OSError):
            _append(folder / NAME, line.encode("utf-8", "replace"))
            return


def read_log(folders: Iterable[Path], since: datetime) -> list[Entry]:
    """Return the entries of the logs in *folders* from *since* on, oldest first."""
    entries: list[Entry] = []
    for folder in folders:
        for name in (f"{NAME}.1", NAME):
            with suppress(OSError):
                lines = read_state(folder / name, largest=_MOST_READ).decode("utf-8", "replace").splitlines()
                entries += [entry for line in lines if (entry := _entry(line, since))]
    return sorted(entries)


def log_once_a_day(folders: Sequence[Path], entry: Entry) -> bool:
    """Append *entry*, unless the same was said within a day; return whether it was not."""
    day_ago = datetime.fromisoformat(entry.at) - timedelta(days=1)
    if any(said.message == _text(entry) for said in read_log(folders, day_ago)):
        return False
    log(folders, entry)
    return True


def _append(path: Path, line: bytes) -> None:
    append_state(path, line)
    with suppress(OSError):  # another process may have been quicker
        if path.stat().st_size > _LARGEST:
            os.replace(path, path.with_name(f"{NAME}.1"))


def _entry(line: str, since: datetime) -> Entry | None:
    at, level, subject, message = (*line.split(" ", 3), "", "", "", "")[:4]
    try:
        is_recent = datetime.fromisoformat(at) >= since
    except (ValueError, TypeError):
        return None
    return Entry(at, level, subject, message) if is_recent else None


def _text(entry: Entry) -> str:
    return " ".join(entry.message.split())[:_LONGEST]


def _word(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "-_")[:40] or "-"
