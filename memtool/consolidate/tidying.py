"""Tidying: old notes to the archive, where searches find them on request, and open items that were done, closed.

All of it is pure but for the move itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memtool.consolidate.session_views import SessionView
from memtool.text.languages import pattern_of
from memtool.text.similarity import is_said, words
from memtool.vault import files
from memtool.vault.authors import AGENT
from memtool.vault.layout import Vault
from memtool.vault.merging import merge
from memtool.vault.sessions import Line
from memtool.vault.todos import find_todos

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\.memtool)?\.md")
_HALF, _WHOLLY = 0.5, 0.8  # of the words of an open item: in what says that it was done, and there or in its prompt
_LEAST_WORDS = 3
_COMMIT = "commit: "


class Move(NamedTuple):
    """A note that goes to the archive."""

    source: str
    target: str


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


def with_links(text: str, archived: Collection[str], *, was_archived: bool, is_archived: bool) -> str:
    """Return a daily note whose links lead to its sessions where they lie now: those with the ids *archived*, too.

    The note itself lies in the archive or not: it *was* there as its links were written, and *is* from now on.
    """

    def target(match: re.Match[str]) -> str:
        led_to_archive = match["way"] == ("../" if was_archived else "../archive/")
        in_archive = led_to_archive or match["id"] in archived
        way = "../" if in_archive == is_archived else "../../" if is_archived else "../archive/"
        return f"]({way}sessions/{match['id']}.md)"

    return re.sub(r"\]\((?P<way>\.\./(?:archive/|\.\./)?)sessions/(?P<id>[^()\s/]+)\.md\)", target, text)


def relinked(text: str | None, *, archived: Sequence[str], was: bool, goes: bool) -> str | None:
    """Return `with_links` of the text of a daily note, if there is one."""
    return None if text is None else with_links(text, archived, was_archived=was, is_archived=goes)


def days_of(moves: Sequence[Move], sessions: Sequence[SessionView]) -> dict[str, str]:
    """Return the day of each note that *moves* take away: of a session, when it was; of a daily note, its name."""
    days = {view.ref: view.date[:10] for view in sessions}
    return {move.source: days.get(move.source, move.source.rsplit("/", 1)[-1][: len("2026-02-10")]) for move in moves}


def move_to_archive(vault: Vault, move: Move, before_writing: Callable[[Sequence[str]], None]) -> None:
    """Carry out *move* under the vault's lock. A note of that name may lie there: a session goes on after it was moved.

    Of a session the later capture stands then, and a day has the lines of both. Where both texts were changed by hand,
    the second one gets a number, and *before_writing* is told that name. The caller has noted both ends of *move*.

    Raises:
        OutsideVault, OSError: nothing was moved.
    """
    with vault.lock():
        source, target = vault.path(move.source), vault.path(move.target)
        if target.exists() and _joined(vault, move):
            return
        number = 1
        while target.exists():
            number += 1
            target = target.with_name(f"{Path(move.target).stem}-{number}.md")
        if number > 1:
            before_writing([f"{move.target.rpartition('/')[0]}/{target.name}"])
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.replace(source, target)


def _joined(vault: Vault, move: Move) -> bool:
    """Put the later text into the one that is archived, and return whether that could be done without a conflict."""
    source, target = vault.path(move.source), vault.path(move.target)
    (archived, expected), (later, _) = files.read_text(target), files.read_text(source)
    merged = merge(move.source, None, archived, later, daily=vault.daily)
    if merged.conflicts:
        return False
    files.replace(target, merged.text, expected=expected)
    source.unlink()
    return True


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
