"""Proposals for facts: their form and their worth, and the verdict on each beside the facts in force.

A statement that came from a session is not yet a fact. It must be one claim that is understood without the session,
name something concrete, say nothing of the moment, hold no secret, and stand on words that are found again. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from memtool.memory.spans import Span
from memtool.recall.remembering.near_duplicates import Claim, contradicts, is_same, letters, statement
from memtool.text.languages import mentioned, pattern_of, starts_with
from memtool.text.lines import one_line, width
from memtool.text.similarity import is_said, words
from memtool.vault.authors import STANDING, TOOL, USER, trust
from memtool.vault.facts import Fact

LONGEST = 200  # characters of a claim
SURE, LIKELY = 0.8, 0.65  # confidence in what the user said in a role, and in what a model proposes
COMMAND, STACK = "command", "stack"  # tags of facts that other parts of memtool know them by
_SHORTEST = 12  # columns
_COMPARABLE = 6  # words of a fact from which on one that only adds to it says the same
_SAID = 0.85  # of the words of a claim that another text has
_REFERENCE = re.compile(r"^\W*(?:options?|variant|方案|选项)\s*\d", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(?i)\b(?:same \w+ as|as|see) (?:#\d|above|before)|同上|如上")
_CUT = re.compile(r"…|\.\.\.\s*$")

Fate: TypeAlias = Literal["new", "known", "supersedes", "review", "rejected"]


class Proposal(NamedTuple):
    """A statement that may become a fact.

    Args:
        text: one claim.
        category: of the fact.
        author: who said it.
        project: where it belongs; empty for no project.
        spans: the words that it stands on, the newest last.
        evidence: in words, for a reader.
        at: when it was said last, ISO.
        confidence: from 0 to 1.
        tags: of the fact.
        anchors: files that it speaks of, a path and a blob each.
    """

    text: str
    category: str
    author: str
    project: str
    spans: tuple[Span, ...] = ()
    evidence: str = ""
    at: str = ""
    confidence: float = LIKELY
    tags: tuple[str, ...] = ()
    anchors: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Eight digits made of its text and its project."""
        return hashlib.sha256(f"{self.project}\n{letters(self.text)}".encode("utf-8", "replace")).hexdigest()[:8]


class Judged(NamedTuple):
    """A proposal and what becomes of it. *other* is the id of the fact that says the same, or otherwise."""

    proposal: Proposal
    fate: Fate
    reason: str = ""
    other: str = ""


def fault_of(proposal: Proposal, redact: Callable[[str], str]) -> str:
    """Return why *proposal* cannot be a fact, in words; empty if it can."""
    return next(_faults(proposal, redact), "")


def _faults(proposal: Proposal, redact: Callable[[str], str]) -> Iterator[str]:
    text = proposal.text
    if text != one_line(text) or len(text) > LONGEST:
        yield f"it is no single claim of {LONGEST} characters at most"
    if width(text) < _SHORTEST:
        yield "it says too little"
    if text.endswith(("?", "？", ":", "：")) or _CUT.search(text) or _REFERENCE.match(text):
        yield "it is a question, an option or a fragment"
    if starts_with("deictic", text) or _ELSEWHERE.search(text):
        yield "it leans on what was said before"
    if re.match(pattern_of("status_line"), text, re.IGNORECASE) or mentioned("moment", text):
        yield "it speaks of the moment"
    if redact(text) != text or "[redacted" in text:
        yield "it holds a secret"
    if proposal.author == TOOL and proposal.category in STANDING:
        yield "what a tool printed is neither a decision nor a preference"
    if not (proposal.spans or proposal.anchors):
        yield "nothing is known that it stands on"


class Judge:
    """The verdicts on one proposal after the other, beside the facts in force and the proposals before it.

    Args:
        facts: all facts of the proposals' area and of no project, whatever their status.
        told: the words of each line of CLAUDE.md, MEMORY.md and the rules: what they say needs no fact.
        redact: removes secrets.
    """

    def __init__(self, facts: Iterable[Fact], told: Sequence[frozenset[str]], redact: Callable[[str], str]) -> None:
        self._known = [(fact, statement(fact.fact), words(fact.fact)) for fact in facts]
        self._told = told
        self._redact = redact

    def judge(self, proposal: Proposal) -> Judged:
        """Return the verdict on *proposal*."""
        if fault := fault_of(proposal, self._redact):
            return Judged(proposal, "rejected", fault)
        if is_said(words(proposal.text), self._told, _SAID):
            return Judged(proposal, "rejected", "CLAUDE.md, MEMORY.md or a rule says so already")
        claim = statement(proposal.text)
        if twin := self._twin(proposal, claim):
            return Judged(proposal, *_FATES[twin.status], twin.id)
        rival = None if _names_commands(proposal.tags) else self._rival(claim, words(proposal.text))
        if rival is None:
            return Judged(proposal, "new")
        if _outweighs(proposal, rival):
            return Judged(proposal, "supersedes", f"it was said later than '{rival.fact}'", rival.id)
        return Judged(proposal, "review", f"it seems to contradict '{rival.fact}'", rival.id)

    def heed(self, fact: Fact) -> None:
        """Compare what comes with *fact*, too; one with its id gives way to it."""
        self._known = [known for known in self._known if known[0].id != fact.id]
        self._known.append((fact, statement(fact.fact), words(fact.fact)))

    def _twin(self, proposal: Proposal, claim: Claim) -> Fact | None:
        """Return the fact that says what *proposal* says, or all of it and less; an active one first."""
        told = words(proposal.text)
        found = [
            fact
            for fact, other, its_words in self._known
            if _codes(fact.fact) == _codes(proposal.text)
            and (is_same(claim, other) or _is_narrower(claim, told, other, its_words))
        ]
        return min(found, key=lambda fact: fact.status != "active", default=None)

    def _rival(self, claim: Claim, told: frozenset[str]) -> Fact | None:
        for fact, other, its_words in self._known:
            shared = len(told & its_words)
            if (
                fact.status != "active"
                or _names_commands(fact.tags)
                or shared < 2
                or 2 * shared < min(len(told), len(its_words))
            ):
                continue
            if contradicts(claim, other, in_one_place=True):
                return fact
        return None


_FATES: dict[str, tuple[Fate, str]] = {
    "active": ("known", "a fact says so"),
    "archived": ("rejected", "it was rejected or archived before"),
    "superseded": ("rejected", "it was superseded"),
}


def _outweighs(proposal: Proposal, rival: Fact) -> bool:
    """Return whether the user said *proposal* later than *rival*, on as good a word, or one file shows both."""
    if proposal.anchors:
        return rival.author == proposal.author and proposal.anchors[0][0] in [one.get("path") for one in rival.anchors]
    is_later = proposal.at[:10] >= rival.timestamp[:10]
    return is_later and proposal.author == USER and trust(proposal.author) >= trust(rival.author)


def _names_commands(tags: Collection[str]) -> bool:
    """Return whether a fact with *tags* is about commands, of which a project may have many."""
    return COMMAND in tags


def _codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def _is_narrower(claim: Claim, told: frozenset[str], other: Claim, its_words: frozenset[str]) -> bool:
    """Return whether a text only adds to what the other says: the same values, and all of its words."""
    is_like = claim.values == other.values and claim.negated == other.negated
    return is_like and len(its_words) >= _COMPARABLE and its_words <= told
