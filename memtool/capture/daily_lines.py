"""Lines of the daily note, written while others change it too: an edit is one as soon as it happens.

A hook runs this after every edit, so it must be quick. What it has no time to write is left to the worker, a line each
in `.memtool/late-entries`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Any

from memtool.capture import limits
from memtool.errors import Busy, NoteChanged
from memtool.history.uncommitted import note_uncommitted
from memtool.named_tuple import NamedTuple
from memtool.vault import files
from memtool.vault.daily import DailyEntry, add_entries, listed_entries, listed_sessions, names_of, render_daily
from memtool.vault.layout import Vault
from memtool.vault.project_area import ProjectArea, shown_path
from memtool.vault.state import append_state, take_lines, writing_in
from memtool.workspace import Workspace

_NAME = "late-entries"
_MINUTE = re.compile(r"[0-2][0-9]:[0-5][0-9]")
_MACHINERY = frozenset({".git", "node_modules", "__pycache__", ".venv"})


def daily_ref(vault: Vault, day: date) -> str:
    """Return the path of the daily note of *day*; beside the user's own, where a journal of theirs has that name."""
    first, second = (f"{vault.daily}/{name}" for name in names_of(day))
    return first if is_ours(vault, first) else second


def change_daily(
    vault: Vault, day: date, change: Callable[[str], str], *, language: str, patience: float = limits.LOCK_SECONDS
) -> bool:
    """Let *change* turn the text of the daily note of *day* into its new one; return whether it differs.

    Raises:
        Busy, NoteChanged, NotWritable, BrokenVaultFile, OutsideVault: nothing was written.
    """
    path = vault.path(daily_ref(vault, day))

    def changed(text: str | None) -> str | None:
        before = render_daily(day, language=language) if text is None else text
        after = change(before)
        return text if after == before else after

    with vault.lock("daily", timeout=patience):
        return files.change(path, changed)


def is_ours(vault: Vault, ref: str) -> bool:
    """Return whether a note that memtool writes stands at *ref*, or nothing yet: it has the type, or lines of ours."""
    try:
        head = files.read_head(vault.path(ref), limits.TEXT).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):  # whoever writes there will say it
        return True
    return (
        not head.strip()
        or re.search(r"(?m)^type:\s*[\"']?daily\b", head) is not None
        or bool(listed_entries(head) or listed_sessions(head))
    )


def write_entries(
    vault: Vault, day: date, entries: Sequence[DailyEntry], *, language: str, patience: float = limits.LOCK_SECONDS
) -> bool:
    """Write *entries* into the daily note of *day*, which is noted before; return whether they say something new.

    Raises:
        Busy, NoteChanged, NotWritable, BrokenVaultFile, OutsideVault: nothing was written.
    """

    def added(text: str) -> str:
        after = add_entries(text, entries)
        if after != text:
            note_uncommitted(vault, [daily_ref(vault, day)])
        return after

    return change_daily(vault, day, added, language=language, patience=patience)


def _leave_entry(vault: Vault, day: date, entry: DailyEntry) -> None:
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
    with writing_in(vault.state_path):
        for lines in take_lines(_path(vault), largest=limits.SMALL_FILE_BYTES):
            for day, entry in _entries(lines):
                write_entries(vault, day, [entry], language=language)


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


class Edit(NamedTuple):
    """A file that an agent wrote, by its absolute path, and the folder in which the agent works."""

    file: str
    cwd: str
    at: datetime


def write_edit(work: Workspace, edit: Edit) -> bool:
    """Write *edit* into the daily note of its day, unless it is to be left out; return whether it says something new.

    The note is committed when a session ends. While somebody else holds it, the edit is left to the worker.

    Raises:
        MemtoolError, OSError: the note could not be written.
    """
    folder = Path(edit.cwd or PurePath(edit.file).parent)
    area = work.area(folder)
    if is_ignored(edit.file, area, work):
        return False
    day, entry = edit.at.date(), edit_entry(work, area, edit)
    try:
        return write_entries(work.vault, day, [entry], language=work.language, patience=limits.HOOK_LOCK_SECONDS)
    except (Busy, NoteChanged):
        _leave_entry(work.vault, day, entry)
        return True


def edit_entry(work: Workspace, area: ProjectArea, edit: Edit) -> DailyEntry:
    """Return *edit* as an entry of its daily note."""
    name = _redacted(shown_path(edit.file, area.root, work.home), work)
    return DailyEntry(edit.at.strftime("%H:%M"), area.name, (name,))


def is_ignored(file: str, area: ProjectArea, work: Workspace) -> bool:
    """Return whether *file* lies in the vault, among the client's files or those of machines, or is ignored."""
    path = PurePath(file)
    own = (work.vault.root, work.claude_folder)
    if not file or any(path.is_relative_to(folder) for folder in own) or not _MACHINERY.isdisjoint(path.parts):
        return True
    if Path(os.path.realpath(file)).is_relative_to(work.vault.root):  # `resolve` raises for a loop of symlinks
        return True
    names = (file, shown_path(file, area.root, work.home), path.name)
    return any(fnmatch(name, pattern) for pattern in work.settings.capture.ignore for name in names)


def _redacted(name: str, work: Workspace) -> str:
    """Return *name* without secrets. Looking for them costs more than all the rest, and few names are that long."""
    longest = max(map(len, name.replace("-", "/").replace("_", "/").replace(".", "/").split("/")))
    return work.redact(name) if longest >= 16 or "=" in name or "@" in name else name
