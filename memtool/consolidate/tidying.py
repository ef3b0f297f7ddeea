"""Tidying: which old notes go to the archive, and which open items were done. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memtool.consolidate.session_views import SessionView
from memtool.memory.archiving import Move
from memtool.text.languages import pattern_of
from memtool.text.similarity import is_said, words
from memtool.vault.authors import AGENT
from memtool.vault.sessions import Line
from memtool.vault.todos import find_todos

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\.memtool)?\.md")
_HALF, _WHOLLY = 0.5, 0.8  # of the words of an open item: in what says that it was done, and there or in its prompt
_LEAST_WORDS = 3
_COMMIT = "commit: "


def old_sessions(sessions: Sequence[SessionView], oldest: str, *, kept: int) -> list[Move]:
    """Return the sessions before the day *oldest*; the newest *kept* of each project stay, for its next start."""
    by_project: dict[str, list[SessionView]] = {}
    for view in sorted(sessions, key=lambda view: (view.date, view.id), reverse=True):
        by_project.setdefault(view.project, []).append(view)
    old = [view for views in by_project.values() for view in views[kept:] if view.date and view.date[:10] < oldest]
    return [Move(view.ref, f"archive/{view.ref}") for view in sorted(old, key=lambda view: view.ref)]


def old_dailies(names: Iterable[str], oldest: str, *, folder: str) -> list[Move]:
    """Return the daily notes among the file *names* of *folder* of days before the day *oldest*."""
    old = sorted(name for name in names if (match := _DAY.fullmatch(name)) and match[1] < oldest)
    return [Move(f"{folder}/{name}", f"archive/{folder}/{name}") for name in old]


def days_of(moves: Sequence[Move], sessions: Sequence[SessionView]) -> dict[str, str]:
    """Return the day of each note that *moves* take away: of a session, when it was; of a daily note, its name."""
    days = {view.ref: view.date[:10] for view in sessions}
    return {move.source: days.get(move.source, move.source.rsplit("/", 1)[-1][: len("2026-02-10")]) for move in moves}


class Closed(NamedTuple):
    """An open item on a *line* of a task list that the session *source* says was done."""

    line: int
    task: str
    source: str
    evidence: str


def done_items(todos: str, sessions: Sequence[SessionView]) -> list[Closed]:
    """Return the open items of the task list *todos* that a session did, by its commits or what it says was done.

    Half of an item's words must stand there, and nearly all of them there or in the prompt that it answers.
    """
    told = [(view, deed, words(deed), words(f"{asked} {deed}")) for view in sessions for asked, deed in _deeds(view)]
    found = []
    for todo in find_todos(todos):
        wanted = words(todo.task)
        if not todo.is_open or len(wanted) < _LEAST_WORDS:
            continue
        deeds = (
            (view, deed)
            for view, deed, said, around in told
            if is_said(wanted, [said], _HALF) and is_said(wanted, [around], _WHOLLY)
        )
        if done := next(deeds, None):
            found.append(Closed(todo.line, todo.task, done[0].id, done[1]))
    return found


def _deeds(view: SessionView) -> Iterator[tuple[str, str]]:
    """Give what the session *view* did, each with the order before it: its commits, "Done: I wrote …" and the like."""
    draft = view.note.draft
    title = draft.title[max(0, draft.title.find(_COMMIT)) :]
    for line in (*draft.lines, Line(title, asked=draft.asked)):
        is_done = line.author == AGENT and re.match(pattern_of("status_line"), line.text, re.IGNORECASE)
        if line.role == "" and (line.text.startswith(_COMMIT) or is_done):
            order = line.asked or draft.asked
            yield "" if re.search("[?？]", order) else order, line.text.removeprefix(_COMMIT)
