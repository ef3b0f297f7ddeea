"""What a summary says is open: what was not begun, what the last turns leave or ask."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtool.capture.conversation import Step
from memtool.capture.extractive.cues import DEED_CUES
from memtool.capture.extractive.lines import WIDEST_OTHER, Line, Ranked, line_of
from memtool.capture.extractive.passages import LONGEST_PROMPT, plain
from memtool.capture.extractive.salience import Chosen
from memtool.capture.extractive.sentences import shortened, width
from memtool.capture.extractive.statements import CLIENT, FINAL, LAST, USER, Statement
from memtool.capture.extractive.topic import request_of
from memtool.index.text import query_terms
from memtool.vault.sessions import KeyPoint

MOST = 3
LATEST_DEEDS = 200  # of the last turns, against which what seems open is held
SETTLING = 0.6  # share of its terms that a later deed names
UNANSWERED_WORTH = 2.5

_DONE = ("已经", "已", "We have written", "I have written", "Noted", "Recorded")  # "written to TODO.md" is done
_OFFER = re.compile(
    r"\b(?:would you like|want me|shall i|do you want|anything else|let me know"
    r"|should i (?:go|proceed|continue|commit|push))\b"
    r"|需要我|要我|是否需要|还有其他|お手伝い|할까요|드릴까요",
    re.IGNORECASE,
)


def open_lines(said: Sequence[Statement], ranked: Ranked, chosen: Chosen, steps: Sequence[Step]) -> list[Line]:
    """Return what stayed open at the session's end; what an earlier turn left only if the last one did not do it."""
    lines = _unanswered(steps)
    chosen.take(line.point.text for line in lines)
    turns = max((each.turn for each in said), default=0)
    deeds = [each for each in said if each.turn >= turns - 1 and _is_settled(each)][-LATEST_DEEDS:]
    known = [(deed, frozenset(query_terms(deed.text))) for deed in deeds]

    def is_left(statement: Statement) -> bool:
        if statement.turn < turns - 1 or not _is_open(statement):
            return False
        terms = query_terms(statement.text)
        return not any(_is_after(deed, statement) and _names(own, terms) for deed, own in known)

    picked = chosen.pick(ranked, is_left, limit=MOST - len(lines), floor=0.8)
    return lines + [line_of(worth + 0.5, each, "open") for worth, each in picked]


def _unanswered(steps: Sequence[Step]) -> list[Line]:
    """Return what the last prompt asks, if nothing followed it."""
    at = max((at for at, step in enumerate(steps) if step.kind == "prompt"), default=0)
    request = (
        request_of(steps[at], at) if at and not any(step.kind != "compaction" for step in steps[at + 1 :]) else None
    )
    if not request:
        return []
    whole = plain(steps[at].text[:LONGEST_PROMPT])[0]
    text = whole if width(whole) <= WIDEST_OTHER else shortened(request.text, WIDEST_OTHER)
    return [Line(UNANSWERED_WORTH, at, "open", KeyPoint(text))]


def _is_open(statement: Statement) -> bool:
    if statement.checked is not None:
        return not statement.checked
    if statement.source == USER:  # most of what the user asks, or finds wanting, is then worked on
        return "later" in statement.cues and not statement.asks
    if statement.asks and statement.source == LAST:
        return not _OFFER.search(statement.text)
    return (
        "open" in statement.cues and not statement.text.startswith(_DONE) and statement.source in {LAST, FINAL, CLIENT}
    )


def _is_settled(statement: Statement) -> bool:
    if statement.source == USER or statement.cues & {"chatter", "open"}:
        return False
    return bool(statement.checked) or not statement.cues.isdisjoint(DEED_CUES)


def _is_after(deed: Statement, statement: Statement) -> bool:
    return deed.step > statement.step or (deed.step == statement.step and bool(deed.checked))


def _names(known: frozenset[str], terms: Sequence[str]) -> bool:
    """Return whether a deed whose terms are *known* speaks of what has these *terms*."""
    return sum(term in known for term in terms) >= SETTLING * len(terms)
