"""Statements that may become facts, without a model: what the user decided and demanded, and proved fixes.

Each is a line of a session's note that has this role; what anyone saved is a fact already. All else that the agent
said, found or proposed is in the notes and becomes no fact.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from memtool.consolidate.proposals import ARROW, LIKELY, SURE, Proposal
from memtool.consolidate.session_views import SessionView
from memtool.recall.remembering.near_duplicates import Claim, is_same, statement
from memtool.text.languages import without_openings
from memtool.text.lines import width
from memtool.vault.authors import DECISION, FIX, RULE, USER
from memtool.vault.sessions import Line

PROVED = "✓"  # in the line of a fix, before what proved it
_RETURNED = 0.15  # confidence that each further session brings
_MOST = 0.95
_STEPS = 2  # of a fix, from the error to its cause, and from there to the change
_WIDEST_CHOICE = 12  # columns of what names an option and says no more: "option 2", 方案二
_CATEGORIES = {(DECISION, USER): "decision", (RULE, USER): "preference"}


def proposals_of(sessions: Sequence[SessionView], only_rules: Container[str] = ()) -> list[Proposal]:
    """Return the proposals of *sessions*, oldest first. What several say is said once, with the words of all.

    Of the sessions whose ids *only_rules* holds, rules are taken: a model has chosen among the other lines.
    """
    return _merged(
        found
        for view in sessions
        for line in view.lines
        if (line.role == RULE or view.id not in only_rules) and (found := _proposal(view, line))
    )


def _proposal(view: SessionView, line: Line) -> Proposal | None:
    category = _CATEGORIES.get((line.role, line.author), "bug" if _is_proved(line) else "")
    if not category:
        return None
    told = line.text.partition(PROVED)[0].strip()  # what proved it is in the note
    text = told if category == "bug" else without_openings(_bare(line.text))
    sure = LIKELY if category == "bug" else SURE
    return Proposal(text, category, line.author, view.project, (view.span(line),), "", view.date, sure)


def _bare(text: str) -> str:
    """Return *text* without the quotation marks around all of it; of an option that was taken, that option first."""
    if match := re.fullmatch(rf"“([^“”]+)”{ARROW}(.+)", text):
        return match[2] if width(match[1]) <= _WIDEST_CHOICE else f"{match[2]} (“{match[1]}”)"
    quoted = re.fullmatch(r"“([^“”]+)”", text)
    return quoted[1] if quoted else text


def _is_proved(line: Line) -> bool:
    """Return whether *line* is a fix of which error, cause, change and proof are known."""
    return line.role == FIX and line.text.partition(PROVED)[0].count(ARROW) >= _STEPS and PROVED in line.text


def _merged(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Return *proposals* with those that say the same in one project as one, in the words of the newest."""
    groups: list[tuple[Claim, list[Proposal]]] = []
    for proposal in proposals:
        claim = statement(proposal.text)
        for other, group in groups:
            if group[0].project == proposal.project and is_same(claim, other):
                group.append(proposal)
                break
        else:
            groups.append((claim, [proposal]))
    return [_one(group) for _, group in groups]


def _one(group: Sequence[Proposal]) -> Proposal:
    newest = max(group, key=lambda proposal: (proposal.author == USER, proposal.at))
    spans = tuple(dict.fromkeys(span for proposal in group for span in proposal.spans))
    more = _RETURNED * (len({span.session for span in spans}) - 1)
    at = max(proposal.at for proposal in group)
    return newest._replace(spans=spans, confidence=round(min(_MOST, newest.confidence + more), 2), at=at)
