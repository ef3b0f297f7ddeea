"""The evidence that a prompt is about a memory: what both share, against what they would share by chance. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

from memtool.named_tuple import NamedTuple
from memtool.recall.ledger import key_of
from memtool.text.tokens import index_terms, is_stop_word
from memtool.vault.kinds import CATEGORIES
from memtool.vault.layout import is_facts_file

if TYPE_CHECKING:
    from memtool.recall.answers.likelihood import Signs
    from memtool.recall.prompts.meaning import Likeness
    from memtool.vault.sessions import Line

_CLAUSE_END = re.compile(r"[,:;.!?，：；。！？、（(]")
_SHORTEST_CLAUSE, _LONGEST_CLAUSE = 6, 40  # characters
_FEW = 2  # words; a text of fewer is not covered by one of them

RELEVANCE, CATEGORY, RECENCY, IMPORTANCE = 0.65, 0.20, 0.10, 0.05  # what each adds to the score
UNDATED = 0.5  # recency of what bears no date

_MANY_USES = 10  # from here on, further ones add nothing


class Whereabouts(NamedTuple):
    """The place of a memory.

    Args:
        scope: the number of chunks that are searched: so many could share as much by chance.
        is_here: whether it belongs to the project at hand.
        is_elsewhere: whether it belongs to another one.
    """

    scope: int
    is_here: bool = False
    is_elsewhere: bool = False


class Evidence(NamedTuple):
    """The evidence for a memory.

    Args:
        strength, share: of the prompt in the memory (`clues.Held`).
        coverage: how much of the memory's passage the prompt says, from 0 to 1.
        lead: how much of its title or first clause, which say what it is about.
        likeness: what meaning says; None where no model has looked at both, and words alone decide.
    """

    strength: float
    share: float
    coverage: float
    lead: float
    place: Whereabouts
    likeness: Likeness | None = None

    def told(self) -> dict[str, float]:
        """Return it as numbers by name, without what says nothing."""
        place = {"is_here": float(self.place.is_here), "is_elsewhere": float(self.place.is_elsewhere)}
        numbers = {**dict(zip(self._fields[:4], self[:4], strict=True)), **place}
        if self.likeness:
            numbers |= self.likeness._asdict()
        return {name: round(value, 2) for name, value in numbers.items() if value}


class Weights(NamedTuple):
    """The weight of each kind of evidence in the logarithm of the odds."""

    strength: float
    share: float
    coverage: float
    lead: float
    is_here: float
    is_elsewhere: float
    bias: float


class WeightsWithMeaning(NamedTuple):
    """The same where meaning speaks, too. The two sets are fitted each for itself and cannot be mixed."""

    strength: float
    share: float
    coverage: float
    lead: float
    is_here: float
    is_elsewhere: float
    cosine: float
    centred: float
    gap: float
    is_nearest: float
    bias: float


# Fitted by `python -m benchmarks.recall --fit` on the development part of the labelled set, before there were pairs of
# words; fitted anew they differ by less than a prompt or two.
WEIGHTS = Weights(strength=0.53, share=2.15, coverage=1.78, lead=2.41, is_here=2.64, is_elsewhere=-3.16, bias=-3.25)
# Fitted by `python -m benchmarks.recall --fit --model all-MiniLM-L6-v2`, on its prompts that the model fits.
WEIGHTS_WITH_MEANING = WeightsWithMeaning(
    strength=0.46, share=1.54, coverage=1.93, lead=0.64, is_here=4.32, is_elsewhere=-1.83,
    cosine=3.32, centred=4.51, gap=5.70, is_nearest=0.69, bias=-5.01,
)  # fmt: skip
# Half of what speaks for a memory of the project at hand speaks for one of no project. Fitted, it would be next to
# nothing, because prompts name few of those; but of the memories of a project that are filed under none, a prompt would
# then be given a third less.
_OF_NO_PROJECT = 0.4
FLOOR, FLOOR_WITH_MEANING = 0.19, 0.24  # relevance below which a memory is not given
_FLOOR_OF_LONG = 0.5
_LEAST_BY_MEANING = 0.12  # where words decide though meaning was asked: half the floor
_SHORT, _LONG = 22, 40  # words about something: two fifths of all words are not


def floor_of(evidence: Evidence, length: float = 0.0) -> float:
    """Return the relevance below which a memory with such evidence is not given to a prompt of such a length.

    A long prompt shares something with everything. Of 120 with 50 to 120 words about nothing that is remembered, every
    second was given something by the floor of short ones, and every sixth by this one.
    """
    floor = FLOOR if evidence.likeness is None else FLOOR_WITH_MEANING
    return floor + (_FLOOR_OF_LONG - floor) * min(1.0, max(0.0, (length - _SHORT) / (_LONG - _SHORT)))


def relevance(evidence: Evidence) -> float:
    """Return from 0 to 1 how likely a memory belongs to a prompt.

    Before anything is known, it is one of its scope.
    """
    weights = WEIGHTS if evidence.likeness is None else WEIGHTS_WITH_MEANING
    odds = sum(weight * value for weight, value in zip(weights, features(evidence), strict=True))
    return 1 / (1 + math.exp(min(60.0, math.log(max(1, evidence.place.scope)) - odds)))


def relevance_by_words(evidence: Evidence, length: float = 0.0) -> float:
    """Return the relevance by words alone of a memory that meaning says too little for; 0 where that is not enough.

    Where a prompt would be given nothing by meaning, it is given the best of these.
    """
    if evidence.likeness is None or relevance(evidence) < _LEAST_BY_MEANING:
        return 0.0
    alone = evidence._replace(likeness=None)
    return likely if (likely := relevance(alone)) >= floor_of(alone, length) else 0.0


def features(evidence: Evidence) -> tuple[float, ...]:
    """Return *evidence* as the numbers that its weights weigh, in their order."""
    is_here = 1.0 if evidence.place.is_here else 0.0 if evidence.place.is_elsewhere else _OF_NO_PROJECT
    place = (is_here, float(evidence.place.is_elsewhere))
    return (*evidence[:4], *place, *(evidence.likeness or ()), 1.0)


@lru_cache(maxsize=8_192)  # as for `memtool.recall.prompts.passages`
def _telling_terms(text: str) -> tuple[str, ...]:
    return tuple(term for term in dict.fromkeys(index_terms(text)) if len(term) > 1 and not is_stop_word(term))


def covered(text: str, said: Mapping[str, float]) -> float:
    """Return how much of the words of *text* a prompt says; *said* is what each of its terms counts, from 0 to 1."""
    terms = _telling_terms(text)
    return sum(said.get(term, 0.0) for term in terms) / max(len(terms), _FEW)


def lead_of(text: str) -> str:
    """Return the first clause of a title or a statement: it names the subject."""
    clause = _CLAUSE_END.split(text, maxsplit=1)[0]
    return clause if len(clause) >= _SHORTEST_CLAUSE else text[:_LONGEST_CLAUSE]


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
        role: of a line of a session's note, what it is (`memtool.vault.sessions`).
        asked: what the user had typed before it.
        review: why a fact is to be looked at again; empty if it is not.
        statements: of a session, those that answer, of which *text* is the first.
        files: of a session, names of those that matter.
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
    evidence: Evidence | Signs | None = None
    left_out: str = ""
    role: str = ""
    asked: str = ""
    review: str = ""
    statements: tuple[Line, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of the memory in ledgers and counts."""
        nameless = is_facts_file(self.ref) and not self.fact_id
        return key_of(self.ref, f"{crc32(self.text.encode('utf-8', 'replace')):08x}" if nameless else self.fact_id)


def score(recalled: Recalled, *, age_days: float | None, uses: int) -> float:
    """Return the worth of giving something, from 0 to 1. *age_days* is None for what bears no date."""
    return weighed(recalled.relevance, recalled.category, age_days=age_days, uses=uses)


def weighed(relevance: float, category: str, *, age_days: float | None, uses: int) -> float:
    """Return the score, from 0 to 1, of a memory with this *relevance*, *category*, age and number of uses."""
    weight, days = CATEGORIES.get(category, CATEGORIES["general"])
    recency = UNDATED if age_days is None else math.exp(-max(0.0, age_days) / days)
    return RELEVANCE * relevance + CATEGORY * weight + RECENCY * recency + IMPORTANCE * importance(uses)


def importance(uses: int) -> float:
    """Return from 0 to 1 how important something is that was used or read *uses* times."""
    return min(1.0, math.log(1 + max(0, uses)) / math.log(1 + _MANY_USES))
