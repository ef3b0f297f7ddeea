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
from memtool.text.markdown import heading_text, without_mark
from memtool.vault.authors import ASKED, SUMMARY, named
from memtool.vault.projects import short_id
from memtool.workspace import Workspace

_KINDS = ("memory", "preferences", "summary", "rules", "decisions", "facts", "open", "commands")
_RULES = ("memory", "preferences", "rules")  # kinds of what the user wants of every session
_SESSIONS, _MOST_LINES = 5, 20
_LAST_ROOM, _ROOM = 900, 240  # columns of the last session, and of each one before it
_LONGEST_SUMMARY, _LONGEST_LINE = 1_200, 300  # characters


class SessionDigest(NamedTuple):
    """A past session, told in a few lines; *outcome* is what it came to."""

    date: str
    topic: str
    outcome: str
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
    rules: tuple[StateLine, ...] = ()
    decisions: tuple[StateLine, ...] = ()
    facts: tuple[StateLine, ...] = ()
    pending: tuple[StateLine, ...] = ()
    commands: tuple[StateLine, ...] = ()
    more: tuple[str, ...] = ()


def project_state(work: Workspace) -> ProjectState:
    """Return the state of the project of the folder at hand; of one that is not *registered*, only who it is.

    Raises:
        MemtoolError: the vault cannot be read.
    """
    area = work.area()
    state = ProjectState(short_id(area.root), area.name, registered=False)
    wanted = work.settings.recall._replace(kinds=_KINDS, sessions=_SESSIONS, lines_in_full=_MOST_LINES)
    if not area.name or not (work.vault.root / area.ref).parent.is_dir():
        return state._replace(rules=_statements(remembered(work, "", wanted), _RULES))
    parts = remembered(work, area.name, wanted)
    sessions = read_sessions(work.vault, area.name, _SESSIONS)
    decided = [line for part in parts for line in _lines(part) if part.kind == "decisions" or line.category == DECISION]
    decisions = tuple(_statement(line) for line in decided[:_MOST_LINES])
    facts = tuple(line for line in _statements(parts, ("facts",)) if line not in decisions)
    more = {"active_decisions": _left_out(parts, "decisions"), "pending_items": _left_out(parts, "open")}
    return state._replace(
        registered=True,
        summary=_summary(parts),
        sessions=tuple(_told(session, _ROOM if at else _LAST_ROOM) for at, session in enumerate(sessions)),
        rules=_statements(parts, _RULES),
        decisions=decisions,
        facts=facts,
        pending=_statements(parts, ("open",)),
        commands=_statements(parts, ("commands",)),
        more=tuple(name for name, left in more.items() if left),
    )


def _statements(parts: Sequence[BlockPart], kinds: Sequence[str]) -> tuple[StateLine, ...]:
    """Return the first statements of the parts of these *kinds*."""
    return tuple(_statement(line) for part in parts if part.kind in kinds for line in _lines(part))[:_MOST_LINES]


def _lines(part: BlockPart) -> Iterator[BlockLine]:
    """Give the statements of *part*: of a page each line that is no heading."""
    for line in part.lines:
        said = line.said or without_mark(line.text.removeprefix(">").strip())
        if said and (line.said or not heading_text(line.text.removeprefix(">").strip())):
            yield line._replace(said=said)


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
    title, *lines = told_in(session, room)
    summary = next((line.text for line in lines if line.role == SUMMARY), "")
    asked = next((line.text for line in session.lines if line.role == ASKED), "")
    points = tuple(defused(line.text) for line in lines if line.role not in (SUMMARY, ASKED))
    has_both = bool(summary and title.text)
    topic, outcome = (title.text, summary) if has_both or not asked else (asked, title.text or summary)
    return SessionDigest(session.when, cut(defused(topic), _LONGEST_LINE), defused(outcome), points, session.ref)


def _statement(line: BlockLine) -> StateLine:
    return StateLine(cut(defused(line.said), _LONGEST_LINE), line.when[:10], named(line.author), line.ref, line.note)
