"""Tidying: old notes to the archive, open items that were done, and what is worth reading at each start. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from memtool.consolidate.distilling import grouped
from memtool.consolidate.session_views import SessionView
from memtool.memory.archiving import Move
from memtool.memory.fact_book import FactBook, StoredFact, stands
from memtool.text.languages import labels, pattern_of
from memtool.text.similarity import is_said, words
from memtool.vault.authors import AGENT, COMMAND
from memtool.vault.sessions import Line
from memtool.vault.todos import find_todos
from memtool.workspace import Workspace

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


_LARGEST = 1_000  # characters of a generated section
_MOST_OF_A_KIND, _MOST_COMMANDS = 6, 3
_LEAST_SESSIONS = 2  # in which a command passed


def shared_section(book: FactBook, work: Workspace) -> str:
    """Return the section of rules and decisions that hold in two projects or more."""
    held = [stored for stored in _holding(book, work, "preference", "decision") if stored.project]
    lines = list(_shared(held))
    return _section(labels("facts", work.language)["ways"], lines) if lines else ""


def _shared(held: Sequence[StoredFact]) -> Iterator[str]:
    for group in grouped(held, lambda stored: stored.fact.fact, lambda _: ""):
        if len(projects := {stored.project for stored in group}) > 1:
            yield _line(group[0], ", ".join(sorted(projects)))


def project_section(book: FactBook, project: str, sessions: Sequence[SessionView], work: Workspace) -> str:
    """Return the section of the decisions and rules that hold in *project*, and of the commands that prove."""
    names = labels("session", work.language)
    parts = []
    for name, category in (("decisions", "decision"), ("rules", "preference")):
        held = [stored for stored in _holding(book, work, category) if stored.project == project]
        parts += [_section(names[name], [_line(stored) for stored in held[:_MOST_OF_A_KIND]])] if held else []
    if commands := _proving(sessions):
        parts.append(_section(names["commands"], [f"- `{command}`" for command in commands]))
    return "\n\n".join(parts)


def _holding(book: FactBook, work: Workspace, *categories: str) -> list[StoredFact]:
    """Return the facts of *categories* that hold, the newest first."""
    held = [stored for stored in book if stands(stored, work) and stored.fact.category in categories]
    return sorted(held, key=lambda stored: (stored.fact.timestamp, stored.fact.id), reverse=True)


def _line(stored: StoredFact, *about: str) -> str:
    return f"- {stored.fact.fact} ({', '.join([*about, stored.fact.timestamp[:10]])})"


def _proving(sessions: Sequence[SessionView]) -> list[str]:
    """Return the commands that passed in most of *sessions*, and last, if in more than one."""
    passed = Counter(line for view in sessions for line in {each.text for each in view.lines if each.role == COMMAND})
    last = {each.text: view.date for view in sessions for each in view.lines if each.role == COMMAND}
    often = [command for command, count in passed.items() if count >= _LEAST_SESSIONS]
    return sorted(often, key=lambda command: (passed[command], last[command], command), reverse=True)[:_MOST_COMMANDS]


def _section(title: str, lines: Sequence[str]) -> str:
    """Return as many of *lines*, from the first on, as there is room for."""
    ends = accumulate(len(line) + 1 for line in lines)
    return f"## {title}\n\n" + "\n".join(line for line, end in zip(lines, ends, strict=True) if end <= _LARGEST)
