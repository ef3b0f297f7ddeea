"""What a prompt asks of memory: its words and names, weighed by how much they tell. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Set as AbstractSet
from itertools import groupby, pairwise
from typing import NamedTuple, TypeVar

from memtool.index.text import index_terms, query_words, unspaced_runs
from memtool.recall.prompts.common_words import common_terms, is_common_pair, is_familiar

T = TypeVar("T")

COMMON = 0.1  # weight of a common word; it can tip the balance and never decides

_BEGINNING, _END = 3_000, 1_000  # characters of a long prompt that are looked at: what is asked stands at its ends
_FIRST_WORDS, _LAST_WORDS = 28, 12  # of a long prompt
_FIRST_PIECES, _LAST_PIECES = 12, 6  # and as many stretches of scripts without spaces
_LONGEST_PIECE = 40  # characters
_PASTED = r"(?s)(<pasted_content\b[^>]{0,200}>)(.*?)(</pasted_content>|\Z)"
_CODE = r"(?s)(```[^\n]{0,100}\n)(.*?)(```|\Z)"
_KEPT_OF_PASTED = 600  # characters of each paste
_COMMAND = r"\A\s*/[\w:.-]+(?=\s|\Z)"  # `/plugin:command what it is given`
_CAMEL_CASE = r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*[a-z][A-Z][A-Za-z0-9_]*"
_NAME = re.compile(r"(?=.*[a-z])(?=.*\d)|[a-z\d][_/:#@\\.-]+[a-z\d]|^#\d{2,}$")
_SHORTEST_NAME = 4


class Word(NamedTuple):
    """A word or a name in a script with spaces. *terms* are the whole, then its parts."""

    terms: tuple[str, ...]
    common: bool
    is_name: bool
    is_familiar: bool = False


class Question(NamedTuple):
    """The distinct words of a prompt, and its stretches of scripts without spaces."""

    words: tuple[Word, ...] = ()
    pieces: tuple[str, ...] = ()

    def terms(self) -> list[str]:
        """Return all terms that may tell something, names and then words in their order."""
        words = sorted(self.words, key=lambda word: not word.is_name)
        spaced = [term for word in words if not word.common for term in word.terms if term not in common_terms()]
        pairs = [
            pair for piece in self.pieces for pair, tells in zip(_pairs(piece), _telling(piece), strict=True) if tells
        ]
        return list(dict.fromkeys([*spaced, *pairs]))


def ask(prompt: str) -> Question:
    """Return what *prompt* asks; of long prompts and pastes, what stands at their beginning and end."""
    text = shortened(prompt)
    camel = {name.lower() for name in re.findall(_CAMEL_CASE, text)}
    words = [_word(word, is_name=word in camel) for word in query_words(text)]
    pieces = [piece[:_LONGEST_PIECE] for piece in unspaced_runs(text) if len(piece) > 1]
    return Question(
        tuple(filter(None, _ends(words, _FIRST_WORDS, _LAST_WORDS))), tuple(_ends(pieces, _FIRST_PIECES, _LAST_PIECES))
    )


def shortened(prompt: str) -> str:
    """Return *prompt* without the name of a command, its pastes cut to their beginnings, and it to its two ends."""
    text = prompt if len(prompt) <= 64_000 else f"{prompt[:32_000]}\n{prompt[-32_000:]}"
    text = re.sub(_COMMAND, "", text)
    for paste in (_PASTED, _CODE):
        text = re.sub(paste, lambda match: match[1] + match[2][:_KEPT_OF_PASTED] + match[3], text)
    return text if len(text) <= _BEGINNING + _END else f"{text[:_BEGINNING]}\n{text[-_END:]}"


class Match(NamedTuple):
    """How much of a question some text holds.

    Args:
        share: of the question's weight, from 0 to 1.
        words: how many telling words; a common one in a title is half a word.
        names: how many rare names are among them.
        rare: how many rare words are.
    """

    share: float = 0.0
    words: float = 0.0
    names: int = 0
    rare: int = 0


class _WordWeight(NamedTuple):
    """A word and what it weighs; the weights of its parts; the *forms* that stand for it where it is absent."""

    whole: str
    weight: float
    common: bool
    counts: float  # as how many words
    is_rare: bool
    is_rare_name: bool
    parts: tuple[tuple[str, float], ...]
    forms: tuple[str, ...]


class _PieceWeight(NamedTuple):
    """A stretch without spaces: its pairs, which of them are telling or rare, and the weight of each character."""

    pairs: tuple[str, ...]
    telling: tuple[bool, ...]
    rare: tuple[bool, ...]
    weights: tuple[float, ...]


class Weights:
    """What the words of *question* weigh in a vault of *count* chunks, *frequency* of which hold each term.

    *alternatives* are the terms that may be meant by a word that occurs nowhere.
    """

    def __init__(
        self,
        question: Question,
        frequency: Mapping[str, int],
        count: int,
        alternatives: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._frequency = frequency
        self._alternatives = alternatives or {}
        self._count = max(count, 1)
        self._most = _idf(self._count, 0)
        # What a vault does not know counts against all that it holds; a small one knows little.
        self._absent = 0.35 + 0.5 * min(1.0, math.log(self._count) / math.log(10_000))
        self._words = [self._of_word(word) for word in question.words]
        self._pieces = [self._of_piece(piece) for piece in question.pieces]
        spaced = [word.weight for word in self._words]
        unspaced = [weight for piece in self._pieces for weight in piece.weights]
        self.telling = sum(weight > COMMON for weight in [*spaced, *unspaced])
        self._total = _heaviest([*spaced, *unspaced])
        # Chinese words in a prompt cannot stand in an English note: for that they count as common ones.
        self._total_spaced = _heaviest([*spaced, *(min(weight, COMMON) for weight in unspaced)])

    def match(self, held: AbstractSet[str], title: AbstractSet[str] = frozenset(), *, spaced: bool = False) -> Match:
        """Return how well the terms *held* by a text answer the question.

        *title* are those among them that its title holds; *spaced* tells that it is written with spaces throughout.
        """
        share, words, names, rare = 0.0, 0.0, 0, 0
        for word in self._words:
            part = _held(word, held)
            if word.common:
                in_title = part == 1.0 and word.whole in title
                share += _IN_TITLE if in_title else COMMON * part
                words += 0.5 * in_title
            else:
                is_held = part >= _MOSTLY
                share += part * word.weight
                words += is_held * word.counts
                names += is_held and word.is_rare_name
                rare += is_held and word.is_rare
        for piece in self._pieces:
            weight, count, rare_pairs = _match_piece(piece, held)
            share += weight
            words += count
            rare += rare_pairs
        return Match(min(1.0, share / (self._total_spaced if spaced else self._total)), words, names, rare)

    def rarity(self, term: str) -> float:
        """Return the weight of a term, from 0 to 1."""
        frequency = self._frequency.get(term, 0)
        return _idf(self._count, frequency) / self._most if frequency else self._absent

    def _of_word(self, word: Word) -> _WordWeight:
        whole, known = word.terms[0], self._frequency.get(word.terms[0], 0)
        is_everywhere = known > max(_EVERYWHERE_COUNT, self._count * _EVERYWHERE_SHARE)  # as a project's name may be
        return _WordWeight(
            whole,
            COMMON if word.common else self._weight_of(word),
            word.common,
            counts=0.5 if is_everywhere else 1.0,
            is_rare=not word.is_familiar and self._is_rare(whole, _RARE_WORD),
            is_rare_name=word.is_name and self._is_rare(whole, _RARE_NAME),
            parts=tuple((term, self._part_weight(term)) for term in word.terms[1:] if len(term) > 1),
            forms=self._alternatives.get(whole, ()),
        )

    def _weight_of(self, word: Word) -> float:
        whole = word.terms[0]
        terms = [term for term in word.terms if term not in common_terms() or term == whole]
        known = [term for term in (*terms, *self._alternatives.get(whole, ())) if self._frequency.get(term)]
        return max(map(self.rarity, known or [whole])) * (_OF_NAME if word.is_name else 1.0)

    def _part_weight(self, part: str) -> float:
        return COMMON if part in common_terms() else self.rarity(part)

    def _is_rare(self, term: str, count: int) -> bool:
        return 0 < self._frequency.get(term, 0) <= count

    def _of_piece(self, piece: str) -> _PieceWeight:
        """Return a stretch with the weight of each character: half a word's, as two of them make one."""
        pairs = _pairs(piece)
        telling = _telling(piece)
        weights = [self.rarity(pair) if tells else COMMON for pair, tells in zip(pairs, telling, strict=True)]
        around = zip([weights[0], *weights], [*weights, weights[-1]], strict=True)
        return _PieceWeight(
            tuple(pairs),
            tuple(telling),
            rare=tuple(self._is_rare(pair, _RARE_WORD) for pair in pairs),
            weights=tuple(COMMON / 2 if COMMON in both else max(both) / 2 for both in around),
        )


