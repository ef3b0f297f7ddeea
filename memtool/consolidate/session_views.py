"""Session notes as consolidation reads them: each file is read and parsed once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from memtool.errors import MemtoolError
from memtool.memory.spans import Span
from memtool.text.frontmatter import plain_fields, split_front_matter
from memtool.text.lines import shortened
from memtool.vault.files import read_text
from memtool.vault.layout import Vault
from memtool.vault.sessions import Line, SessionNote, parse_session

FOLDER, ARCHIVE = "sessions", "archive/sessions"
_WIDEST_QUOTE = 160  # columns of the words that a fact stands on


class SessionView(NamedTuple):
    """A session note at *ref*."""

    ref: str
    note: SessionNote

    @property
    def id(self) -> str:
        """The id of the session: of a note that does not say it, its name."""
        return self.note.id or self.name

    @property
    def name(self) -> str:
        """The name of the file, without its suffix."""
        return self.ref.rpartition("/")[2].removesuffix(".md")

    @property
    def project(self) -> str:
        """The project that was worked on."""
        return self.note.project

    @property
    def date(self) -> str:
        """The day, and the minute where the note says it."""
        return self.note.updated or self.note.date

    @property
    def lines(self) -> tuple[Line, ...]:
        """The statements of the note."""
        return self.note.draft.lines

    def span(self, line: Line) -> Span:
        """Return where *line* is found again."""
        return Span(f"{self.id}#{line.turn}" if line.turn else self.id, line.text, f"{self.ref}:{line.number}")


def quotation(spans: tuple[Span, ...]) -> str:
    """Return the newest of *spans* for a reader, with its place."""
    newest = spans[-1]
    return f'"{shortened(newest.text, _WIDEST_QUOTE)}" ({newest.place or newest.source})'


def read_sessions(vault: Vault, *, folder: str = FOLDER) -> list[SessionView]:
    """Return the session notes in *folder*, oldest first; a note that cannot be read, or was put away, is left out."""
    found = [view for name in _names(vault, folder) if (view := _read(vault, f"{folder}/{name}"))]
    return sorted(found, key=lambda view: (view.date, view.id))


def _names(vault: Vault, folder: str) -> Iterator[str]:
    with suppress(OSError, MemtoolError):
        for name in os.listdir(vault.path(folder)):  # noqa: PTH208  (names only)
            if name.endswith(".md") and not name.startswith("."):
                yield name


def _read(vault: Vault, ref: str) -> SessionView | None:
    with suppress(OSError, MemtoolError):
        text, _ = read_text(vault.path(ref))
        fields = plain_fields(split_front_matter(text)[0] or "")
        if fields.get("status", "").casefold() != "archived":
            return SessionView(ref, parse_session(text))
    return None
