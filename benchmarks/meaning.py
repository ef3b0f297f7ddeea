"""Vectors without a model: random ones, and an index that knows only which chunk has which."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import floors
from benchmarks.vaults import SEED
from memtool.index.vectors import VectorStore, open_store

_AT_ONCE = 10_000
_PIECES = 4  # vectors of a chunk: its own and those of three paragraphs


class RandomEmbedder:
    """An embedder (`memtool.embeddings.Embedder`) that gives any text a random vector of length 1."""

    def __init__(self, dimension: int) -> None:
        self.name = "random unit vectors"
        self.dimension = dimension
        self.scripts: frozenset[str] = frozenset()
        self._chance = np.random.default_rng(SEED)

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        rows = self._chance.standard_normal((len(texts), self.dimension), np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1)[:, None]
        return unit

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return one vector."""
        row: NDArray[np.float32] = self.embed_notes([text])[0]
        return row


@contextlib.contextmanager
def fill(folder: Path, embedder: RandomEmbedder, count: int) -> Iterator[tuple[sqlite3.Connection, VectorStore]]:
    """Give an index and a store in *folder*, with *count* vectors."""
    hashes = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(count)]
    with open_store(folder, embedder.name, embedder.dimension) as store:
        for start in range(0, count, _AT_ONCE):
            new = hashes[start : start + _AT_ONCE]
            store.add(new, embedder.embed_notes(new))
        with contextlib.closing(floors.create(folder / "pieces.sqlite")) as db:
            _name_pieces(db, hashes)
            yield db, store


def _name_pieces(db: sqlite3.Connection, hashes: Sequence[str]) -> None:
    db.execute("BEGIN")
    db.execute("INSERT INTO note VALUES (1, 'note.md', 0, 0, 0, '', '', '')")
    db.executemany(
        "INSERT INTO chunk VALUES (?, 1, 1, 1, '', '', 'note', '', 'general', '', '', '', '', 0, '')",
        [(chunk_id,) for chunk_id in range(-(-len(hashes) // _PIECES))],
    )
    db.executemany(
        "INSERT INTO piece VALUES (?, ?, ?)",
        [(number // _PIECES, number % _PIECES, each) for number, each in enumerate(hashes)],
    )
    db.execute("COMMIT")
