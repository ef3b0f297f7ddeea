"""What a summary says of decisions: the user's own rules and choices first, then what was agreed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtool.capture.conversation import Step
from memtool.capture.extractive.cues import cues_of
from memtool.capture.extractive.lines import Line, Ranked, line_of
from memtool.capture.extractive.salience import Chosen
from memtool.capture.extractive.sentences import width
from memtool.capture.extractive.statements import NARROWEST, USER, Statement, cleaned

MOST, MOST_POINTS = 3, 2  # decisions, and further ones that become key points
USERS_WORTH = 1.5  # more that the user's word is worth

_BINDING = frozenset({"rule", "decision"})
_CLAUSE = re.compile(r"[，；]\s*|[,;] (?:and |but )?")
_LETTER = re.compile(
    r"\b(?:option|plan|approach|variant|proposal)\s+(?:[A-Z]|\d)\b|方案\s*(?:[A-Z]|\d|[一二三四五])", re.IGNORECASE
)


def decision_lines(ranked: Ranked, chosen: Chosen, steps: Sequence[Step]) -> list[Line]:
    """Return what was decided; what is more than a summary's list of decisions can hold becomes key points."""
    picked = chosen.pick(ranked, _is_users, limit=MOST, floor=0.8)
    picked += chosen.pick(ranked, _is_agents, limit=MOST + MOST_POINTS - len(picked), floor=1.8)
    lines = [line_of(worth, each, "decisions", _in_full(each, steps)) for worth, each in picked]
    lines = [
        line._replace(worth=line.worth + USERS_WORTH) if _is_users(each) else line
        for line, (_, each) in zip(lines, picked, strict=True)
    ]
    return lines[:MOST] + [line._replace(slot="point") for line in lines[MOST:]]


def _is_users(statement: Statement) -> bool:
    return statement.source == USER and not statement.cues.isdisjoint(_BINDING) and not statement.asks


def _is_agents(statement: Statement) -> bool:
    weak = statement.asks or "hedge" in statement.cues or "options" in statement.cues
    return statement.source != USER and "decision" in statement.cues and not weak


def _in_full(statement: Statement, steps: Sequence[Step]) -> str:
    """Return a decision as it can be understood alone."""
    if match := _LETTER.search(statement.text):
        return _with_option(statement, match[0], steps)
    return _ruling(statement.text) if statement.source == USER else statement.text


def _ruling(text: str) -> str:
    """Return the part of *text* that holds from now on, without the task that it goes with."""
    for match in _CLAUSE.finditer(text):
        task, rest = cues_of(text[: match.start()]), cleaned(text[match.end() :])
        if task & _BINDING or "request" not in task:
            break
        if cues_of(rest) & _BINDING and width(rest) >= NARROWEST:
            return rest
    return text


def _with_option(statement: Statement, option: str, steps: Sequence[Step]) -> str:
    """Return a choice by letter ("let's go with option B") together with what the answer before it called so."""
    before = (step.text for step in reversed(steps[: statement.step]) if step.kind == "answer" and step.text)
    name = re.compile(rf"{re.escape(option)}\W{{1,6}}(\w[^\n*|]{{2,80}})", re.IGNORECASE)
    title = name.search(next(before, "")[-20_000:])
    return f"{statement.text} ({title[1].strip(' :：.')})" if title else statement.text