def _held(word: _WordWeight, held: AbstractSet[str]) -> float:
    if word.whole in held:
        return 1.0
    if word.forms and not held.isdisjoint(word.forms):
        return _OF_PARTS
    if not word.parts:
        return 0.0
    total = sum(weight for _, weight in word.parts)
    return _OF_PARTS * sum(weight for part, weight in word.parts if part in held) / total


def _match_piece(piece: _PieceWeight, held: AbstractSet[str]) -> tuple[float, int, int]:
    """Return the weight of what is held of *piece*, how many words that is, and how many rare pairs are among them.

    A common pair counts where it belongs to a longer stretch that is held: 失败 of 解密失败.
    """
    weight, words, rare = 0.0, 0, 0
    if held.isdisjoint(piece.pairs):
        return weight, words, rare
    for is_held, stretch in groupby(range(len(piece.pairs)), key=lambda at: piece.pairs[at] in held):
        places = list(stretch)
        telling = [at for at in places if piece.telling[at]]
        if is_held and telling:
            weight += sum(piece.weights[places[0] : places[-1] + 2])
            words += (len(places) + 1) // 2
            rare += sum(piece.rare[at] for at in telling)
    return weight, words, rare


_ENOUGH = 8  # words of a prompt, the heaviest: of a long one nobody remembers all
_MOSTLY = 0.5  # share of a name's parts from which on it counts as found
_OF_PARTS = 0.8  # what all parts of a name are worth beside the name itself
_OF_NAME = 2.0  # what a name weighs beside a word as rare
_IN_TITLE = 0.4  # what a common word weighs that stands in a title
_RARE_NAME, _RARE_WORD = 10, 5  # chunks; what so many hold is rare, in a small vault and in a large one
_EVERYWHERE_COUNT, _EVERYWHERE_SHARE = 25, 0.2  # a word that so many chunks hold tells little


