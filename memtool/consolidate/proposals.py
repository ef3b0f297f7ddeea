"""Proposals for facts: their form, and the verdict on each beside the facts that hold.

A statement that came from a session is not yet a fact. It must be one claim that is understood without the session, say
nothing of the moment, hold no secret, and stand on words that are found again. An older fact gives way to a newer one
only on the same named subject; where two merely look as if they contradict each other, a person decides. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from memtool.memory.spans import Span
from memtool.text.languages import mentioned, pattern_of, starts_with
from memtool.text.lines import one_line, width
from memtool.text.near_duplicates import Claim, contradicts, is_same, letters, statement
from memtool.text.scripts import is_unspaced
from memtool.text.similarity import is_said, words
from memtool.vault.authors import STANDING, TOOL, USER, trust
from memtool.vault.facts import Fact

ARROW = " → "  # in the line of a fix, before the cause or the change; in a decision, before the answer
LONGEST = 300  # characters of a fact
SURE, LIKELY = 0.8, 0.65  # confidence in what the user said in a role, and in what a model proposes
_SHORTEST = 12  # columns
_COMPARABLE = 6  # words of a fact from which on one that only adds to it says the same
_SAID = 0.85  # of the words of a claim that another text has
_SAVED = 0.6  # the same, of what was saved in the same session
_NAMING = 2  # words that name a subject; a Chinese character is half of one
_REFERENCE = re.compile(
    r"(?i)^\W*(?:options?|variant|方案|选项)\s*\d|\bthe (?:first|second|third|last) (?:one|option)\b"
    r"|第[一二三]个?(?:方案|选项)"
)
_ELSEWHERE = re.compile(r"(?i)\bsame \w+ as before|\b(?:as|see) (?:#\d|above)|同上|如上")
_CUT = re.compile(r"(?:…|\.\.\.)[”\"]?\s*(?:→|$)")

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
        subject: what it is about, if that is named.
    """

    text: str
    category: str
    author: str
    project: str
    spans: tuple[Span, ...] = ()
    evidence: str = ""
    at: str = ""
    confidence: float = LIKELY
    subject: str = ""

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
    if not _has_subject(text):
        yield "it does not say what it is about"
    if text.endswith(("?", "？", ":", "：")) or _CUT.search(text) or _REFERENCE.search(text):
        yield "it is a question, an option or a fragment"
    if starts_with("deictic", text) or _ELSEWHERE.search(text):
        yield "it leans on what was said before"
    is_status = proposal.author != USER and re.match(pattern_of("status_line"), text, re.IGNORECASE)
    if is_status or mentioned("moment", text):
        yield "it speaks of the moment"
    if redact(text) != text or "[redacted" in text.casefold():
        yield "it holds a secret"
    if proposal.author == TOOL and proposal.category in STANDING:
        yield "what a tool printed is neither a decision nor a preference"
    if not proposal.spans:
        yield "nothing is known that it stands on"


def _has_subject(text: str) -> bool:
    """Return whether *text*, of an answer the question before it, names anything."""
    asked, arrow, _ = text.partition(ARROW)
    return _names(frozenset(statement(asked).words)) >= (_NAMING if arrow else 1)


class _Known(NamedTuple):
    """A fact as proposals are compared with it."""

    fact: Fact
    claim: Claim
    words: frozenset[str]


