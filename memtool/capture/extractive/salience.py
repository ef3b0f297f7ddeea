"""Which statements matter: their worth, and a choice of them that does not say anything twice."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from memtool.capture.extractive.sentences import width
from memtool.capture.extractive.statements import CLIENT, FINAL, HELPER, LAST, MIDDLE, USER, Statement
from memtool.index.text import fold, query_terms

SAME = 0.4  # Jaccard over character trigrams from which two statements say the same
REDACTED = -1.5  # worth of a statement out of which a secret was taken: it was about the secret
MOST_WEIGHED = 400  # statements whose words are counted
WITHIN = 0.7  # share of the shorter one's trigrams that the longer one holds

_SOURCES = {LAST: 1.4, FINAL: 1.1, CLIENT: 1.2, USER: 0.6, HELPER: 0.3, MIDDLE: 0.0}
_CUES = {
    "discovery": 1.2,
    "decision": 1.0,
    "rule": 0.8,
    "fix": 0.8,
    "feature": 0.8,
    "recommendation": 0.8,
    "refactor": 0.7,
    "change": 0.6,
    "success": 0.5,
    "open": 0.4,
    "stuck": 0.3,
    "personal": -0.3,
    "hedge": -0.7,
    "versioning": -0.8,
    "dangling": -1.0,
    "options": -1.2,
    "chatter": -3.0,
}
_SPECIFIC = re.compile(  # file names, identifiers, codes, numbers, options
    r"[\w-]+\.[a-zA-Z]{1,5}\b|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\w+_\w+|\b[A-Z]{1,4}\d{2,}\b|\b[A-Z]{2,}\b"
    r"|\d+(?:\.\d+)*|\w+\(\)|--?[a-z][\w-]+"
)
_NOT_A_LETTER = re.compile(r"[\W_]+")


def by_worth(statements: Sequence[Statement], steps: int) -> list[tuple[float, Statement]]:
    """Return the best statements with their worth, best first, of equals the later. *steps* is the session's length."""
    weighed = sorted(statements, key=_rough_worth, reverse=True)[:MOST_WEIGHED]
    terms = [query_terms(statement.text) for statement in weighed]
    known = Counter(term for each in terms for term in each)
    worths = [
        _worth(each, steps) + _centrality(own, known, len(weighed)) for each, own in zip(weighed, terms, strict=True)
    ]
    return sorted(zip(worths, weighed, strict=True), key=lambda pair: (-pair[0], -pair[1].step, pair[1].text))


class Chosen:
    """What has been chosen so far, so that nothing that says the same is chosen again."""

    def __init__(self) -> None:
        self._taken: list[frozenset[str]] = []

    def take(self, texts: Iterable[str]) -> None:
        """Remember *texts* as said."""
        self._taken += map(trigrams, texts)

    def says(self, text: str) -> bool:
        """Return whether something like *text* was said already."""
        mine = trigrams(text)
        return any(alike(mine, other) for other in self._taken)

    def pick(
        self,
        ranked: Iterable[tuple[float, Statement]],
        wanted: Callable[[Statement], bool],
        *,
        limit: int,
        floor: float,
    ) -> list[tuple[float, Statement]]:
        """Return the best of *ranked* that are *wanted*, worth more than *floor* and not said yet, at most *limit*."""
        picked: list[tuple[float, Statement]] = []
        for worth, statement in ranked:
            if len(picked) >= limit or worth < floor:
                break
            if wanted(statement) and not self.says(statement.text):
                self.take([statement.text])
                picked.append((worth, statement))
        return picked


def trigrams(text: str) -> frozenset[str]:
    """Return the runs of three characters in *text*, without its spaces and punctuation."""
    letters = _NOT_A_LETTER.sub("", fold(text[:600]))
    return frozenset(letters[at : at + 3] for at in range(max(1, len(letters) - 2)))


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two texts, given by their trigrams, say the same."""
    shared = len(one & other)
    return shared >= SAME * len(one | other) or shared >= WITHIN * min(len(one), len(other))


def _rough_worth(statement: Statement) -> float:
    """Return what *statement* is worth by its cues and its place alone, which is cheap."""
    cues = statement.cues - {"chatter", "personal"} if statement.source == USER else statement.cues
    secret = REDACTED if "[redacted: " in statement.text else 0.0
    return _SOURCES[statement.source] + sum(_CUES.get(cue, 0.0) for cue in cues) + secret


def _worth(statement: Statement, steps: int) -> float:
    late = 0.3 * (statement.step + 1) / max(steps, 1)
    shape = _specificity(statement) + _fitness(statement) - 0.3 * statement.asks - 0.4 * statement.nested
    return _rough_worth(statement) + late + shape


def _specificity(statement: Statement) -> float:
    names = set(_SPECIFIC.findall(statement.text))
    return min(1.2, 0.3 * (len(names) + statement.codes))


def _fitness(statement: Statement) -> float:
    """Return how well the length suits a note: 30 to 160 columns are best, unless a short one tells of success."""
    columns = width(statement.text)
    if columns < 30:
        return 0.0 if "success" in statement.cues and _SPECIFIC.search(statement.text) else -0.5
    return 0.0 if columns <= 160 else -0.5 if columns <= 240 else -1.0


def _centrality(terms: Sequence[str], known: Counter[str], total: int) -> float:
    """Return how much the terms are those of the whole session, against the statement's length (SumBasic's idea)."""
    if not terms or total < 2:
        return 0.0
    return min(1.0, 1.5 * sum(math.log1p(known[term] - 1) for term in terms) / len(terms) / math.log1p(total))
