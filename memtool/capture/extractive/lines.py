"""The lines of a summary while it is put together: where each belongs, and what would be lost without it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from memtool.capture.extractive.cues import heading_cue
from memtool.capture.extractive.sentences import shortened
from memtool.capture.extractive.statements import USER, Statement
from memtool.capture.extractive.tags import tags_of
from memtool.vault.sessions import KeyPoint

WIDEST_POINT, WIDEST_FIX, WIDEST_OTHER = 160, 200, 140  # columns of a key point, of one about an error, of all else
ROOM = 1_700  # bytes of all texts together

_KINDS = {
    "rule": "decision",
    "decision": "decision",
    "discovery": "discovery",
    "fix": "bugfix",
    "refactor": "refactor",
    "feature": "feature",
    "change": "change",
}
_LABEL = re.compile(r"([^:：]{2,24})[:：]\s*(?=\S)")
_PLAIN_WORD = re.compile(r"[a-z]+['\s]")


class Line(NamedTuple):
    """A text for *slot*: `point` or the name of another field of Summary. *step* is where it was said."""

    worth: float
    step: int
    slot: str
    point: KeyPoint


Ranked: TypeAlias = Sequence[tuple[float, Statement]]


def line_of(worth: float, statement: Statement, slot: str, text: str = "") -> Line:
    """Return the line that *statement* makes, in the words of *text* if that is given."""
    text = text or statement.text
    if slot == "open" and (label := _LABEL.match(text)) and heading_cue(label[1]) == "open":
        text = text[label.end() :]  # "Next step: …" in a list of next steps
    if statement.source == USER and _PLAIN_WORD.match(text):
        text = text[0].upper() + text[1:]
    text = shortened(text, WIDEST_POINT if slot == "point" else WIDEST_OTHER)
    kind = next((kind for cue, kind in _KINDS.items() if cue in statement.cues), "")
    return Line(worth, statement.step, slot, KeyPoint(text, kind, tags_of(text) if slot == "point" else ()))


def within_room(lines: Sequence[Line], topic: str) -> list[Line]:
    """Return the best of *lines* that fit into ROOM beside *topic*, in the order in which they were said."""
    kept, room = [], ROOM - _size(topic)
    for line in sorted((line for line in lines if line.point.text), key=lambda line: -line.worth):
        room -= _size(line.point.text)
        if room < 0:
            break
        kept.append(line)
    return sorted(kept, key=lambda line: line.step)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
