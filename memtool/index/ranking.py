"""Merging rankings, and what is left out of a ranking or yields in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtool.index import limits
from memtool.text.markdown import find_links
from memtool.text.similarity import NEARLY_ALL, are_alike, trigrams
from memtool.vault.layout import DAILY

if TYPE_CHECKING:
    from memtool.index.tables import Semantic, Tables
    from memtool.vault.memory import Found

LEAST_LEXICAL = 0.4  # weight of the lexical side where its best chunk holds nothing of the query
COVERED_LEXICAL = 0.35  # what is added where it holds all of it
FULL_MEANING = 3.0  # standard deviations above the mean at which a likeness counts as much as the best of words


class SearchResult(NamedTuple):
    """The hits of one query, best first; the mode that was really used; what the user should know.

    *notices* are about the query and the index, *lasting* and *passing* ones about vectors: the former are worth saying
    once, the latter each time.
    """

    hits: tuple[Found, ...]
    mode: str
    notices: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    @property
    def all_notices(self) -> tuple[str, ...]:
        """All that the user should know."""
        return (*self.lasting, *self.passing, *self.notices)


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], *, k: int = 60) -> dict[int, float]:
    """Merge ranked lists by summing 1 / (k + rank) (Cormack, Clarke and Büttcher, 2009)."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, chunk_id in enumerate(ranking, 1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + 1 / (k + rank)
    return scores


def adaptive_fusion(words: Mapping[int, float], semantic: Semantic, weight: float) -> dict[int, float]:
    """Merge by a weighted sum of normalised scores: *weight* for the *words*, the rest for their meaning.

    Scores of words are divided by the best. Likenesses are measured from their mean in units that belong to the model
    (the deviation) rather than to the question, so that meaning has no say where nothing means what was asked.
    """
    best = max(words.values(), default=0.0) or 1.0
    span = FULL_MEANING * semantic.deviation or 1.0
    alike, mean = semantic.scores, semantic.mean
    return {
        chunk_id: weight * words.get(chunk_id, 0.0) / best
        + (1 - weight) * max(0.0, (alike.get(chunk_id, mean) - mean) / span)
        for chunk_id in {**words, **alike}
    }


def lexical_weight(covered: float) -> float:
    """Return the weight of the lexical side when its best chunk holds the share *covered* of the query's idf.

    The fourth power leaves a partly covered query to both sides. Where one chunk holds nearly all of a query, meaning
    gained no first place on any set, and lost some.
    """
    return LEAST_LEXICAL + COVERED_LEXICAL * covered**4


def yielding(scores: Mapping[int, float], to: Mapping[int, int]) -> dict[int, float]:
    """Return *scores*, best first, with the chunks that yield right behind those *to* which they do.

    They take the score of those, where that is lower.
    """
    place = {chunk_id: at for at, chunk_id in enumerate(scores)}
    behind = {chunk_id: max(at, place[to.get(chunk_id, chunk_id)]) for chunk_id, at in place.items()}
    order = sorted(scores, key=lambda chunk_id: (behind[chunk_id], behind[chunk_id] != place[chunk_id]))
    return {chunk_id: min(scores[chunk_id], scores[to.get(chunk_id, chunk_id)]) for chunk_id in order}


def without_near_duplicates(ranking: Sequence[int], text_of: Callable[[int], str], limit: int) -> list[int]:
    """Return the first *limit* of *ranking*; of near-duplicates only the best is among the first twenty of them."""
    kept: list[int] = []
    seen: list[frozenset[str]] = []
    for chunk_id in ranking:
        if len(kept) == limit:
            break
        if len(kept) < limits.LOOKED_AT:
            letters = trigrams(" ".join(text_of(chunk_id).split()))
            if any(are_alike(letters, other, NEARLY_ALL) for other in seen):
                continue
            seen.append(letters)
        kept.append(chunk_id)
    return kept


def sessions_of_days(db: Tables, best_first: Sequence[int]) -> dict[int, int]:
    """Return for each chunk of a daily page among the best of *best_first* the chunk of a session to which it yields.

    That is the best one of a session to which the page links. A page lists the files of a day and the names of its
    sessions: it often holds the words of the query, and says less about them than the session does.
    """
    best = best_first[: limits.LOOKED_AT]
    rows = db.execute(
        "SELECT c.id, c.note_id, c.kind, n.ref FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        f" WHERE c.id IN ({', '.join(map(str, best))})"
    ).fetchall()
    pages = {chunk_id: note_id for chunk_id, note_id, kind, _ in rows if kind == DAILY}
    linked = _links(db, set(pages.values())) if pages else {}
    names = {chunk_id: ref.rpartition("/")[2] for chunk_id, _, _, ref in rows}
    found = {page: next((each for each in best if names[each] in linked[note]), page) for page, note in pages.items()}
    return {page: session for page, session in found.items() if session != page}


def _links(db: Tables, pages: set[int]) -> dict[int, set[str]]:
    """Return the names of the files that each of *pages* links to."""
    linked: dict[int, set[str]] = {page: set() for page in pages}
    rows = db.execute(f"SELECT note_id, text FROM chunk WHERE note_id IN ({', '.join(map(str, pages))})")
    for page, text in rows:
        linked[page] |= {target.rpartition("/")[2] for _, target in find_links(text)}
    return linked
