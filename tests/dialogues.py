"""Sessions as consolidation sees them, made of a few turns."""

from __future__ import annotations

from collections.abc import Sequence

from memtool.capture.old_turns import Turn
from memtool.consolidate.session_views import SessionView
from memtool.vault.authors import ASKED
from memtool.vault.old_sessions import OldNote
from memtool.vault.session_lines import OldLine
from memtool.vault.session_rows import Piece


def told(*texts: str) -> tuple[Piece, ...]:
    """Return *texts* as what the agent said, the most telling first."""
    return tuple(Piece(text, 9.0 - at) for at, text in enumerate(texts))


def view_of(turns: Sequence[Turn]) -> SessionView:
    """Return the note of a session with *turns*, in which each prompt has its line."""
    lines = tuple(OldLine(turn.asked, ASKED, "user", number=at) for at, turn in enumerate(turns, 1) if turn.asked)
    return SessionView("s1", "sessions/s1.md", "shop", "2026-02-10", "", OldNote("s1"), lines, "")
