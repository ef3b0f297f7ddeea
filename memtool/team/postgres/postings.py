"""Where terms occur, as packed numbers, and BM25 over them as FTS5 counts it.

A posting holds, for each chunk of a segment with the term: the chunk's number in the vault, how often the
term occurs in it, how many terms the chunk has, and at which places. PostgreSQL keeps and finds them; they are added up
here, in the order of the terms, so that the sums are those of FTS5 to the last digit.
"""

from __future__ import annotations

import math
from array import array
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from memtool.index.lexical import K1, B
from memtool.text.tokens import CONTEXT_END

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLACE_BITS = 32
T = TypeVar("T", bound="tuple[NDArray[Any], ...]")


class Weighed(NamedTuple):
    """The chunks that hold a term, or a phrase, in order; and what it adds to the BM25 of each."""

    chunks: NDArray[np.int64]
    weights: NDArray[np.float64]


class Places(NamedTuple):
    """The chunks that hold a term, in order, how often, and how long each is; and the term's places in each."""

    chunks: NDArray[np.int64]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    positions: NDArray[np.int32]


class StateCache:
    """What was read, for the next searches of this process: what was used last, in *most* bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._found: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()  # a service searches in several threads

    def get(self, key: Hashable) -> Any:  # noqa: ANN401
        """Return what was kept under *key*, or None."""
        with self._lock:
            if key not in self._found:
                return None
            self._found.move_to_end(key)
            return self._found[key][0]

    def put(self, key: Hashable, found: object, size: int) -> None:
        """Keep what was *found*, of so many bytes; let go of what was used long ago where all together is too much."""
        with self._lock:
            if key not in self._found:
                self._found[key] = found, size
                self._size += size
            while self._size > self._most:
                self._size -= self._found.popitem(last=False)[1][1]


term_cache = StateCache(64 << 20)


class Postings:
    """The postings of some terms of one state of a vault, which has *chunk_count* chunks and *term_count* terms in all.

    *dead* chunks are left out. *state* is the key under which terms are cached for later searches; None caches nothing.
    """

    def __init__(self, chunk_count: int, term_count: int, last_chunk: int, dead: bytes, state: Hashable = None) -> None:
        self.chunk_count = chunk_count
        self._average = term_count / chunk_count if chunk_count else 1.0
        self._size = last_chunk + 1
        self._dead = np.frombuffer(dead, "<i4")
        self.state = state
        self._weighed: dict[str, Weighed] = {}
        self._places: dict[str, Places] = {}

    def unknown(self, terms: Iterable[str]) -> list[str]:
        """Return the words of *terms* that are still to be read, without those that stand in phrases only."""
        return [term for term in dict.fromkeys(terms) if " " not in term and not self._recall(self._weighed, term)]

    def unknown_in_phrases(self, terms: Iterable[str]) -> list[str]:
        """Return the words of the phrases among *terms* whose places are still to be read."""
        phrases = [term for term in terms if " " in term and not self._recall(self._weighed, term)]
        words = dict.fromkeys(word for phrase in phrases for word in phrase.split(" "))
        return [word for word in words if not self._recall(self._places, word)]

    def frequency(self, term: str) -> int | None:
        """Return how many chunks hold *term*, or None if it is still to be read."""
        known = self._recall(self._weighed, term)
        return len(known.chunks) if known else None

    def take(self, words: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
        """Keep the *rows* of *words*: term, chunks, counts and lengths."""
        for word, columns in _joined(words, rows, 3):
            chunks, (counts, lengths), _ = self._living(*columns)
            self._remember(self._weighed, word, self._weigh(chunks, counts, lengths))

    def take_places(self, words: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
        """Keep the *rows* of *words*: term, chunks, counts, lengths and positions."""
        for word, (chunks, counts, lengths, positions) in _joined(words, rows, 4):
            alive_chunks, (alive_counts, alive_lengths), alive = self._living(chunks, counts, lengths)
            alive_positions = positions if alive is None else positions[np.repeat(alive, counts)]
            self._remember(self._places, word, Places(alive_chunks, alive_counts, alive_lengths, alive_positions))

    def of(self, term: str) -> Weighed:
        """Return where *term*, or a phrase, occurs. It, or its words, have been taken."""
        if term not in self._weighed:
            phrase = _side_by_side([self._places[word] for word in term.split(" ")])
            self._remember(self._weighed, term, self._weigh(*phrase))
        return self._weighed[term]

    def holding(self, any_of: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """Return the numbers of the chunks that hold all terms of any of the lists, in order."""
        found = []
        for terms in any_of:
            chunks = self.of(terms[0]).chunks
            for term in terms[1:]:
                chunks = _common(chunks, self.of(term).chunks)
            found.append(chunks)
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def bm25(self, terms: Sequence[str], depth: int | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the numbers of the *depth* best chunks, or of all that hold any of *terms*, and their BM25."""
        scores = np.zeros(self._size)
        for term in terms:
            chunks, weights = self.of(term)
            scores[chunks] += weights
        numbers = np.flatnonzero(scores != 0)  # four times as fast as without the comparison
        found = scores[numbers]
        if depth is not None and len(numbers) > depth:
            is_best = found >= np.partition(found, len(found) - depth)[len(found) - depth]
            numbers, found = numbers[is_best], found[is_best]
        order = np.lexsort((numbers, -found))[:depth]
        return numbers[order], found[order]

    def _weigh(self, chunks: NDArray[np.int64], counts: NDArray[Any], lengths: NDArray[Any]) -> Weighed:
        frequency = len(chunks)
        # 1e-6 for a term that is in most chunks, as FTS5 has it
        idf = max(1e-6, math.log((self.chunk_count - frequency + 0.5) / (frequency + 0.5)))
        return Weighed(chunks, idf * ((counts * (K1 + 1.0)) / (counts + K1 * (1 - B + B * lengths / self._average))))

    def _living(
        self, chunks: NDArray[Any], *columns: NDArray[Any]
    ) -> tuple[NDArray[np.int64], Sequence[NDArray[Any]], NDArray[np.bool_] | None]:
        """Return *chunks* and *columns* without what is dead, and which are not; None if all are alive."""
        if not len(self._dead):
            return chunks.astype(np.int64), columns, None
        alive = ~np.isin(chunks, self._dead)
        return chunks[alive].astype(np.int64), [column[alive] for column in columns], alive

    def _recall(self, known: dict[str, T], term: str) -> T | None:
        """Return what is known of *term*, from this search or an earlier one."""
        if (
            term not in known
            and self.state is not None
            and (found := term_cache.get((self.state, known is self._places, term)))
        ):
            known[term] = found
        return known.get(term)

    def _remember(self, known: dict[str, T], term: str, found: T) -> None:
        known[term] = found
        if self.state is not None:
            size = 500 + sum(column.nbytes for column in found)
            term_cache.put((self.state, known is self._places, term), found, size)


