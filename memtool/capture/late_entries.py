"""Entries of daily notes that a hook had no time to write: a line each in `.memtool/late-entries`, for the worker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from memtool.capture.daily_file import PATIENCE, change_daily, daily_ref
from memtool.errors import NotWritable
from memtool.vault.daily import DailyEntry, add_entries
from memtool.vault.layout import Vault
from memtool.vault.state import append_state, take_lines
from memtool.vault.uncommitted import note_uncommitted

_NAME = "late-entries"
_LARGEST = 262_144  # bytes; a file that is larger was not written by memtool
_MINUTE = re.compile(r"[0-2][0-9]:[0-5][0-9]")


def write_entries(
    vault: Vault, day: date, entries: Sequence[DailyEntry], *, language: str, patience: float = PATIENCE
) -> bool:
    """Write *entries* into the daily note of *day*; return whether they say something new.

    Raises:
        Busy, NoteChanged, NotWritable, BrokenVaultFile, OutsideVault: nothing was written.
    """
    return change_daily(vault, day, lambda text: add_entries(text, entries), language=language, patience=patience)


def leave_entry(vault: Vault, day: date, entry: DailyEntry) -> None:
    """Leave *entry* to the next worker.

    Raises:
        OSError: it cannot be written down.
    """
    append_state(_path(vault), json.dumps([day.isoformat(), *entry]).encode() + b"\n")


def write_late_entries(vault: Vault, *, language: str) -> None:
    """Write what hooks have left into the daily notes. Only the one worker does this.

    Raises:
        MemtoolError: something could not be written; it is all still there, and an entry written twice stands once.
    """
    try:
        for lines in take_lines(_path(vault), largest=_LARGEST):
            for day, entry in _entries(lines):
                note_uncommitted(vault, [daily_ref(vault, day)])
                write_entries(vault, day, [entry], language=language)
    except OSError as error:
        raise NotWritable(f"cannot write in '{vault.state_path}': {error.strerror}") from None


def _path(vault: Vault) -> Path:
    return vault.state_path / _NAME


def _entries(lines: Iterable[bytes]) -> Iterator[tuple[date, DailyEntry]]:
    for line in lines:
        with suppress(ValueError, RecursionError):
            yield from _parsed(json.loads(line))


def _parsed(fields: Any) -> Iterator[tuple[date, DailyEntry]]:  # noqa: ANN401  (anything may stand in a file)
    match fields:
        case [str(day), str(minute), str(project), [*files]] if _MINUTE.fullmatch(minute):
            entry = DailyEntry(minute, project, tuple(map(str, files)))
            "".join((project, *entry.files)).encode()  # half a character would be refused again and again
            yield date.fromisoformat(day), entry
