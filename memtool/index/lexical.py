"""BM25 over terms, and what measurably improves its order (docs/decisions/0005-ranking-and-fusion.md)."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtool.index.completion import complete, completed_terms, occurs
from memtool.index.dates import asked_dates
from memtool.index.filters import Filter
from memtool.index.text import query_characters, query_terms

CANDIDATES = 100  # the best of BM25 that are looked at more closely
MOST_TERMS = 48  # of a long query, its rarest terms
CHARACTER_WEIGHT = 0.5  # BM25 counts pairs of characters; a chunk with all single ones too is worth half as much more
DATE_WEIGHT = 0.25  # a note of the day or month that the question names
NOTE_WEIGHT = 0.3  # the best hits of the same note, each worth half of the one before
NOTE_HITS = 5  # so many of them


class LexicalHit:
    """A chunk that holds some of the terms. *score* is `bm25` times the two factors, plus the note's bonus."""

    def __init__(self, chunk_id: int, bm25: float) -> None:
        self.chunk_id = chunk_id
        self.bm25 = bm25
        self.characters = 0.0  # share of the query's Han and Hangul characters in the chunk, by their idf
        self.dated = False  # whether the note has a date that the question names
        self.note = 0.0  # what the hits in its note add, itself among them
        self.completed = False  # whether a completed word alone found it

    @property
    def own_score(self) -> float:
        """Return what the chunk by itself is worth."""
        return self.bm25 * (1 + CHARACTER_WEIGHT * self.characters) * (1 + DATE_WEIGHT * self.dated)

    @property
    def score(self) -> float:
        """Return what the lexical ranking is ordered by; larger is better."""
        return self.own_score + NOTE_WEIGHT * self.note


class Lexical(NamedTuple):
    """The lexical side of a search: hits, best first; the terms that were asked for; the words that were completed."""

    hits: tuple[LexicalHit, ...]
    terms: tuple[str, ...]
    completed: dict[str, tuple[str, ...]]
    dropped: int = 0  # terms of a long query that were left out


def lexical_search(db: sqlite3.Connection, text: str, wanted: Filter, *, depth: int = CANDIDATES) -> Lexical:
    """Return the *depth* chunks that hold most of the terms of *text*, best first."""
    asked = query_terms(text)[: MOST_TERMS * 10]
    present = [term for term in asked if occurs(db, term)]
    completed = complete(db, text, frozenset(asked).difference(present))
    hits = _bm25(db, _rarest(db, present), wanted, depth)
    if completed:
        hits = _with_completed(hits, _bm25(db, completed_terms(completed)[:MOST_TERMS], wanted, depth))
    _look_closer(db, hits, text)
    hits.sort(key=lambda hit: (hit.completed, -hit.score, hit.chunk_id))
    return Lexical(tuple(hits), tuple(asked[:MOST_TERMS]), completed, dropped=max(0, len(asked) - MOST_TERMS))


def coverage(db: sqlite3.Connection, terms: Sequence[str], held: Iterable[str]) -> float:
    """Return the share, by idf, of the distinct *terms* of a query that are among *held*, from 0 to 1."""
    count = int(db.execute("SELECT count(*) FROM chunk").fetchone()[0])
    frequency = _document_frequencies(db, terms)
    idf = {term: inverse_frequency(count, frequency[term]) for term in terms}
    return sum(idf[term] for term in idf.keys() & set(held)) / (sum(idf.values()) or 1.0)


