"""The state of a project, for a program: what a session's start gives, in fields. All texts are defused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memtool.index.filters import DECISION
from memtool.recall import limits
from memtool.recall.budget import BlockLine, BlockPart
from memtool.recall.framing import defused
from memtool.recall.start.last_sessions import PastSession, read_sessions, told_in
from memtool.recall.start.remembered import remembered
from memtool.text.lines import cut
from memtool.text.markdown import heading_text, without_mark
from memtool.vault.memory import ASKED, SUMMARY, named
from memtool.vault.project_area import short_id
from memtool.workspace import Workspace

_KINDS = ("memory", "preferences", "summary", "rules", "decisions", "facts", "open", "commands")
_RULES = ("memory", "preferences", "rules")  # kinds of what the user wants of every session
_LISTS = {"active_decisions": "decisions", "pending_items": "open"}  # fields that may be shortened
_ROOM = 900  # columns of a session
_LONGEST_SUMMARY = 1_200  # characters


def project_state(work: Workspace) -> dict[str, Any]:
    """Return the state of the project of the folder at hand; of one that is not `registered`, who it is, and the rules.

    `more` names the lists of which there is more in the vault.

    Raises:
        MemtoolError: the vault cannot be read.
    """
    area, wanted = work.area(), work.settings.recall._replace(kinds=_KINDS)
    state = {"project_id": short_id(area.root), "project": area.name}
    if not area.name or not (work.vault.root / area.ref).parent.is_dir():
        return {**state, "registered": False, "rules": _statements(remembered(work, "", wanted), _RULES)}
    parts = remembered(work, area.name, wanted)
    sessions = read_sessions(work.vault, area.name, wanted.sessions)
    told = [_told(session) for session in sessions]
    of_decisions = [
        line for part in parts for line in _lines(part) if part.kind == "decisions" or line.category == DECISION
    ]
    decisions = [_statement(line) for line in of_decisions]
    return {
        **state,
        "registered": True,
        "rules": _statements(parts, _RULES),
        "active_decisions": decisions,
        "pending_items": _statements(parts, ("open",)),
        "last_session": told[0] if told else None,
        "summary": _summary(parts),
        "facts": [fact for fact in _statements(parts, ("facts",)) if fact not in decisions],
        "commands": _statements(parts, ("commands",)),
        "recent_sessions": told[1:],
        "more": [name for name, kind in _LISTS.items() if any(part.left_out for part in parts if part.kind == kind)],
    }


def _statements(parts: Sequence[BlockPart], kinds: Sequence[str]) -> list[dict[str, str]]:
    return [_statement(line) for part in parts if part.kind in kinds for line in _lines(part)]


def _lines(part: BlockPart) -> Iterator[BlockLine]:
    """Give the statements of *part*: of a page each line that is no heading."""
    for line in part.lines:
        said = line.said or without_mark(line.text.removeprefix(">").strip())
        if said and (line.said or not heading_text(line.text.removeprefix(">").strip())):
            yield line._replace(said=said)


def _statement(line: BlockLine) -> dict[str, str]:
    text, date = cut(defused(line.said), limits.LONGEST_LINE), line.when[:10]
    return _filled(text=text, date=date, author=named(line.author), path=line.ref, note=line.note)


def _summary(parts: Sequence[BlockPart]) -> str:
    """Return the overview of the project, quoted."""
    levels = next((part.levels for part in parts if part.kind == "summary"), ((),))
    texts = ["\n".join(line.text for line in level) for level in levels]
    return next((text for text in texts if len(text) <= _LONGEST_SUMMARY), None) or cut(texts[-1], _LONGEST_SUMMARY)


def _told(session: PastSession) -> dict[str, Any]:
    """Return a past session in a few lines; `outcome` is what it came to."""
    title, *lines = told_in(session, _ROOM)
    summary = next((line.text for line in lines if line.role == SUMMARY), "")
    asked = next((line.text for line in session.lines if line.role == ASKED), "")
    points = [defused(line.text) for line in lines if line.role not in (SUMMARY, ASKED)]
    has_both = bool(summary and title.text)
    topic, outcome = (title.text, summary) if has_both or not asked else (asked, title.text or summary)
    topic, outcome = cut(defused(topic), limits.LONGEST_LINE), defused(outcome)
    return _filled(date=session.when, topic=topic, outcome=outcome, points=points, path=session.ref)


def _filled(**values: Any) -> dict[str, Any]:  # noqa: ANN401  (text, or a list of texts)
    return {name: value for name, value in values.items() if value}
