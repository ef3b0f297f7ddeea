"""A session's note as memtool wrote it last, which its kept source holds.

It shows what the owner has changed since, and from which turn each line came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from memtool.capture.source import as_fields, made_of
from memtool.vault.sessions import Draft, Line


class KeptNote(NamedTuple):
    """The content of a note, and how it was made.

    Args:
        writer: `rules`, or the provider of a model; empty if there is none yet.
        draft: what was written.
        text: of the note as it was written, before the owner's own changes.
        size: of the transcript that the writer has seen, in bytes.
        former: the name that its file had before it followed the title of a model's note.
    """

    writer: str = ""
    draft: Draft = Draft()
    text: str = ""
    size: int = 0
    former: str = ""


def kept_note(fields: Mapping[str, Any]) -> KeptNote:
    """Return the note that a source holds; an empty one if it holds none."""
    given = fields.get("draft")
    lines = given.get("lines") if isinstance(given, dict) else None
    made = [made_of(Line, line) for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []
    draft = made_of(Draft, {**given, "lines": tuple(filter(None, made))}) if isinstance(given, dict) else None
    note = made_of(KeptNote, {**fields, "draft": draft or Draft()})
    return note or KeptNote()


def fields_of(note: KeptNote) -> dict[str, Any]:
    """Return *note* as a source holds it."""
    fields: dict[str, Any] = as_fields(note)
    return fields
