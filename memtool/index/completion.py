"""The last resort: a query word that occurs nowhere is tried as a prefix, then as a part of words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from itertools import islice

from memtool.index.text import query_terms, query_words, stem, unspaced_runs

MOST_COMPLETED = 8  # words of one query: each costs a look at every word of the vault
MOST_WORDS = 20  # completions of one word
SHORTEST_PREFIX = 2
SHORTEST_PART = 3
_LAST = "\U0010ffff"


def complete(db: sqlite3.Connection, text: str, absent: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return the words that may be meant by each word of *text* that occurs nowhere: `authen` gives `authentication`.

    *absent* are the terms of the query that occur nowhere.
    """
    words = [word for word in query_words(text) if absent.issuperset(query_terms(word))]
    runs = [run for run in unspaced_runs(text) if absent.issuperset(query_terms(run))]
    completed = {word: tuple(_words_like(db, word)) for word in words[:MOST_COMPLETED]}
    completed |= {run: tuple(dict.fromkeys(run)) for run in runs[:MOST_COMPLETED]}
    return {word: words for word, words in completed.items() if words}


def completed_terms(completed: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the distinct terms of all the words that were found."""
    return list(dict.fromkeys(stem(word) for words in completed.values() for word in words))


def _words_like(db: sqlite3.Connection, word: str) -> list[str]:
    found: list[str] = []
    if len(word) >= SHORTEST_PREFIX:
        begins = "SELECT word FROM word WHERE word > ? AND word < ? ORDER BY length(word), word"
        found = _first_living(db, (row[0] for row in db.execute(begins, (word, word + _LAST))))
    if not found and len(word) >= SHORTEST_PART:
        found = _first_living(db, sorted(_words_with(db, word), key=lambda each: (len(each), each)))
    return found


def _words_with(db: sqlite3.Connection, part: str) -> list[str]:
    # Ten times faster than to ask SQLite for each word whether it holds the part.
    lists = (words for (words,) in db.execute("SELECT words FROM word_list") if part in words)
    return [word for words in lists for word in words.split("\n") if part in word]


def _first_living(db: sqlite3.Connection, words: Iterable[str]) -> list[str]:
    """Return the first words that still occur: words stay in their table when the last note with them goes."""
    return list(islice((word for word in words if occurs(db, stem(word))), MOST_WORDS))


def occurs(db: sqlite3.Connection, term: str) -> bool:
    """Whether any chunk holds *term*."""
    return db.execute("SELECT 1 FROM occurrence WHERE term = ? LIMIT 1", (term,)).fetchone() is not None
