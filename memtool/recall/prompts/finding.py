"""Finding what a vault remembers about a prompt: words only, from the index as it is.

    the chunks that hold the telling words of the prompt       by their rarity
    those that hold enough of them anywhere                     the best few dozen
    the passage of each that holds most of them                 what is given

A chunk's BM25 score cannot be compared between prompts, so it cannot say "nothing here is about this". What can is
the share of the prompt's telling words, by rarity, that stand together in a title and one passage.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import combinations
from typing import NamedTuple

from memtool.index.filters import Filter
from memtool.index.ranking import without_near_duplicates
from memtool.index.text import fold, index_terms, query_terms, stem
from memtool.recall.prompts.common_words import common_terms, is_common_pair
from memtool.recall.prompts.passages import Passage, passages
from memtool.recall.prompts.question import Match, Question, Weights
from memtool.recall.prompts.recalled import Recalled

FLOOR = 0.36  # relevance below which a memory is not given
BESIDE_THE_BEST = 0.6  # share of the best one's relevance that the others need
SAME_PROJECT, OTHER_PROJECT = 1.15, 0.85  # what a memory of this project is worth here, and one of another

_NEAR, _ANYWHERE, _KEY = 0.65, 0.15, 0.20  # of relevance: title and passage, the whole chunk, the title's own words
_MOST_TERMS = 40  # of a prompt
_MOST_CHUNKS = 2_000  # of one term; a term of more chunks finds them only together with another
_COMBINED = 4  # such terms
_LOOKED_AT = 60  # chunks whose terms are compared
_READ = 20  # of those, the best, whose passages are
_NEVER = ("rules/", "CLAUDE.md", "MEMORY.md")  # tables for machines, and what every session is given at its start
_NEVER_OF_CLIENT = "/memory/MEMORY.md"  # the client gives it by itself


class Candidate(NamedTuple):
    """A chunk that holds enough of the words: its row, and how it matches."""

    ref: str
    title: str
    first_line: int
    heading: str
    text: str
    kind: str
    project: str
    category: str
    date: str
    fact_id: str
    last_line: int
    tags: str
    terms: tuple[str, ...]

    @property
    def is_spaced(self) -> bool:
        """Whether all of it is written in a script with spaces between the words."""
        return not any("\u2e80" <= char <= "\ud7ff" for char in self.title + self.text)


def find(db: sqlite3.Connection, question: Question, project: str, today: dt.date) -> list[Recalled]:
    """Return what the index *db* holds about *question* above the floor, most relevant first, each note once."""
    terms = question.terms()[:_MOST_TERMS]
    if not terms:
        return []
    count = int(db.execute("SELECT count(*) FROM chunk").fetchone()[0])
    chunks, frequency = _look_up(db, terms, count)
    alternatives = dict(_alternatives(db, question, frequency))
    more, theirs = _look_up(db, [form for forms in alternatives.values() for form in forms], count)
    weights = Weights(question, frequency | theirs, count, alternatives)
    return _distinct(_relevant(_candidates(db, chunks | more, weights, today), weights, terms, project))


def _relevant(
    candidates: Iterable[tuple[Match, Candidate]], weights: Weights, terms: Sequence[str], project: str
) -> list[Recalled]:
    """Return what is above the floor. A passage holds no more than its chunk, so the rest need not be looked at."""
    found: list[Recalled] = []
    best = 0.0
    for match, candidate in nlargest(_READ, candidates, key=lambda each: each[0].share):
        if (_NEAR + _ANYWHERE) * match.share + _KEY < max(FLOOR, BESIDE_THE_BEST * best) / SAME_PROJECT:
            break
        recalled = _recalled(candidate, weights, terms, project)
        if recalled.relevance >= FLOOR:
            found.append(recalled)
            best = max(best, recalled.relevance)
    return found


def _look_up(db: sqlite3.Connection, terms: Sequence[str], count: int) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return for each term the chunks that hold it, and how many do."""
    chunks = {term: _holding(db, f'"{term}"') for term in terms}
    frequency = {term: len(ids) for term, ids in chunks.items()}
    many = [term for term, ids in chunks.items() if len(ids) > _MOST_CHUNKS]
    for term in many:
        del chunks[term]
        frequency[term] = max(_MOST_CHUNKS, count // 10)
    for one, other in combinations(many[:_COMBINED], 2):
        chunks[f"{one} {other}"] = _holding(db, f'"{one}" AND "{other}"')[:_MOST_CHUNKS]
    return chunks, frequency


def _alternatives(
    db: sqlite3.Connection, question: Question, frequency: Mapping[str, int]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give for words that occur nowhere those that begin with them, or that they begin with: postgres, postgresql."""
    absent = [word.terms[0] for word in question.words if not word.common and not frequency.get(word.terms[0])]
    for term in [term for term in absent if term.isalpha() and len(term) >= _SHORTEST_BEGINNING][:_MOST_ALTERED]:
        least = max(_SHORTEST_BEGINNING, -(-len(term) * 2 // 3))
        beginnings = [term[:end] for end in range(least, len(term))]
        rows = db.execute(
            f"SELECT word FROM word WHERE word > ? AND word < ? OR word IN ({', '.join('?' * len(beginnings))})"  # noqa: S608  (marks only)
            " ORDER BY abs(length(word) - ?) LIMIT 3",
            (term, term + "\U0010ffff", *beginnings, len(term)),
        )
        if words := [row[0] for row in rows]:
            yield term, tuple(dict.fromkeys(map(stem, words)))


_SHORTEST_BEGINNING = 5  # letters
_MOST_ALTERED = 6  # words


def _holding(db: sqlite3.Connection, match: str) -> list[int]:
    # Without an order FTS5 only walks through the list of each term; ranking would take ten times as long.
    rows = db.execute("SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ? LIMIT ?", (match, _MOST_CHUNKS + 1))
    return [row[0] for row in rows]


def _candidates(
    db: sqlite3.Connection, chunks: dict[str, list[int]], weights: Weights, today: dt.date
) -> Iterator[tuple[Match, Candidate]]:
    held: dict[int, float] = {}
    for term, ids in chunks.items():
        weight = sum(map(weights.rarity, term.split(" ")))
        for chunk_id in ids:
            held[chunk_id] = held.get(chunk_id, 0.0) + weight
    best = nlargest(_LOOKED_AT, held, key=lambda chunk_id: (held[chunk_id], chunk_id))
    condition, values = Filter(today).where()
    rows = db.execute(
        "SELECT n.ref, n.title, c.start_line, c.heading, c.text, c.kind, c.project, c.category, c.date, c.fact_id,"  # noqa: S608  (numbers)
        " c.end_line, c.tags, t.terms"
        " FROM chunk AS c JOIN note AS n ON n.id = c.note_id JOIN chunk_terms AS t ON t.rowid = c.id"
        f" WHERE c.id IN ({', '.join(map(str, best))}) AND {condition}",
        values,
    )
    for row in rows:
        candidate = Candidate._make([*row[:-1], tuple(row[-1].split(" "))])
        terms = frozenset(candidate.terms)
        match = weights.match(terms, terms, spaced=candidate.is_spaced)
        if not _is_given_anyway(candidate.ref) and is_enough(match, weights, in_title=True, is_here=True):
            yield match, candidate


def _is_given_anyway(ref: str) -> bool:
    return ref.startswith(_NEVER) or ref.endswith(_NEVER_OF_CLIENT)


def is_enough(match: Match, weights: Weights, *, in_title: bool, is_here: bool) -> bool:
    """Whether so many words are no accident: two of a short prompt, three of a long one, or a rare name.

    Fewer are enough where they are nearly all that the prompt asks and stand *in_title*, or where a rare one is among
    them and the memory is of the project at hand.
    """
    if match.share < _LEAST_SHARE:
        return False
    if match.names or match.words >= (2 if weights.telling <= _SHORT else 3):
        return True
    if is_here and match.rare and match.share >= _MUCH_OF_IT:
        return True
    return in_title and match.words >= 1 and match.share >= _ALL_OF_IT


_LEAST_SHARE, _MUCH_OF_IT, _ALL_OF_IT = 0.25, 0.4, 0.7
_SHORT = 12  # telling words


def _recalled(candidate: Candidate, weights: Weights, terms: Sequence[str], project: str) -> Recalled:
    best, near, adds = _best_passage(candidate, weights, terms)
    relevance = 0.0
    title = frozenset(index_terms(f"{candidate.title}\n{candidate.tags}"))
    titled = weights.match(title, title)
    in_title = titled.rare > 0 or titled.words > 1
    is_here = bool(project) and candidate.project == project
    if best.text and is_enough(near, weights, in_title=in_title, is_here=is_here):
        key = max(_key_share(candidate.title, terms), _key_share(best.text, terms), _OF_NAME if near.names else 0.0)
        anywhere = weights.match(frozenset(candidate.terms), spaced=candidate.is_spaced)
        relevance = _NEAR * near.share + _ANYWHERE * anywhere.share + _KEY * key
    if project and candidate.project:
        relevance = min(1.0, relevance * (SAME_PROJECT if is_here else OTHER_PROJECT))
    first = candidate.first_line if candidate.fact_id else candidate.first_line + best.first
    return Recalled(
        candidate.ref, first, candidate.last_line if candidate.fact_id else candidate.first_line + best.last,
        candidate.kind, candidate.project, candidate.category, candidate.date, candidate.title,
        best.text if adds else "", candidate.fact_id, relevance,
    )  # fmt: skip


_CLUE = 4  # characters that a term shares with the words it stands for
_OF_NAME = 0.5  # what a rare name is worth beside a title that was asked for whole


def _best_passage(candidate: Candidate, weights: Weights, terms: Sequence[str]) -> tuple[Passage, Match, bool]:
    """Return the passage that, together with what the note is about, holds most of what was asked, and if it adds any.

    Where it adds nothing, the note's summary says more.
    """
    # The terms of a chunk begin with those of its title, headings, tags and summary.
    about = frozenset(candidate.terms[: len(candidate.terms) - len(index_terms(candidate.text))])
    spaced = candidate.is_spaced
    if candidate.fact_id:
        statement = Passage(candidate.text.split("\n", 1)[0], 0, 0)
        held = about.union(index_terms(statement.text))
        return statement, weights.match(held, held, spaced=spaced), True
    alone = weights.match(about, about, spaced=spaced)
    best, near = Passage("", 0, 0), alone
    clues = {term[:_CLUE].rstrip("i") or term for term in terms}  # Porter makes `dai` of day
    for passage in passages(candidate.text, candidate.kind):
        folded = fold(passage.text)
        if not any(clue in folded for clue in clues):  # cutting it into terms would take longer
            best = best if best.text else passage
            continue
        match = weights.match(about.union(index_terms(passage.text)), about, spaced=spaced)
        if match > near or not best.text:
            best, near = passage, match
    return best, near, near > alone


def _key_share(text: str, asked: Sequence[str]) -> float:
    """Return the share of the telling words of *text* that were asked for; two of them at least."""
    telling = [term for term in query_terms(text) if term not in common_terms() and not is_common_pair(term)]
    shared = sum(term in asked for term in telling)
    return shared / len(telling) if shared > 1 else 0.0


def _distinct(memories: list[Recalled]) -> list[Recalled]:
    """Return the best of each note, no two near-duplicates, and none that pales beside the best."""
    ordered = sorted(memories, key=lambda memory: (-memory.relevance, memory.ref, memory.first_line))
    by_key = {memory.key: memory for memory in reversed(ordered)}
    kept = [memory for memory in ordered if by_key[memory.key] is memory]
    different = without_near_duplicates(range(len(kept)), lambda at: kept[at].text.casefold(), len(kept))
    least = BESIDE_THE_BEST * kept[0].relevance if kept else 0.0
    return [kept[at] for at in different if kept[at].relevance >= least]
