"""PostgreSQL beside SQLite: building an index, searching it with several clients, and the recall of HNSW.

    python -m benchmarks.postgres ADDRESS CHUNKS [CHUNKS …]

ADDRESS is that of an empty database. The vault is the synthetic one of `benchmarks.vaults`, with as many notes as make
about so many chunks; each chunk has one vector of 384 numbers that lies near others, as those of texts do. The clients
are processes that ask one question after the other, without a pause or with one of a second, as people do.
"""

from __future__ import annotations

import datetime as dt
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.questions import questions
from benchmarks.vaults import write_vault
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter
from memtool.index.search import search
from memtool.index.semantic import Vectors, text_hash
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import Database
from memtool.team.postgres.vectors import PostgresVectors
from memtool.vault.layout import open_vault

DIMENSION = 384
CLIENTS = 8
ASKED = 40  # questions of each client
PAUSE = 1.0  # seconds
_TOPICS, _SPREAD = 200, 0.7  # middles around which vectors lie, and how far
_AT_ONCE = 2_000
_PER_NOTE = 2.9  # chunks of a note, about
_TODAY = dt.date(2026, 2, 10)


class Clustered:
    """An embedder that gives a text a vector near the middle of one of some topics."""

    name = "clustered vectors"
    dimension = DIMENSION
    scripts: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._middles = np.random.default_rng(0).standard_normal((_TOPICS, DIMENSION)).astype(np.float32)

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        return np.array([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of *text*."""
        chance = np.random.default_rng(abs(text_hash(text)))
        vector = self._middles[chance.integers(_TOPICS)] + _SPREAD * chance.standard_normal(DIMENSION)
        unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit


def main(arguments: list[str]) -> int:
    """Measure each size and print a line for each figure."""
    address, sizes = arguments[0], [int(each) for each in arguments[1:]]
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="memtool-postgres-") as folder:
            root = write_vault(Path(folder) / "vault", int(size / _PER_NOTE))
            place = Place(open_vault(root), Path(folder) / "state", patience=600.0, migrates=True)
            shared = place._replace(engine=PostgresEngine(Database(address, str(root))))
            _measure(place, shared, int(size / _PER_NOTE))
    return 0


def _measure(ours: Place, shared: Place, notes: int) -> None:
    for name, place in (("SQLite", ours), ("PostgreSQL", shared)):
        started = time.perf_counter()
        chunks, size = use_index(place, lambda index: (_count(index), index.size()))
        took = time.perf_counter() - started
        speed = f"{took:.0f} s ({chunks / took:.0f} a second)"
        print(f"{name}: {chunks:,} chunks in {speed}, {size / 1e6:.0f} MB", flush=True)
        _vectors(place, name)
    asked = [each.text for each in questions(notes, ASKED // 5)]
    for name, place in (("SQLite", ours), ("PostgreSQL", shared)):
        for mode in ("bm25", "hybrid"):
            for clients, pause in ((1, 0.0), (CLIENTS, 0.0), (CLIENTS, PAUSE)):
                times = _times(place, mode, clients, asked, pause)
                in_order = sorted(each for each, _ in times)
                p50, p95 = (1e3 * in_order[int(share * len(times))] for share in (0.5, 0.95))
                work = 1e3 * sum(each for _, each in times) / len(times)
                told = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms; {work:.1f} ms of the client's processor"
                print(f"{name}, {mode}, {clients} clients, {pause:.0f} s of pause: {told}", flush=True)
    print(f"recall@10 of HNSW: {use_index(shared, _recall):.3f}", flush=True)


def _count(index: Index) -> int:
    return int(index.db.execute("SELECT count(*) FROM chunk").fetchone()[0])


def _vectors(place: Place, name: str) -> None:
    """Keep one vector for each chunk, and say how long that and the index of vectors took."""
    embedder = Clustered()

    def fill(index: Index) -> None:
        ids = [row[0] for row in index.db.execute("SELECT id FROM chunk ORDER BY id").fetchall()]
        started = time.perf_counter()
        with index.open_vectors(embedder.name, DIMENSION) as store:
            for at in range(0, len(ids), _AT_ONCE):
                hashes = {chunk_id: text_hash(str(chunk_id & 0xFFFFFFFF)) for chunk_id in ids[at : at + _AT_ONCE]}
                vectors = embedder.embed_notes([str(chunk_id & 0xFFFFFFFF) for chunk_id in hashes])
                store.add(list(hashes.values()), vectors)
                index.db.remember_pieces(embedder.name, {key: [value] for key, value in hashes.items()}, max(hashes))
            filled = time.perf_counter()
            store.complete()
        took = filled - started, time.perf_counter() - filled
        print(f"{name}: {len(ids):,} vectors in {took[0]:.0f} s, their index in {took[1]:.0f} s", flush=True)

    use_index(place._replace(is_followed=True), fill)


def _times(place: Place, mode: str, clients: int, asked: list[str], pause: float) -> list[tuple[float, float]]:
    """Return the seconds that each question took, and those of the client's processor."""
    with multiprocessing.get_context("spawn").Pool(clients) as pool:
        return [each for some in pool.map(partial(_client, place, mode, asked, pause), range(clients)) for each in some]


def _client(place: Place, mode: str, asked: list[str], pause: float, number: int) -> list[tuple[float, float]]:
    """Ask one question after the other, with a *pause* of so many seconds on average; at first only to be warm."""
    chance = Random(number)
    asked = chance.sample(asked, len(asked))

    def ask(index: Index) -> list[tuple[float, float]]:
        embedder = Clustered()
        times = []
        with index.open_vectors(embedder.name, DIMENSION) as store:
            vectors = Vectors(embedder, store) if mode == "hybrid" else None
            for at, text in enumerate((*asked, *asked)):
                time.sleep(chance.uniform(0, 2 * pause) if at >= len(asked) else 0)
                started, worked = time.perf_counter(), time.process_time()
                search(index, text, Filter(_TODAY), limit=6, mode=mode, vectors=vectors)
                times.append((time.perf_counter() - started, time.process_time() - worked))
        return times[len(asked) :]

    return use_index(place._replace(is_followed=True), ask)


def _recall(index: Index) -> float:
    """Return the share of the ten nearest vectors that HNSW finds."""
    embedder, found = Clustered(), []
    store = index.open_vectors(embedder.name, DIMENSION)
    assert isinstance(store, PostgresVectors)
    for number in range(50):
        query = embedder.embed_query(f"question {number}")
        found.append(len(set(store.nearest(query, 10, exact=False)) & set(store.nearest(query, 10, exact=True))))
    return sum(found) / 500


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