class Judge:
    """The verdicts on one proposal after the other, beside the facts that hold and the proposals before it.

    Args:
        facts: all facts of the proposals' area and of no project, whatever their status.
        told: the words of each line of CLAUDE.md, MEMORY.md and the rules: what they say needs no fact.
        redact: removes secrets.
    """

    def __init__(self, facts: Iterable[Fact], told: Sequence[frozenset[str]], redact: Callable[[str], str]) -> None:
        self._known = [_Known(fact, statement(fact.fact), words(fact.fact)) for fact in facts]
        self._told = told
        self._redact = redact

    def judge(self, proposal: Proposal) -> Judged:
        """Return the verdict on *proposal*."""
        if fault := fault_of(proposal, self._redact):
            return Judged(proposal, "rejected", fault)
        claim = statement(proposal.text)
        if twin := self._twin(proposal, claim):
            return self._again(proposal, twin)
        if is_said(words(proposal.text), self._told, _SAID):
            return Judged(proposal, "rejected", "CLAUDE.md, MEMORY.md or a rule says so already")
        active = [known for known in self._known if known.fact.status == "active"]
        if old := next((known.fact for known in active if _is_about_same(proposal, claim, known)), None):
            return _in_place_of(proposal, old)
        if rival := next((known.fact for known in active if _may_contradict(proposal, claim, known)), None):
            return Judged(proposal, "review", f"it seems to contradict '{rival.fact}'", rival.id)
        return Judged(proposal, "new")

    def heed(self, fact: Fact) -> None:
        """Compare what comes with *fact*, too; the one that it supersedes holds no longer."""
        self._known = [
            known._replace(fact=known.fact._replace(status="superseded", superseded_by=fact.id))
            if known.fact.id == fact.supersedes
            else known
            for known in self._known
        ]
        self._known.append(_Known(fact, statement(fact.fact), words(fact.fact)))

    def _twin(self, proposal: Proposal, claim: Claim) -> Fact | None:
        """Return the fact that says what *proposal* says, or that was saved in its session; an active one first."""
        found = [known.fact for known in self._known if _says_same(proposal, claim, known)]
        return min(found, key=lambda fact: fact.status != "active", default=None)

    def _again(self, proposal: Proposal, twin: Fact) -> Judged:
        """Return the verdict on a *proposal* that *twin* says: what was superseded may be said again, and later."""
        successor = twin
        while successor.status == "superseded":
            after = (known.fact for known in self._known if known.fact.id == successor.superseded_by)
            successor = next(after, successor._replace(status="archived"))
        if successor is not twin and successor.status == "active" and _outweighs(proposal, successor):
            return _in_place_of(proposal, successor)
        return Judged(proposal, *_FATES[twin.status], twin.id)


_FATES: dict[str, tuple[Fate, str]] = {
    "active": ("known", "a fact says so"),
    "archived": ("rejected", "it was rejected or archived before"),
    "superseded": ("rejected", "it was superseded"),
}


def _in_place_of(proposal: Proposal, old: Fact) -> Judged:
    said = f"'{old.fact}' ({old.timestamp[:10]})"
    if _outweighs(proposal, old):
        return Judged(proposal, "supersedes", f"it was said later than {said}", old.id)
    return Judged(proposal, "review", f"it says something else than {said}", old.id)


def _outweighs(proposal: Proposal, old: Fact) -> bool:
    """Return whether *proposal* was said later than *old*, on as good a word."""
    return proposal.at[:10] >= old.timestamp[:10] and trust(proposal.author) >= trust(old.author)


def _says_same(proposal: Proposal, claim: Claim, known: _Known) -> bool:
    said = words(proposal.text)
    if known.fact.source.partition("#")[0] in {span.session for span in proposal.spans} - {""} and not known.fact.spans:
        return is_said(said, [known.words], _SAVED) or is_said(known.words, [said], _SAVED)
    if _codes(known.fact.fact) != _codes(proposal.text):
        return False
    return is_same(claim, known.claim) or (proposal.author != USER and _is_narrower(claim, said, known))


def _is_narrower(claim: Claim, said: frozenset[str], known: _Known) -> bool:
    """Return whether a text only adds to what a fact says: the same values, and all of its words."""
    is_like = claim.values == known.claim.values and claim.negated == known.claim.negated
    return is_like and len(known.words) >= _COMPARABLE and known.words <= said


def _is_about_same(proposal: Proposal, claim: Claim, known: _Known) -> bool:
    """Return whether *proposal* says something else of the subject that the fact names.

    Both name it, or before an arrow ask the same; or only a number differs; or the user's words name all that the fact
    names, and more.
    """
    if proposal.subject and known.fact.subject:
        return _key(proposal.subject) == _key(known.fact.subject)
    asked, answered = _question(proposal.text), _question(known.fact.fact)
    if asked or answered:
        return asked == answered
    new, old = frozenset(claim.words), frozenset(known.claim.words)
    if _names(old) < _NAMING:
        return False
    if claim.values and known.claim.values and claim.values != known.claim.values:
        return _without_values(new) == _without_values(old) and claim.negated == known.claim.negated
    return proposal.author == USER and old < new


def _question(text: str) -> str:
    """Return the question, or the error, that *text* has before its arrow."""
    asked, arrow, _ = text.partition(ARROW)
    return letters(asked) if arrow else ""


def _key(subject: str) -> frozenset[str]:
    return frozenset(statement(subject.casefold()).words) or frozenset([letters(subject)])


def _names(said: frozenset[str]) -> float:
    return sum(0.5 if is_unspaced(word[0]) else 1 for word in _without_values(said))


def _without_values(said: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in said if not any(map(str.isdigit, word)))


def _may_contradict(proposal: Proposal, claim: Claim, known: _Known) -> bool:
    said = words(proposal.text)
    shared = len(said & known.words)
    return shared >= max(2, min(len(said), len(known.words)) / 2) and contradicts(claim, known.claim, in_one_place=True)


def _codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)
