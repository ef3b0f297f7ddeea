"""Broken files as values, so that one of them does not hide the others."""

from __future__ import annotations

from typing import NamedTuple


class BrokenNote(NamedTuple):
    """A file that cannot be read as a note, or only in part: *text* is what can still be searched."""

    ref: str
    reason: str
    text: str = ""
