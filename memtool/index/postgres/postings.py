"""Where terms occur, as packed numbers, and BM25 over them as FTS5 counts it.

A posting holds, for each chunk of a segment in which the term stands: the chunk's number in the vault, how often the
term stands in it, how many terms the chunk has, and at which places. PostgreSQL keeps and finds them; they are added up
here, in the order of the terms, so that the sums are those of FTS5 to the last digit.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memtool.index.lexical import K1, B
from memtool.text.tokens import CONTEXT_END

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_IDF = 1e-6  # of a term that stands in most chunks
_PLACE_BITS = 32


class Occurrences(NamedTuple):
    """The chunks that hold a term, how often, and how long each chunk is; *positions* in the order of the chunks."""

    chunks: NDArray[np.int64]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    positions: NDArray[np.int64] | None = None


class Postings:
    """The postings of some terms of a vault with so many *chunks* and *terms* in all; *dead* chunks are left out."""

    def __init__(self, chunks: int, terms: int, last_chunk: int, dead: bytes) -> None:
        self._count = chunks
        self._average = terms / chunks if chunks else 1.0
        self._size = last_chunk + 1
        self._dead = np.zeros(self._size, bool)
        self._dead[np.frombuffer(dead, "<i4")] = True
        self._known: dict[str, Occurrences] = {}

    def unknown(self, terms: Iterable[str], *, of_phrases: bool) -> list[str]:
        """Return which of *terms* are still to be read; or *of_phrases*, the words whose positions are."""
        if of_phrases:
            words = dict.fromkeys(word for term in terms if " " in term for word in term.split(" "))
            return [word for word in words if word not in self._known or self._known[word].positions is None]
        return [term for term in dict.fromkeys(terms) if " " not in term and term not in self._known]

    def take(self, terms: Iterable[str], rows: Iterable[Sequence[Any]], *, with_positions: bool) -> None:
        """Keep the *rows* of *terms*: term, chunks, counts, lengths and, if they are there, positions."""
        parts: dict[str, list[Sequence[bytes]]] = {term: [] for term in terms}
        for term, *packed in rows:
            parts[term].append(packed)
        for term, some in parts.items():
            columns = [b"".join(column) for column in zip(*some, strict=True)] or [b""] * (3 + with_positions)
            self._known[term] = self._living([np.frombuffer(column, "<i4").astype(np.int64) for column in columns])

    def _living(self, columns: Sequence[NDArray[np.int64]]) -> Occurrences:
        chunks, counts, lengths = columns[:3]
        alive = ~self._dead[chunks]
        places = columns[3][np.repeat(alive, counts)] if len(columns) > 3 else None
        return Occurrences(chunks[alive], counts[alive], lengths[alive], places)

    def of(self, term: str) -> Occurrences:
        """Return where *term*, or a phrase, occurs. It has been taken."""
        if " " not in term:
            return self._known[term]
        if term not in self._known:
            self._known[term] = _side_by_side([self._known[word] for word in term.split(" ")])
        return self._known[term]

    def holding(self, any_of: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """Return the numbers of the chunks that hold all terms of any of the lists, in order."""
        found = []
        for terms in any_of:
            chunks = self.of(terms[0]).chunks
            for term in terms[1:]:
                chunks = np.intersect1d(chunks, self.of(term).chunks)
            found.append(chunks)
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def bm25(self, terms: Sequence[str], depth: int | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the numbers of the *depth* best chunks, or of all that hold any of *terms*, and their BM25."""
        scores = np.zeros(self._size)
        for term in terms:
            chunks, counts, lengths, _ = self.of(term)
            scores[chunks] += self._idf(len(chunks)) * (
                (counts * (K1 + 1.0)) / (counts + K1 * (1 - B + B * lengths / self._average))
            )
        numbers = np.flatnonzero(scores)
        found = scores[numbers]
        if depth is not None and len(numbers) > depth:
            least = np.partition(found, len(found) - depth)[len(found) - depth]
            numbers, found = numbers[found >= least], found[found >= least]
        order = np.lexsort((numbers, -found))[:depth]
        return numbers[order], found[order]

    def _idf(self, frequency: int) -> float:
        return max(_LEAST_IDF, math.log((self._count - frequency + 0.5) / (frequency + 0.5)))


def _side_by_side(words: Sequence[Occurrences]) -> Occurrences:
    """Return where the *words* of a phrase follow each other."""
    keys = _places(words[0], 0)
    for shift, word in enumerate(words[1:], 1):
        keys = np.intersect1d(keys, _places(word, shift))
    chunks, counts = np.unique(keys >> _PLACE_BITS, return_counts=True)
    first = words[0]
    return Occurrences(chunks, counts, first.lengths[np.searchsorted(first.chunks, chunks)])


def _places(word: Occurrences, shift: int) -> NDArray[np.int64]:
    """Return all places of *word*, so many to the left, as one number each."""
    positions = np.empty(0, np.int64) if word.positions is None else word.positions
    places: NDArray[np.int64] = (np.repeat(word.chunks, word.counts) << _PLACE_BITS) + positions - shift
    return places


class NewPostings:
    """The postings of new chunks, by term, to be packed."""

    def __init__(self) -> None:
        self.terms = 0  # in all chunks
        self._by_term: dict[str, tuple[array[int], array[int], array[int], array[int]]] = {}

    def add(self, number: int, terms: str) -> None:
        """Take in the *terms* of the chunk that has this *number* in its vault."""
        listed = listed_terms(terms)
        self.terms += len(listed)
        places: dict[str, list[int]] = {}
        for place, term in enumerate(listed):
            places.setdefault(term, []).append(place)
        for term, some in places.items():
            kept = self._by_term.get(term)
            if kept is None:
                kept = self._by_term[term] = (array("i"), array("i"), array("i"), array("i"))
            kept[0].append(number)
            kept[1].append(len(some))
            kept[2].append(len(listed))
            kept[3].extend(some)

    def frequencies(self) -> dict[str, int]:
        """Return how many chunks hold each term."""
        return {term: len(kept[0]) for term, kept in self._by_term.items()}

    def columns(self) -> tuple[list[str], list[bytes], list[bytes], list[bytes], list[bytes]]:
        """Return the terms in order, and the packed chunks, counts, lengths and positions of each."""
        terms = sorted(self._by_term)
        chunks, counts, lengths, places = ([packed(self._by_term[term][at]) for term in terms] for at in range(4))
        return terms, chunks, counts, lengths, places


def listed_terms(terms: str) -> list[str]:
    """Return the terms of a chunk one by one, as FTS5 sees them: it takes no notice of the end of the context."""
    return [term for term in terms.replace(CONTEXT_END, " ").split(" ") if term]


def packed(numbers: Iterable[int]) -> bytes:
    """Return *numbers* as a posting holds them."""
    return np.fromiter(numbers, "<i4").tobytes()
