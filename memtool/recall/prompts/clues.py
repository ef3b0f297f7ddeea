"""Clues of a prompt, weighed by how rare they are in a vault, and the share of them that some text holds. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from itertools import groupby, pairwise
from typing import TypeAlias

from memtool.named_tuple import NamedTuple
from memtool.recall.prompts.question import TELLING, Question, Word, is_common_pair, pairs_of, telling_pairs
from memtool.recall.prompts.thesaurus import Synonyms
from memtool.text.tokens import is_stop_word

_OF_OTHER_WORDS, _OF_PART = 0.5, 0.5  # of the worth of a word to a statement: what another word, or a part, has
_OF_PARTS = 0.8  # what all parts of a name are worth beside the name itself
_OTHER_WORDS, _OTHER_COMMON_WORDS = 0.75, 0.25  # what it is worth that a text says the same in other words
_COMMON_WORD = 0.5  # what a common word counts among those of a memory
_PAIR = 0.5  # two characters of a stretch share one: a word of two characters has one pair, of four has three


class Rarity:
    """The rarity of terms among *count* chunks, of which *frequency* hold each: ln of one in how many."""

    def __init__(self, count: int, frequency: Mapping[str, int]) -> None:
        self._count = count
        self._frequency = frequency

    def of(self, term: str) -> float:
        """Return the rarity of *term*: the greatest if it occurs nowhere, none if nobody has looked where it does."""
        return self.of_count(self._frequency[term]) if term in self._frequency else 0.0

    def is_absent(self, term: str) -> bool:
        """Return whether *term* was looked for and occurs nowhere."""
        return self._frequency.get(term) == 0

    def of_count(self, frequency: int) -> float:
        """Return how rare it is what *frequency* chunks hold."""
        return math.log(1 + max(0.0, self._count - frequency + 0.5) / (frequency + 0.5))


class Held(NamedTuple):
    """The clues of a prompt that a text holds.

    Args:
        strength: the rarities of all that is shared; that much is unlikely to be shared by chance.
        share: of what the prompt is about, from 0 to 1.
    """

    strength: float = 0.0
    share: float = 0.0


class WordClue:
    """A word or a name, or the parts of a name."""

    def __init__(self, word: Word, rarity: Rarity) -> None:
        self._whole = word.terms[0]
        self._parts = [(part, rarity.of(part)) for part in word.terms[1:] if len(part) > 1 and not is_stop_word(part)]
        self._rarity = rarity.of(self._whole)
        self._kind = word.kind
        self.weight = word.kind.about * max([self._rarity, *(rarity for _, rarity in self._parts)])

    def weigh_as(self, rarity: float) -> None:
        """Let it weigh no more in the prompt than something of such a *rarity*."""
        self.weight = min(self.weight, self._kind.about * rarity)

    def held(self, terms: AbstractSet[str]) -> tuple[float, float]:
        """Return what it adds to the strength, and to the share, of a text with *terms*."""
        if self._whole in terms:
            return self._kind.tells * self._rarity, self.weight
        held = [rarity for part, rarity in self._parts if part in terms]
        if not held:
            return 0.0, 0.0
        share = _OF_PARTS * len(held) / len(self._parts)
        return share * self._kind.tells * max(held), share * self.weight


class StretchClue:
    """A stretch of a script without spaces; what counts is each part of it that a text holds in one piece."""

    def __init__(self, piece: str, rarity: Rarity) -> None:
        self._pairs = pairs_of(piece)
        self._tells = telling_pairs(piece)
        self._rarities = list(map(rarity.of, self._pairs))
        self.weights = [_PAIR * rare for rare in self._rarities]

    def held(self, terms: AbstractSet[str]) -> tuple[float, float]:
        """Return what it adds to the strength, and to the share, of a text with *terms*."""
        if terms.isdisjoint(self._pairs):
            return 0.0, 0.0
        total = 0.0
        for is_held, places in groupby(range(len(self._pairs)), key=lambda at: self._pairs[at] in terms):
            run = list(places)
            telling = [self._rarities[at] for at in run if self._tells[at]]
            if is_held and telling:
                words = (len(run) + 1) / 2
                total += words * sum(telling) / len(telling)
        return total, total


class SynonymClue:
    """Something that has other words: a text that does not hold its own may hold those. *rarity* is theirs together."""

    def __init__(self, synonyms: Synonyms, rarity: float, *, is_common: bool) -> None:
        self._own = frozenset(synonyms.own)
        self._others = [frozenset(other) for other in synonyms.others]
        self._worth = (_OTHER_COMMON_WORDS if is_common else _OTHER_WORDS) * rarity

    def held(self, terms: AbstractSet[str]) -> tuple[float, float]:
        """Return what it adds to the strength, and to the share, of a text with *terms*."""
        if self._own <= terms or not any(other <= terms for other in self._others):
            return 0.0, 0.0
        return self._worth, self._worth


Clue: TypeAlias = WordClue | StretchClue | SynonymClue


class Clues:
    """All clues of a prompt in a vault. *others* holds how rare the other words of its words with synonyms are."""

    def __init__(self, question: Question, rarity: Rarity, others: Sequence[float]) -> None:
        words = [WordClue(word, rarity) for word in question.words]
        stretches = [StretchClue(piece, rarity) for piece in question.pieces]
        common = {word.terms[0] for word in question.words if word.kind is not TELLING}
        in_other_words = [
            # A text that says it in other words holds no more than one that says it in these.
            SynonymClue(
                synonyms,
                min(rare, max(map(rarity.of, synonyms.own))),
                is_common=not question.is_act and all(term in common or is_common_pair(term) for term in synonyms.own),
            )
            for synonyms, rare in zip(question.synonyms, others, strict=True)
        ]
        for word, clue in zip(question.words, words, strict=True):
            for synonyms, rare in zip(question.synonyms, others, strict=True):
                # What occurs nowhere, but is said in other words, is as much of the prompt as those would be.
                if synonyms.own == word.terms[:1] and rare and rarity.is_absent(word.terms[0]):
                    clue.weigh_as(rare)
        self._clues: list[Clue] = [*words, *stretches, *in_other_words]
        spaced = [word.weight for word in words]
        self._total = sum(spaced) + sum(weight for stretch in stretches for weight in stretch.weights) or 1.0
        # Chinese words in a prompt cannot stand in an English note.
        self._total_spaced = (sum(spaced) or 1.0) if words else self._total
        self.said = dict(_said(question))
        self._pairs = frozenset(word.terms[0] for word in question.words if word.is_pair)
        self._first = frozenset(pair.split(" ")[0] for pair in self._pairs)
        self.weights = _weights(question, rarity, others)
        self.telling = dict(_telling(question))

    def terms_in(self, terms: Sequence[str]) -> frozenset[str]:
        """Return the *terms* of a text, and the pairs of the prompt that stand side by side in it."""
        pairs = (f"{one} {other}" for one, other in pairwise(terms) if one in self._first)
        return frozenset(terms).union(self._pairs.intersection(pairs) if self._pairs else ())

    def held(self, terms: AbstractSet[str], *, is_spaced: bool = False) -> Held:
        """Return how much a text with *terms* holds; *is_spaced* tells that it is written with spaces throughout."""
        added = [clue.held(terms) for clue in self._clues]
        about = sum(share for _, share in added) / (self._total_spaced if is_spaced else self._total)
        return Held(sum(strength for strength, _ in added), min(1.0, about))


def _weights(question: Question, rarity: Rarity, others: Sequence[float]) -> dict[str, float]:
    """Return what each term of *question* and of its other words is worth to a statement that holds it."""
    found: dict[str, float] = {}
    for synonyms, other in zip(question.synonyms, others, strict=True):
        worth = _OF_OTHER_WORDS * min(max(map(rarity.of, synonyms.own)) or other, other)
        found |= {term: max(worth / len(each), found.get(term, 0.0)) for each in synonyms.others for term in each}
    for word in question.words:
        for at, term in enumerate(word.terms):
            if len(term) > 1 or not term.isascii():
                worth = word.kind.tells * rarity.of(term) * (_OF_PART if at else 1.0)
                found[term] = max(worth, found.get(term, 0.0))
    for pair in _telling_pairs(question):
        found[pair] = max(_PAIR * rarity.of(pair), found.get(pair, 0.0))
    return found


def _telling(question: Question) -> Iterator[tuple[str, float]]:
    """Give the telling words of *question*, and how much each counts."""
    yield from ((word.terms[0], 1.0) for word in question.words if word.kind is TELLING and not word.is_pair)
    yield from ((pair, _PAIR) for pair in _telling_pairs(question))


def _telling_pairs(question: Question) -> Iterator[str]:
    for piece in question.pieces:
        yield from (pair for pair, tells in zip(pairs_of(piece), telling_pairs(piece), strict=True) if tells)


def _said(question: Question) -> Iterator[tuple[str, float]]:
    """Give the terms of *question* and of its other words, with what each counts; what was said itself comes last."""
    for synonyms in question.synonyms:
        yield from ((term, _OTHER_WORDS) for other in synonyms.others for term in other)
    for word in sorted(question.words, key=lambda word: word.kind.about):
        yield from ((term, 1.0 if word.kind is TELLING else _COMMON_WORD) for term in word.terms)
    for pair in (pair for piece in question.pieces for pair in pairs_of(piece)):
        yield pair, _COMMON_WORD if is_common_pair(pair) else 1.0