def _joined(
    words: Iterable[str], rows: Iterable[Sequence[Any]], width: int
) -> Iterator[tuple[str, list[NDArray[np.int32]]]]:
    """Give each of *words* with the columns of its *rows* one behind the other."""
    parts: dict[str, list[Sequence[bytes]]] = {word: [] for word in words}
    for word, *packed in rows:
        parts[word].append(packed)
    for word, some in parts.items():
        columns = [b"".join(column) for column in zip(*some, strict=True)] or [b""] * width
        yield word, [np.frombuffer(column, "<i4") for column in columns]


def _side_by_side(words: Sequence[Places]) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return the chunks in which the *words* of a phrase follow each other, how often, and how long each is."""
    keys = sorted((_keys(word, shift) for shift, word in enumerate(words)), key=len)
    common = keys[0]
    for others in keys[1:]:
        common = _common(common, others)
    chunks, counts = np.unique(common >> _PLACE_BITS, return_counts=True)
    first = words[0]
    return chunks, counts, first.lengths[np.searchsorted(first.chunks, chunks)]


def _keys(word: Places, shift: int) -> NDArray[np.int64]:
    """Return all places of *word*, so many to the left, as one number each, in order."""
    places: NDArray[np.int64] = (np.repeat(word.chunks, word.counts) << _PLACE_BITS) + word.positions - shift
    return places


def _common(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what two arrays in order share; it takes less time the shorter the first one is."""
    if not len(others):
        return others
    at = np.minimum(np.searchsorted(others, some), len(others) - 1)
    common: NDArray[np.int64] = some[others[at] == some]
    return common


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
