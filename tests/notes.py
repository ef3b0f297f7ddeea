"""Session notes for tests, from texts by their role."""

from __future__ import annotations

from collections.abc import Iterable

from memtool.vault.memory import COMMAND, DECISION, FINDING, FIX, OPEN, RULE, signed_by
from memtool.vault.session_text import default_author
from memtool.vault.sessions import Draft, Line, SessionNote, lines_of, render_session


def note_of(
    name: str,
    *,
    project: str = "",
    updated: str = "",
    title: str = "",
    rules: Iterable[str] = (),
    decisions: Iterable[str] = (),
    fixes: Iterable[str] = (),
    findings: Iterable[str] = (),
    done: Iterable[str] = (),
    open: Iterable[str] = (),
    commands: Iterable[str] = (),
    files: tuple[str, ...] = (),
) -> SessionNote:
    """Return a note whose lines have the authors that they name at their end, such as `(user)`."""
    groups = {DECISION: decisions, RULE: rules, FIX: fixes, FINDING: findings, "": done, OPEN: open, COMMAND: commands}
    lines = tuple(line_of(text, role) for role, texts in groups.items() for text in texts)
    return SessionNote(name, project, updated=updated, draft=Draft(title, lines=lines, files=files))


def line_of(text: str, role: str = "", asked: str = "") -> Line:
    """Return a line whose author stands behind it, if it is another one than usual."""
    said, author = signed_by(text)
    return Line(said, role, author or default_author(role), asked=asked)


def text_of(name: str, *, language: str = "en", **said: object) -> str:
    """Return the text of `note_of`."""
    return render_session(note_of(name, **said), language=language)  # type: ignore[arg-type]


def said_as(text: str, role: str) -> tuple[str, ...]:
    """Return what the lines of this *role* say in the note *text*."""
    return tuple(line.text for line in lines_of(text) if line.role == role)
