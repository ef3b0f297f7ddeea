"""Where the words of a prompt occur in an index, and among how many chunks of the project at hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtool.index.completion import complete
from memtool.index.text import stem
from memtool.recall.prompts.common_words import COMMON
from memtool.recall.prompts.question import Question
from memtool.recall.prompts.thesaurus import Meaning

_MOST_TERMS = 48  # of a prompt
_MOST_CHUNKS = 1_000  # of one term; what stands in more finds nothing
_MOST_CHUNKS_OF_COMMON = 200
_LEAST_SCOPE = 50  # chunks; where there are fewer, what they hold is no more relevant for that
_MOST_OF_SCOPE = 4_000  # chunks; among more, words are as rare as in the vault
_SHORTEST_BEGINNING = 5  # letters
_MOST_ALTERED = 6  # words that occur nowhere, for which others with the same beginning are tried
_MOST_LOOKED_UP = 3  # of those, within other words and as slips of the finger: 2 ms each
_MOST_MEANT = 3  # words by one of them


class Scope(NamedTuple):
    """The chunks among which words are rare or not, *size* of them: *ids*, or all where that is None."""

    size: int
    ids: frozenset[int] | None

    def held(self, chunks: Sequence[int]) -> int:
        """Return how many of *chunks* are among them."""
        return len(chunks) if self.ids is None else len(self.ids.intersection(chunks))


class Occurrence(NamedTuple):
    """The *chunks* that hold something, empty if they are too many to tell; *frequency* of them are in the scope."""

    chunks: Sequence[int]
    frequency: int


def find_scope(db: sqlite3.Connection, project: str) -> Scope:
    """Return the project at hand with what belongs to none; without a project, or where those are many, the vault."""
    inside = "FROM chunk WHERE project IN (?, '')"
    count = int(db.execute(f"SELECT count(*) {inside}", (project,)).fetchone()[0])
    if not project or count > _MOST_OF_SCOPE:
        count, ids = int(db.execute("SELECT count(*) FROM chunk").fetchone()[0]), None
    else:
        ids = frozenset([row[0] for row in db.execute(f"SELECT id {inside}", (project,))])
    return Scope(max(_LEAST_SCOPE, count), ids)


def of_terms(db: sqlite3.Connection, question: Question, scope: Scope) -> dict[str, Occurrence]:
    """Return where each term of *question* occurs."""
    common = {word.terms[0] for word in question.words if word.kind is COMMON}
    terms = question.terms()[:_MOST_TERMS]
    limits = ((term, _MOST_CHUNKS_OF_COMMON if term in common else _MOST_CHUNKS) for term in terms)
    return {term: _occurrence(db, f'"{term}"', scope, most) for term, most in limits}


def of_meaning(db: sqlite3.Connection, meaning: Meaning, scope: Scope) -> Occurrence:
    """Return where something is said in other words. Terms hold no quotes, so no text is ever FTS5's syntax."""
    quoted = ([f'"{term}"' for term in other] for other in meaning.others)
    return _occurrence(db, " OR ".join(f"({' AND '.join(terms)})" for terms in quoted), scope, _MOST_CHUNKS)


def completed(db: sqlite3.Connection, question: Question, found: dict[str, Occurrence]) -> Iterator[Meaning]:
    """Give for words that occur nowhere those that may be meant.

    `postgres` is said for `postgresql` and the reverse, and `recieve` is a slip of the finger.
    """
    telling = [word for word in question.words if word.kind is not COMMON and word.terms[0] in found]
    absent = [word for word in telling if not found[word.terms[0]].frequency and not found[word.terms[0]].chunks]
    long = [word for word in absent if word.terms[0].isalpha() and len(word.terms[0]) >= _SHORTEST_BEGINNING]
    looked_up = 0
    for word in long[:_MOST_ALTERED]:
        term = word.terms[0]
        words = _beginning_alike(db, term)
        if not words and looked_up < _MOST_LOOKED_UP:
            looked_up += 1
            words = complete(db, word.typed, frozenset([term])).get(word.typed, ())
        if words:
            yield Meaning((term,), tuple((stemmed,) for stemmed in dict.fromkeys(map(stem, words[:_MOST_MEANT]))))


def _beginning_alike(db: sqlite3.Connection, term: str) -> Sequence[str]:
    """Return words that begin with *term*, or with which it begins."""
    least = max(_SHORTEST_BEGINNING, -(-len(term) * 2 // 3))
    beginnings = [term[:end] for end in range(least, len(term))]
    rows = db.execute(
        f"SELECT word FROM word WHERE word > ? AND word < ? OR word IN ({', '.join('?' * len(beginnings))})"  # noqa: S608  (marks only)
        " ORDER BY abs(length(word) - ?)",
        (term, term + "\U0010ffff", *beginnings, len(term)),
    )
    return [row[0] for row in rows.fetchmany(_MOST_MEANT)]


def _occurrence(db: sqlite3.Connection, match: str, scope: Scope, most: int) -> Occurrence:
    # Without an order FTS5 only walks through the list of each term; ranking would take ten times as long.
    rows = db.execute("SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ? LIMIT ?", (match, most + 1))
    ids = [row[0] for row in rows]
    return Occurrence(ids, scope.held(ids)) if len(ids) <= most else Occurrence((), max(most, scope.size // 10))
