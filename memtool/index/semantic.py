"""Likeness of vectors: which chunks mean what the query means."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.index.filters import Filter
from memtool.index.lexical import admitted
from memtool.index.schema import HASH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.vectors import VectorStore

CANDIDATES = 100  # chunks
NEAREST = 400  # vectors that are looked at to find them: a chunk has several
_MOST_NUMBERS = 10_000  # in one SQL statement
_LISTS = "SELECT p.chunk_id, p.hashes FROM piece_list AS p"


class Vectors(NamedTuple):
    """An embedder and the vectors that it made of this vault."""

    embedder: Embedder
    store: VectorStore


class Semantic(NamedTuple):
    """The semantic side of a search: the likeness of chunks, best first.

    *mean* is the likeness of any text of the vault to the query, *deviation* that of the vault's texts to each other.
    """

    scores: dict[int, float]
    mean: float
    deviation: float


def semantic_search(
    db: sqlite3.Connection, vectors: Vectors, text: str, wanted: Filter, also: Iterable[int]
) -> Semantic:
    """Return the likeness of the chunks nearest to *text*, and of the chunks *also*, which words have found."""
    store = vectors.store
    scores = store.scores(vectors.embedder.embed_query(text))
    lists = _LISTS + " WHERE p.chunk_id IN (SELECT chunk_id FROM piece WHERE hash IN ({}))"
    near = _likeness(_select(db, lists, _nearest_hashes(store, scores)), store, scores)
    found = _best_admitted(db, near, wanted)
    if wanted.narrows and len(found) < CANDIDATES:  # the filter is narrow, so that looking at all it admits is cheap
        condition, values = wanted.where()
        rows = db.execute(f"{_LISTS} JOIN chunk AS c ON c.id = p.chunk_id WHERE {condition}", values).fetchall()
        found = dict(islice(_likeness(rows, store, scores).items(), CANDIDATES))
    more = _select(db, _LISTS + " WHERE p.chunk_id IN ({})", set(also) - found.keys())
    mean = float(scores.mean()) if len(scores) else 0.0
    return Semantic(found | _likeness(more, store, scores), mean, store.deviation())


def _best_admitted(db: sqlite3.Connection, near: dict[int, float], wanted: Filter) -> dict[int, float]:
    """Return the first candidates of *near* that the filter lets through, without asking about those behind them."""
    found: dict[int, float] = {}
    chunk_ids = list(near)
    for start in range(0, len(chunk_ids), CANDIDATES):
        part = chunk_ids[start : start + CANDIDATES]
        allowed = admitted(db, part, wanted)
        found |= {chunk_id: near[chunk_id] for chunk_id in part if chunk_id in allowed}
        if len(found) >= CANDIDATES:
            break
    return dict(islice(found.items(), CANDIDATES))


def _nearest_hashes(store: VectorStore, scores: NDArray[np.float32]) -> list[int]:
    import numpy as np

    count = min(NEAREST, len(scores))
    if not count:
        return []
    rows = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    hashes: list[int] = store.hashes()[rows].tolist()
    return hashes


def _likeness(lists: list[tuple[int, bytes]], store: VectorStore, scores: NDArray[np.float32]) -> dict[int, float]:
    """Return for each chunk, best first, the mean of its own likeness and that of its best paragraph or bullet.

    *lists* are rows of `piece_list`. A chunk that has only one of the two, or no other vector yet, is judged by that.
    """
    import numpy as np

    if not lists:
        return {}
    chunk_ids, hashes = zip(*lists, strict=True)
    rows = store.rows(np.frombuffer(b"".join(hashes), "<i8"))
    alike = np.full(len(rows), -np.inf)
    alike[rows >= 0] = scores[rows[rows >= 0]]
    starts = np.cumsum([0, *(len(each) // HASH for each in hashes[:-1])])
    whole = alike[starts]
    alike[starts] = -np.inf
    piece = np.maximum.reduceat(alike, starts)
    mean = (np.where(np.isinf(whole), piece, whole) + np.where(np.isinf(piece), whole, piece)) / 2
    ids = np.array(chunk_ids)
    order = np.lexsort((ids, -mean))[: np.isfinite(mean).sum()]
    return dict(zip(ids[order].tolist(), mean[order].tolist(), strict=True))


def _select(db: sqlite3.Connection, sql: str, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    listed = sorted(numbers)
    for start in range(0, len(listed), _MOST_NUMBERS):
        rows += db.execute(sql.format(", ".join(map(str, listed[start : start + _MOST_NUMBERS]))))
    return rows
