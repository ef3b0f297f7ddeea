"""An edited file becomes a line of the daily note. A hook runs this after every edit, so it must be quick."""

from __future__ import annotations

import os
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import NamedTuple

from memtool.capture.daily_file import HOOK_PATIENCE, daily_ref
from memtool.capture.late_entries import leave_entry, write_entries
from memtool.errors import Busy, NoteChanged
from memtool.vault.daily import DailyEntry
from memtool.vault.project_area import ProjectArea, shown_path
from memtool.vault.uncommitted import note_uncommitted
from memtool.workspace import Workspace

_MACHINERY = frozenset({".git", "node_modules", "__pycache__", ".venv"})


class Edit(NamedTuple):
    """A file that an agent wrote, by its absolute path, and the folder in which the agent works."""

    file: str
    cwd: str
    at: datetime


def note_edit(work: Workspace, edit: Edit) -> bool:
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
        is_new = write_entries(work.vault, day, [entry], language=work.language, patience=HOOK_PATIENCE)
    except (Busy, NoteChanged):
        leave_entry(work.vault, day, entry)
        return True
    if is_new:
        note_uncommitted(work.vault, [daily_ref(work.vault, day)])
    return is_new


def edit_entry(work: Workspace, area: ProjectArea, edit: Edit) -> DailyEntry:
    """Return *edit* as an entry of its daily note."""
    name = _redacted(shown_path(edit.file, area.root, work.home), work)
    return DailyEntry(edit.at.strftime("%H:%M"), area.name, (name,))


def is_ignored(file: str, area: ProjectArea, work: Workspace) -> bool:
    """Whether *file* lies in the vault, among the client's own files or those of machines, or is to be ignored."""
    path = PurePath(file)
    own = (work.vault.root, work.client_folder)
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
