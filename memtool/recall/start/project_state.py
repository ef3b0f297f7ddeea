"""The state of a project, for a program: what it is, its last sessions, what is decided and what is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtool.index.filters import DECISION
from memtool.recall.budget import BlockLine, BlockPart
from memtool.recall.framing import defused
from memtool.recall.start.last_sessions import PastSession, read_sessions, told_in
from memtool.recall.start.remembered import remembered
from memtool.text.lines import cut
from memtool.vault.authors import named
from memtool.vault.projects import short_id
from memtool.vault.session_rows import render_row
from memtool.workspace import Workspace

_KINDS = ("summary", "decisions", "facts", "open")
_SESSIONS, _MOST_LINES = 5, 20
_LAST_ROOM, _ROOM = 900, 240  # columns of the last session, and of each one before it
_LONGEST_SUMMARY, _LONGEST_LINE = 1_200, 300  # characters


class SessionDigest(NamedTuple):
    """A past session, told in a few lines."""

    date: str
    topic: str
    points: tuple[str, ...]
    path: str


class StateLine(NamedTuple):
    """A decision or an open item; *note* says what is to be known of it, such as what contradicts it."""

    text: str
    date: str
    author: str
    path: str
    note: str = ""


class ProjectState(NamedTuple):
    """The state of a project. All texts are defused; *more* says of which lists there is more in the vault."""

    project_id: str
    project: str
    registered: bool
    summary: str = ""
    sessions: tuple[SessionDigest, ...] = ()
    pending: tuple[StateLine, ...] = ()
    decisions: tuple[StateLine, ...] = ()
    more: tuple[str, ...] = ()


def project_state(work: Workspace) -> ProjectState:
    """Return the state of the project of the folder at hand; of one that is not *registered*, only who it is.

    Raises:
        MemtoolError: the vault cannot be read.
    """
    area = work.area()
    state = ProjectState(short_id(area.root), area.name, registered=False)
    if not area.name or not (work.vault.root / area.ref).parent.is_dir():
        return state
    wanted = work.settings.recall._replace(kinds=_KINDS, sessions=_SESSIONS, lines_in_full=_MOST_LINES)
    parts = remembered(work, area.name, wanted)
    sessions = read_sessions(work.vault, area.name, _SESSIONS)
    decided = [line for part in parts for line in _lines(part) if part.kind == "decisions" or line.category == DECISION]
    pending = [line for part in parts if part.kind == "open" for line in _lines(part)]
    more = {"active_decisions": _left_out(parts, "decisions"), "pending_items": _left_out(parts, "open")}
    return state._replace(
        registered=True,
        summary=_summary(parts),
        sessions=tuple(_told(session, _ROOM if at else _LAST_ROOM) for at, session in enumerate(sessions)),
        pending=tuple(_statement(line) for line in pending[:_MOST_LINES]),
        decisions=tuple(_statement(line) for line in decided[:_MOST_LINES]),
        more=tuple(name for name, left in more.items() if left),
    )


def _lines(part: BlockPart) -> Iterator[BlockLine]:
    return (line for line in part.lines if line.said)


def _left_out(parts: Sequence[BlockPart], kind: str) -> bool:
    of_kind = [part for part in parts if part.kind == kind]
    return any(part.left_out for part in of_kind) or sum(len(part.lines) for part in of_kind) > _MOST_LINES


def _summary(parts: Sequence[BlockPart]) -> str:
    """Return the overview of the project, quoted."""
    levels = next((part.levels for part in parts if part.kind == "summary"), ((),))
    fitting = ("\n".join(line.text for line in level) for level in levels)
    return next((text for text in fitting if len(text) <= _LONGEST_SUMMARY), None) or cut(
        "\n".join(line.text for line in levels[-1]), _LONGEST_SUMMARY
    )


def _told(session: PastSession, room: int) -> SessionDigest:
    topic, rows = told_in(session, room)
    points = tuple(defused(render_row(row)) for row in rows)
    return SessionDigest(session.when, defused(topic), points, session.ref)


def _statement(line: BlockLine) -> StateLine:
    return StateLine(cut(defused(line.said), _LONGEST_LINE), line.when[:10], named(line.author), line.ref, line.note)
