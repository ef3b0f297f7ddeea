"""Session notes as consolidation reads them: their lines with roles, of the active part of the vault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from memtool.errors import MemtoolError
from memtool.vault.files import read_text
from memtool.vault.layout import Vault
from memtool.vault.note import Note, parse_note
from memtool.vault.old_sessions import OldNote, parse_session, session_title
from memtool.vault.session_lines import OldLine, lines_of

FOLDER = "sessions"


class SessionView(NamedTuple):
    """A session note. *date* is its day and, where the note says it, its minute."""

    id: str
    ref: str
    project: str
    date: str
    topic: str
    note: OldNote
    lines: tuple[OldLine, ...]
    text: str


def read_sessions(vault: Vault, *, archived: bool = False) -> list[SessionView]:
    """Return the session notes of *vault*, oldest first; a note that cannot be read is left out."""
    found = [view for ref in _refs(vault, archived=archived) if (view := _read(vault, ref))]
    return sorted(found, key=lambda view: (view.date, view.id))


def _refs(vault: Vault, *, archived: bool) -> Iterator[str]:
    for folder in (FOLDER, f"archive/{FOLDER}") if archived else (FOLDER,):
        with suppress(OSError, MemtoolError):
            for name in os.listdir(vault.path(folder)):  # noqa: PTH208  (names only)
                if name.endswith(".md") and not name.startswith("."):
                    yield f"{folder}/{name}"


def _read(vault: Vault, ref: str) -> SessionView | None:
    with suppress(OSError, MemtoolError):
        text, _ = read_text(vault.path(ref))
        note = parse_note(ref, text.encode("utf-8", "replace"))
        if isinstance(note, Note) and note.field("status").casefold() != "archived":
            said = parse_session(note.body)
            date = said.updated or note.field("date")
            stem = ref.rsplit("/", 1)[-1].removesuffix(".md")
            lines = tuple(lines_of(text))
            return SessionView(stem, ref, note.field("project"), date, session_title(note), said, lines, text)
    return None