def inverse_frequency(count: int, frequency: int) -> float:
    """Return the idf of a term that *frequency* of *count* chunks hold (Robertson and Spärck Jones, never negative)."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def _document_frequencies(db: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    # This walks through all occurrences of each term, which takes about as long as a search.
    find = "SELECT doc FROM vocabulary WHERE term = ?"
    return {term: (db.execute(find, (term,)).fetchone() or (0,))[0] for term in terms}


def _rarest(db: sqlite3.Connection, terms: list[str]) -> list[str]:
    if len(terms) <= MOST_TERMS:
        return terms
    frequency = _document_frequencies(db, terms)
    kept = set(sorted(terms, key=frequency.__getitem__)[:MOST_TERMS])
    return [term for term in terms if term in kept]


def _bm25(db: sqlite3.Connection, terms: Sequence[str], wanted: Filter, depth: int) -> list[LexicalHit]:
    """Ask FTS5 for the best chunks. Only if the filter throws many of them out is every match looked at."""
    if not terms:
        return []
    match = " OR ".join(f'"{term}"' for term in terms)
    if not wanted.narrows:
        best = db.execute(
            "SELECT rowid, rank FROM chunk_terms WHERE chunk_terms MATCH ? ORDER BY rank LIMIT ?", (match, depth)
        ).fetchall()
        allowed = admitted(db, [chunk_id for chunk_id, _ in best], wanted)
        if len(allowed) * 2 > len(best) or len(best) < depth:
            return [LexicalHit(chunk_id, -rank) for chunk_id, rank in best if chunk_id in allowed]
    condition, values = wanted.where()
    rows = db.execute(
        "SELECT c.id, t.rank FROM chunk_terms AS t JOIN chunk AS c ON c.id = t.rowid"
        f" WHERE t.chunk_terms MATCH ? AND {condition} ORDER BY t.rank LIMIT ?",
        (match, *values, depth),
    )
    return [LexicalHit(chunk_id, -rank) for chunk_id, rank in rows]


def admitted(db: sqlite3.Connection, chunk_ids: Sequence[int], wanted: Filter) -> set[int]:
    """Return those of *chunk_ids* that the filter lets through."""
    condition, values = wanted.where()
    ids = ", ".join(map(str, chunk_ids))
    return {row[0] for row in db.execute(f"SELECT c.id FROM chunk AS c WHERE c.id IN ({ids}) AND {condition}", values)}


def _with_completed(hits: list[LexicalHit], more: list[LexicalHit]) -> list[LexicalHit]:
    """Add what completed words find: half its weight to hits of the words as typed, and new hits below all of them."""
    by_id = {hit.chunk_id: hit for hit in hits}
    # A fusion looks at scores rather than places, so those of new hits stay below all others too (the two factors of
    # `score` come to less than 2).
    below = min(hit.bm25 for hit in hits) / max(other.bm25 for other in more) / 2 if hits and more else 1.0
    for other in more:
        if other.chunk_id in by_id:
            by_id[other.chunk_id].bm25 += other.bm25 / 2
        else:
            other.completed = bool(hits)
            other.bm25 *= below
            by_id[other.chunk_id] = other
    return list(by_id.values())


class _Closer(NamedTuple):
    content: str
    date: str
    note_id: int
    fact_id: str


def _look_closer(db: sqlite3.Connection, hits: list[LexicalHit], text: str) -> None:
    characters = query_characters(text)
    dates = asked_dates(text)
    ids = ", ".join(str(hit.chunk_id) for hit in hits)
    rows = db.execute(
        "SELECT c.id, n.title || ' ' || c.heading || ' ' || c.text, c.date, c.note_id, c.fact_id FROM chunk AS c"
        f" JOIN note AS n ON n.id = c.note_id WHERE c.id IN ({ids})"
    )
    closer = {chunk_id: _Closer(*row) for chunk_id, *row in rows}
    # How telling a character is, the candidates show well enough; counting it in the whole index takes a search.
    counts = {char: sum(char in each.content for each in closer.values()) for char in characters}
    idf = {char: inverse_frequency(len(closer), count) for char, count in counts.items() if count}
    for hit in hits:
        hit.characters = _share(closer[hit.chunk_id].content, idf)
        hit.dated = _matches(closer[hit.chunk_id].date, dates)
    _add_note_bonus(hits, closer)


def _add_note_bonus(hits: list[LexicalHit], closer: dict[int, _Closer]) -> None:
    """Let the hits of one note support each other: a conversation is about what several of its parts are about.

    Facts stand for themselves, although many share a file.
    """
    by_note: dict[int | str, list[LexicalHit]] = {}
    for hit in sorted(hits, key=lambda hit: -hit.own_score):
        place = closer[hit.chunk_id]
        by_note.setdefault(place.fact_id or place.note_id, []).append(hit)
    for together in by_note.values():
        bonus = sum(hit.own_score * 0.5**rank for rank, hit in enumerate(together[:NOTE_HITS]))
        for hit in together:
            hit.note = bonus


def _share(content: str, idf: dict[str, float]) -> float:
    total = sum(idf.values())
    return sum(weight for char, weight in idf.items() if char in content) / total if total else 0.0


def _matches(date: str, patterns: list[re.Pattern[str]]) -> bool:
    return any(pattern.fullmatch(date) for pattern in patterns)
