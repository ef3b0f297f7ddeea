"""Session notes of a few lines, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from memtool.vault.authors import AGENT, COMMAND, DECISION, FIX, RULE, USER
from memtool.vault.layout import Vault, session_ref
from memtool.vault.sessions import Draft, Line, SessionNote, render_session


def lines(
    *, rules: Sequence[str] = (), decisions: Sequence[str] = (), fixes: Sequence[str] = (), done: Sequence[str] = (),
    commands: Sequence[str] = (), author: str = USER,
) -> tuple[Line, ...]:  # fmt: skip
    """Return statements as lines of their roles; *author* is that of the decisions and rules."""
    found = {DECISION: decisions, RULE: rules, FIX: fixes, "": done, COMMAND: commands}
    return tuple(
        Line(text, role, author if role in (DECISION, RULE) else AGENT)
        for role, texts in found.items()
        for text in texts
    )


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
