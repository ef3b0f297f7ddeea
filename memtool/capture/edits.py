"""An edited file becomes a line of the daily note. A hook runs this after every edit, so it must be quick."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import NamedTuple

from memtool.capture.daily_file import HOOK_PATIENCE, daily_ref
from memtool.capture.late_entries import leave_entry, write_entries
from memtool.errors import Busy, NoteChanged
from memtool.vault.daily import DailyEntry
from memtool.vault.layout import Vault
from memtool.vault.project_area import ProjectArea, find_area, shown_path
from memtool.vault.uncommitted import note_uncommitted

_MACHINERY = frozenset({".git", "node_modules", "__pycache__", ".venv"})


class Edit(NamedTuple):
    """A file that an agent wrote, by its absolute path, and the folder in which the agent works."""

    file: str
    cwd: str
    at: datetime


class Surroundings(NamedTuple):
    """What decides whether and how an edit is written down.

    Args:
        vault: gets the line.
        home: the user's home folder.
        client_folder: the client's own files, which are nobody's work.
        ignore: glob patterns of files to leave out.
        language: of the daily note.
        redact: removes secrets from a text.
    """

    vault: Vault
    home: Path
    client_folder: Path
    ignore: tuple[str, ...]
    language: str
    redact: Callable[[str], str]


def note_edit(around: Surroundings, edit: Edit) -> bool:
    """Write *edit* into the daily note of its day, unless it is to be left out; return whether it says something new.

    The note is committed when a session ends. While somebody else holds it, the edit is left to the worker.

    Raises:
        MemtoolError, OSError: the note could not be written.
    """
    now = edit.at.timestamp()
    folder = Path(edit.cwd or PurePath(edit.file).parent)
    area = find_area(around.vault, folder, around.home, now)
    if is_ignored(edit.file, area, around):
        return False
    day, entry = edit.at.date(), edit_entry(around, area, edit)
    try:
        is_new = write_entries(around.vault, day, [entry], language=around.language, patience=HOOK_PATIENCE)
    except (Busy, NoteChanged):
        leave_entry(around.vault, day, entry)
        return True
    if is_new:
        note_uncommitted(around.vault, [daily_ref(around.vault, day)])
    return is_new


def edit_entry(around: Surroundings, area: ProjectArea, edit: Edit) -> DailyEntry:
    """Return *edit* as an entry of its daily note."""
    name = _redacted(shown_path(edit.file, area.root, around.home), around.redact)
    return DailyEntry(edit.at.strftime("%H:%M"), area.name, (name,))


def is_ignored(file: str, area: ProjectArea, around: Surroundings) -> bool:
    """Whether *file* lies in the vault, among the client's own files or those of machines, or is to be ignored."""
    path = PurePath(file)
    own = (around.vault.root, around.client_folder)
    if not file or any(path.is_relative_to(folder) for folder in own) or not _MACHINERY.isdisjoint(path.parts):
        return True
    if Path(os.path.realpath(file)).is_relative_to(around.vault.root):  # `resolve` raises for a loop of symlinks
        return True
    names = (file, shown_path(file, area.root, around.home), path.name)
    return any(fnmatch(name, pattern) for pattern in around.ignore for name in names)


def _redacted(name: str, redact: Callable[[str], str]) -> str:
    """Return *name* without secrets. Looking for them costs more than all the rest, and few names are that long."""
    longest = max(map(len, name.replace("-", "/").replace("_", "/").replace(".", "/").split("/")))
    return redact(name) if longest >= 16 or "=" in name or "@" in name else name
