"""Likeness of vectors: which chunks mean what the query means."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.index.filters import Filter
from memtool.index.lexical import admitted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.vectors import VectorStore

CANDIDATES = 100  # chunks
NEAREST = 400  # vectors that are looked at to find them: a chunk has several
_MOST_PARAMETERS = 900  # of one SQL statement


class Vectors(NamedTuple):
    """An embedder and the vectors that it made of this vault."""

    embedder: Embedder
    store: VectorStore


class Semantic(NamedTuple):
    """The semantic side of a search: the likeness of chunks, best first; *floor* is that of the last candidate."""

    scores: dict[int, float]
    floor: float


def semantic_search(
    db: sqlite3.Connection, vectors: Vectors, text: str, wanted: Filter, also: Iterable[int]
) -> Semantic:
    """Return the likeness of the chunks nearest to *text*, and of the chunks *also*, which words have found."""
    scores = vectors.store.scores(vectors.embedder.embed_query(text))
    near = admitted(db, _near_chunks(db, vectors.store, scores), wanted)
    if wanted.narrows and len(near) < CANDIDATES:  # the filter is narrow, so that looking at all it admits is cheap
        near = _allowed(db, wanted)
    likeness = _likeness(db, vectors.store, scores, near)
    best = sorted(likeness, key=lambda chunk_id: (-likeness[chunk_id], chunk_id))[:CANDIDATES]
    found = {chunk_id: likeness[chunk_id] for chunk_id in best}
    floor = found[best[-1]] if best else 0.0
    return Semantic(found | _likeness(db, vectors.store, scores, set(also) - found.keys()), floor)


def _near_chunks(db: sqlite3.Connection, store: VectorStore, scores: NDArray[np.float32]) -> list[int]:
    import numpy as np

    count = min(NEAREST, len(scores))
    if not count:
        return []
    rows = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    found = _select(db, "SELECT DISTINCT chunk_id FROM piece WHERE hash IN ({})", store.hashes(rows))
    return list({row[0] for row in found})


def _allowed(db: sqlite3.Connection, wanted: Filter) -> set[int]:
    condition, values = wanted.where()
    return {row[0] for row in db.execute(f"SELECT c.id FROM chunk AS c WHERE {condition}", values)}


def _likeness(
    db: sqlite3.Connection, store: VectorStore, scores: NDArray[np.float32], chunk_ids: Iterable[int]
) -> dict[int, float]:
    """Return for each chunk the mean of its own likeness and that of its best paragraph or bullet."""
    select = "SELECT chunk_id, position, hash FROM piece WHERE chunk_id IN ({})"
    pieces = _select(db, select, sorted(chunk_ids))
    rows = store.rows([piece_hash for _, _, piece_hash in pieces])
    whole: dict[int, float] = {}
    best: dict[int, float] = {}
    for (chunk_id, position, _), row in zip(pieces, rows, strict=True):
        if row >= 0:
            side = best if position else whole
            side[chunk_id] = max(side.get(chunk_id, -1.0), float(scores[row]))
    return {chunk_id: (score + best.get(chunk_id, score)) / 2 for chunk_id, score in _both(whole, best)}


def _both(whole: Mapping[int, float], best: Mapping[int, float]) -> Iterable[tuple[int, float]]:
    # A chunk whose own vector is still missing is judged by its best piece.
    return ({**best, **whole}).items()


def _select(db: sqlite3.Connection, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(values), _MOST_PARAMETERS):
        part = values[start : start + _MOST_PARAMETERS]
        rows += db.execute(sql.format(", ".join("?" * len(part))), part)
    return rows
