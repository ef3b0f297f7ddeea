"""Notes of sessions that a week is made of."""

from __future__ import annotations

from typing import Any

import notes

from memtool.vault.layout import Vault, session_ref
from memtool.vault.memory import DECISION, RULE, USER
from memtool.vault.sessions import Draft, Line, SessionNote, render_session


def lines(*, author: str = USER, **said: Any) -> tuple[Line, ...]:
    """Return what was *said* as lines of their roles; *author* is that of the decisions and rules."""
    found = notes.note_of("", **said).draft.lines
    return tuple(line._replace(author=author) if line.role in (DECISION, RULE) else line for line in found)


def note_of(
    session: str, *said: Line, project: str = "shop", updated: str = "2026-02-10 10:00", title: str = ""
) -> str:
    """Return the text of a session's note."""
    return render_session(SessionNote(session, project, updated=updated, draft=Draft(title or session, lines=said)))


def write_note(vault: Vault, session: str, *said: Line, name: str = "", **about: str) -> str:
    """Write the note of *session*, and return its path."""
    ref = f"sessions/{name}.md" if name else session_ref(session)
    path = vault.root / ref
    path.parent.mkdir(exist_ok=True)
    path.write_text(note_of(session, *said, **about), encoding="utf-8")
    return ref
