"""The log of what went wrong where nobody was watching: in hooks and in the worker. `memtool doctor` reads it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

NAME = "hook.log"
ERROR, NOTE = "error", "note"  # a note is nothing to mend: a session that left no transcript, say

_LARGEST = 262_144  # bytes; then the log becomes `hook.log.1`, in place of the older one
_LONGEST = 500  # characters of a message


class Entry(NamedTuple):
    """One line of the log. *at* is ISO 8601 with its zone; *subject* is the event, or `worker`."""

    at: str
    level: str
    subject: str
    message: str


def log(folders: Iterable[Path], entry: Entry) -> None:
    """Append *entry* to the log in the first of *folders* that takes it. If none does, nobody can be told."""
    text = " ".join(entry.message.split())[:_LONGEST]
    line = f"{entry.at} {entry.level} {_word(entry.subject)} {text}\n"
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
                lines = (folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
                entries += [entry for line in lines if (entry := _entry(line, since))]
    return sorted(entries)


def _append(path: Path, line: bytes) -> None:
    if path.is_symlink():
        raise OSError  # a vault may not choose where memtool writes
    with suppress(FileNotFoundError):
        if path.stat().st_size > _LARGEST:
            os.replace(path, path.with_name(f"{NAME}.1"))
    # One write of one line to a file opened for appending: two processes never mix theirs.
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def _entry(line: str, since: datetime) -> Entry | None:
    at, level, subject, message = (*line.split(" ", 3), "", "", "", "")[:4]
    try:
        is_recent = datetime.fromisoformat(at) >= since
    except (ValueError, TypeError):
        return None
    return Entry(at, level, subject, message) if is_recent else None


def _word(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "-_")[:40] or "-"
