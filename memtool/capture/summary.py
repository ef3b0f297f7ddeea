"""What a session came to, whoever wrote it: the part of a session note that needs understanding."""

from __future__ import annotations

from typing import NamedTuple

from memtool.vault.sessions import KeyPoint


class Summary(NamedTuple):
    """The topic in one line, and what is worth knowing. Every text is one line; files are not part of it."""

    topic: str = ""
    key_points: tuple[KeyPoint, ...] = ()
    decisions: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
