"""Vectors without a model: random ones, and an index that knows only which chunk has which."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import floors
from benchmarks.vaults import SEED
from memtool.index import schema
from memtool.index.semantic import text_hash
from memtool.index.vectors import VectorStore

_AT_ONCE = 10_000
_QUESTIONS = 50  # different ones
_PIECES = 4  # vectors of a chunk: its own and those of three paragraphs


class RandomEmbedder:
    """An embedder (`memtool.embeddings.Embedder`) that gives any text a random vector of length 1."""

    def __init__(self, dimension: int) -> None:
        self.name = "random unit vectors"
        self.dimension = dimension
        self.scripts: frozenset[str] = frozenset()
        self._chance = np.random.default_rng(SEED)
        self._questions = itertools.cycle(self.embed_notes([""] * _QUESTIONS))

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        rows = self._chance.standard_normal((len(texts), self.dimension), np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1)[:, None]
        return unit

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return one of some vectors that are ready, so that making it takes no time."""
        del text
        return next(self._questions)


@contextlib.contextmanager
def fill(folder: Path, embedder: RandomEmbedder, count: int) -> Iterator[tuple[schema.SqliteTables, VectorStore]]:
    """Give an index and a store in *folder*, with *count* vectors."""
    hashes = [text_hash(str(number)) for number in range(count)]
    with VectorStore(folder, embedder.name, embedder.dimension) as store:
        for start in range(0, count, _AT_ONCE):
            new = hashes[start : start + _AT_ONCE]
            store.add(new, embedder.embed_notes([str(each) for each in new]))
        with contextlib.closing(floors.create(folder / "pieces.sqlite")) as db:
            _name_pieces(db, hashes)
        with contextlib.closing(schema.connect(folder / "pieces.sqlite")) as db:  # as a search opens an index
            yield db, store


def _name_pieces(db: sqlite3.Connection, hashes: Sequence[int]) -> None:
    db.execute("BEGIN")
    db.execute("INSERT INTO note VALUES (1, 'note.md', 0, 0, 0, '', '', '', '')")
    db.executemany(
        "INSERT INTO chunk VALUES (?, 1, 1, 1, '', '', 'note', '', 'general', '', '', '', '', 0, '', '')",
        [(chunk_id,) for chunk_id in range(-(-len(hashes) // _PIECES))],
    )
    lists = [
        (start // _PIECES, schema.packed(hashes[start : start + _PIECES])) for start in range(0, len(hashes), _PIECES)
    ]
    db.executemany("INSERT INTO piece_list VALUES (?, ?)", lists)
    db.executemany("INSERT INTO piece VALUES (?, ?)", [(each, at // _PIECES) for at, each in enumerate(hashes)])
    db.execute("COMMIT")
