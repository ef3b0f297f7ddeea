"""The words of a prompt, weighed by how rare they are in a vault, and how much of them a text holds. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set as AbstractSet
from itertools import pairwise
from typing import TYPE_CHECKING

from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.answers.question import Question, is_common, is_common_pair, tell, telling_parts

if TYPE_CHECKING:
    from memtool.index.tables import Tables

_COMMON_TELLS, _COMMON_IS_ABOUT = 0.6, 0.15  # a common word: of what two texts share, of what a prompt is about
_OF_PART = 0.5  # a part of a name, beside the name
_PAIR = 0.5  # two characters of a stretch share one: a word of two characters has one pair, of four has three
_OTHER_WORDS, _OTHER_COMMON_WORDS = 0.75, 0.25  # what it is worth that a text says the same in other words
_SAID_IN_PART = 0.5  # what a common word, or another one, counts among those of a statement


def rarity(frequency: int, count: int) -> float:
    """Return the logarithm of one in how many of *count* chunks holds what *frequency* of them hold."""
    return math.log(1 + max(0.0, count - frequency + 0.5) / (frequency + 0.5))


class _Word(NamedTuple):
    """A word: its term, the parts of it that tell something, and what it is worth if held, and in all of a prompt."""

    term: str
    parts: frozenset[str]
    strength: float
    about: float


class Clues:
    """The words of a question, each with its rarity, and what has other words, with the rarity of those together.

    Attributes:
        weights: what each term is worth to a statement that holds it.
        telling: the terms that tell something by themselves.
        scope: the logarithm of the number of chunks among which they are rare or not.
    """

    def __init__(
        self, question: Question, rarities: Mapping[str, float], of_others: Sequence[float], size: int = 1
    ) -> None:
        self.scope = math.log(size)
        self.weights: dict[str, float] = {}
        self._add_others(question, rarities, of_others)
        self._words = []
        for word in question.words:
            tells, about = (1.0, 1.0) if word.is_telling else (_COMMON_TELLS, _COMMON_IS_ABOUT)
            rare = max(rarities.get(term, 0.0) for term in word.terms)
            own = tells * rarities.get(word.terms[0], 0.0)
            parts = frozenset(telling_parts(word))
            self._words.append(_Word(word.terms[0], parts, own or tells * rare, about * rare))
            self._weigh(word.terms[0], own)
            for part in word.terms[1:]:
                if len(part) > 1 or not part.isascii():
                    self._weigh(part, _OF_PART * tells * rarities.get(part, 0.0))
        self.telling = {word.terms[0] for word in question.words if word.is_telling}
        self._pieces = [
            [(pair, rarities.get(pair, 0.0) if tells else 0.0) for pair, tells in tell(piece)]
            for piece in question.pieces
        ]
        for pair, rare in (each for piece in self._pieces for each in piece if each[1]):
            self.telling.add(pair)
            self._weigh(pair, _PAIR * rare)
        self._pairs = frozenset(word.term for word in self._words if " " in word.term)
        self._spaced = sum(word.about for word in self._words)
        self._unspaced = sum(_PAIR * rare for piece in self._pieces for _, rare in piece)

    def _weigh(self, term: str, weight: float) -> None:
        self.weights[term] = max(weight, self.weights.get(term, 0.0))

    def _add_others(self, question: Question, rarities: Mapping[str, float], of_others: Sequence[float]) -> None:
        self._synonyms = []
        for synonyms, rare in zip(question.synonyms, of_others, strict=True):
            is_plain = not question.is_act and all(is_common_pair(term) or is_common(term) for term in synonyms.own)
            # A text that says it in other words holds no more than one that says it in these.
            own = max(rarities.get(term, 0.0) for term in synonyms.own)
            worth = (_OTHER_COMMON_WORDS if is_plain else _OTHER_WORDS) * min(rare, own)
            self._synonyms.append((frozenset(synonyms.own), [frozenset(other) for other in synonyms.others], worth))
            for other in synonyms.others:
                for term in other:
                    self._weigh(term, _OF_PART * min(rare, own or rare) / len(other))

    def terms_in(self, terms: Sequence[str]) -> frozenset[str]:
        """Return the *terms* of a text, and the pairs of words of the prompt that are side by side in it."""
        found = frozenset(terms)
        if not self._pairs:
            return found
        return found.union(self._pairs.intersection(f"{one} {other}" for one, other in pairwise(terms)))

    def held(self, terms: AbstractSet[str], *, is_spaced: bool = False) -> tuple[float, float]:
        """Return the rarities of what a text with *terms* shares, and the share of what the prompt is about.

        A text that *is_spaced*, written with spaces throughout, cannot hold the stretches of a prompt without.
        """
        strength = about = 0.0
        for word in self._words:
            part = 1.0 if word.term in terms else _OF_PART if not word.parts.isdisjoint(terms) else 0.0
            strength += part * word.strength
            about += part * word.about
        for piece in self._pieces:
            is_run = False
            for pair, rare in piece:  # pairs that follow each other share a character
                shared = rare * (_PAIR if is_run else 1.0) if pair in terms else 0.0
                strength, about = strength + shared, about + shared
                is_run = pair in terms and (is_run or rare > 0)
        for own, others, worth in self._synonyms:
            if not own <= terms and any(other <= terms for other in others):
                strength, about = strength + worth, about + worth
        total = self._spaced if is_spaced and self._words else self._spaced + self._unspaced
        return strength, min(1.0, about / (total or 1.0))

    def coverage(self, terms: AbstractSet[str]) -> float:
        """Return the share of the *terms* of a statement that the prompt says."""
        said = (1.0 if term in self.telling else _SAID_IN_PART for term in terms & self.weights.keys())
        return sum(said) / max(len(terms), 1)


def clues_of(db: Tables, question: Question) -> Clues:
    """Return the clues of *question* among all chunks. If it has only common words, these are what it is about."""
    if not question.terms():
        question = question._replace(words=tuple(word._replace(is_telling=True) for word in question.words))
    return weighed_words(db, question, *scope_of(db, ""))[0]


def weighed_words(
    db: Tables, question: Question, size: int, inside: frozenset[int] | None
) -> tuple[Clues, list[tuple[float, Sequence[int]]]]:
    """Return the clues of *question*, and the rarity of each word of it with the chunks that hold it.

    Words are rare or not among *size* chunks, those *inside*; None for all.
    """
    places = {term: db.holding([(term,)], limits.MOST_CHUNKS + 1) for term in question.terms()[: limits.MOST_TERMS]}
    in_other_words = [db.holding(each.others, limits.MOST_CHUNKS + 1) for each in question.synonyms]
    # A pair of words that the vault has nowhere tells nothing.
    question = question._replace(
        words=tuple(word for word in question.words if " " not in word.terms[0] or places.get(word.terms[0]))
    )
    rarities = {term: rarity(_frequency(ids, size, inside), size) for term, ids in places.items()}
    of_others = [rarity(_frequency(ids, size, inside), size) for ids in in_other_words]
    for synonyms, other in zip(question.synonyms, of_others, strict=True):
        own = synonyms.own[0]
        if other and not places.get(own, (own,)):  # what the vault only says in other words is as rare as those
            rarities[own] = min(other, rarities[own])
    clues = Clues(question, rarities, of_others, size)
    rare: list[tuple[float, Sequence[int]]] = [(rarities[term], ids) for term, ids in places.items()]
    rare += [(other / 2, ids) for other, ids in zip(of_others, in_other_words, strict=True)]
    return clues, rare


def scope_of(db: Tables, project: str) -> tuple[int, frozenset[int] | None]:
    """Return the number of chunks among which words are rare or not, and which they are: None for all.

    That is the project at hand with what belongs to none; without a project, or where those are many, the vault.
    """
    inside = "FROM chunk WHERE project IN (?, '')"
    count = int(db.execute(f"SELECT count(*) {inside}", (project,)).fetchone()[0])
    if not project or count > limits.LARGEST_SCOPE:
        return max(50, db.chunk_count()), None
    return max(50, count), frozenset([row[0] for row in db.execute(f"SELECT id {inside}", (project,))])


def _frequency(ids: Sequence[int], size: int, inside: frozenset[int] | None) -> int:
    if len(ids) > limits.MOST_CHUNKS:
        return max(limits.MOST_CHUNKS, size // 10)
    return len(ids) if inside is None else len(inside.intersection(ids))