def _heaviest(weights: list[float]) -> float:
    return sum(sorted(weights, reverse=True)[:_ENOUGH]) or 1.0


def _idf(count: int, frequency: int) -> float:
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def _word(word: str, *, is_name: bool) -> Word | None:
    terms = tuple(index_terms(word))
    if not terms:
        return None
    telling = [term for term in terms if term not in common_terms() and (len(term) > 1 or not term.isascii())]
    common = not telling or (terms[0].isdigit() and len(terms[0]) < _SHORTEST_NAME)
    is_name = (is_name or _NAME.search(word) is not None) and len(word) >= _SHORTEST_NAME
    return Word(terms, common, is_name and not common and not is_familiar(word), is_familiar(word))


def _ends(items: list[T], first: int, last: int) -> list[T]:
    return items if len(items) <= first + last else [*items[:first], *items[-last:]]


def _pairs(piece: str) -> list[str]:
    return list(map("".join, pairwise(piece)))


def _telling(piece: str) -> list[bool]:
    """Return for each pair whether it tells something. 复这 of 修复这个 is only where two common words meet."""
    common = [False, *(is_common_pair(pair) for pair in _pairs(piece)), False]
    return [not (common[at] or (common[at - 1] and common[at + 1])) for at in range(1, len(common) - 1)]
