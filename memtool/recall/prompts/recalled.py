"""What a prompt may be given: a fact or a passage of a note, where it stands, and how much it matters. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from memtool.vault.layout import FACTS_FILE

if TYPE_CHECKING:
    from memtool.recall.prompts.evidence import Evidence

RELEVANCE, CATEGORY, RECENCY, IMPORTANCE = 0.65, 0.20, 0.10, 0.05  # what each adds to the score
UNDATED = 0.5  # recency of what bears no date

# For each category its weight, and the days after which recency has fallen to 1/e (the design calls them half-life).
_CATEGORIES = {
    "identity": (1.0, 3_650), "preference": (0.9, 730), "decision": (0.9, 365), "architecture": (0.8, 365),
    "project": (0.8, 180), "research": (0.8, 180), "configuration": (0.6, 180), "code": (0.6, 120), "bug": (0.6, 90),
    "entity": (0.5, 365), "fact": (0.5, 180), "general": (0.5, 180), "conversation": (0.3, 30),
}  # fmt: skip
_MANY_USES = 10  # from here on, further ones add nothing


class Recalled(NamedTuple):
    """A fact, or the passage of a note that answers a prompt best.

    Args:
        ref, first_line, last_line: where it stands in the vault.
        date: ISO, empty if unknown.
        title: of the note.
        text: what it says; one sentence or bullet, empty where only the title of the note was found.
        fact_id: of a fact; notes have none.
        relevance: to the prompt, from 0 to 1.
        summary: of the note, where its title is what was found.
        author: who said it, if that is known.
        evidence: what speaks for it.
        left_out: why it is not given; empty if nothing speaks against it (`memtool.recall.given`).
        role: of a line of a session's note, what it is (`memtool.vault.session_lines`).
        asked: what the user had typed before it.
    """

    ref: str
    first_line: int
    last_line: int
    kind: str
    project: str
    category: str
    date: str
    title: str
    text: str
    fact_id: str = ""
    relevance: float = 0.0
    summary: str = ""
    author: str = ""
    evidence: Evidence | None = None
    left_out: str = ""
    role: str = ""
    asked: str = ""

    @property
    def key(self) -> str:
        """What it is known by in ledgers and counts."""
        nameless = is_fact(self.ref) and not self.fact_id
        return key_of(self.ref, f"{crc32(self.text.encode('utf-8', 'replace')):08x}" if nameless else self.fact_id)


def is_fact(ref: str) -> bool:
    """Whether what stands at *ref* is a fact and no note."""
    return ref.rsplit("/", 1)[-1] == FACTS_FILE


def key_of(ref: str, fact_id: str = "") -> str:
    """Return what a fact, or the note at *ref*, is known by in ledgers and counts."""
    return f"{ref}#{fact_id}" if fact_id else ref


def score(recalled: Recalled, *, age_days: float | None, uses: int) -> float:
    """Return what something is worth giving, from 0 to 1. *age_days* is None for what bears no date."""
    weight, days = _CATEGORIES.get(recalled.category, _CATEGORIES["general"])
    recency = UNDATED if age_days is None else math.exp(-max(0.0, age_days) / days)
    return RELEVANCE * recalled.relevance + CATEGORY * weight + RECENCY * recency + IMPORTANCE * importance(uses)


def importance(uses: int) -> float:
    """Return from 0 to 1 how important something is that was given or read *uses* times."""
    return min(1.0, math.log(1 + max(0, uses)) / math.log(1 + _MANY_USES))
