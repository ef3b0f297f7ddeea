"""Vectors for the chunks of an index: which are missing, and which a search can use.

Every chunk in a script that the model knows gets a vector, and so does each of its paragraphs and bullets. Vectors are
cached by the hash of their text, so that moving, renaming and rebuilding cost nothing. The work goes through the chunks
by number; how far it has come is written down after each batch, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memtool.embeddings.scripts import fits
from memtool.errors import ProviderFailed
from memtool.index.chunking import pieces_of
from memtool.index.engine import Index, Progress, no_progress
from memtool.index.rows import context
from memtool.index.schema import packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.vectors import VectorStore

_CHUNKS_AT_ONCE = 128


def open_vectors(index: Index, embedder: Embedder) -> VectorStore:
    """Return the vectors that *embedder* made, which lie beside the index."""
    from memtool.index.vectors import open_store

    store = open_store(index.place.folder / "vectors", embedder.name, embedder.dimension)
    if not len(store) and index.db.execute("SELECT 1 FROM piece_list LIMIT 1").fetchone():
        # New, deleted or damaged: what the index says of embedded chunks holds no longer.
        index.db.execute("DELETE FROM meta WHERE key = ?", (_mark(embedder.name),))
    return store


def chunks_waiting(db: sqlite3.Connection, model: str) -> int:
    """Return how many chunks *model* has not embedded yet."""
    return int(db.execute("SELECT count(*) FROM chunk WHERE id > ?", (_embedded_up_to(db, model),)).fetchone()[0])


def chunks_skipped(db: sqlite3.Connection, model: str) -> int:
    """Return how many chunks got no vector because *model* does not know their script: only words find them."""
    skipped = "SELECT count(*) FROM chunk WHERE id <= ? AND id NOT IN (SELECT chunk_id FROM piece_list)"
    return int(db.execute(skipped, (_embedded_up_to(db, model),)).fetchone()[0])


def embed(
    index: Index,
    embedder: Embedder,
    store: VectorStore,
    progress: Progress = no_progress,
    *,
    at_most: float = math.inf,
) -> int:
    """Make the vectors that are missing, and return how many chunks were gone through.

    It stops before a batch of chunks that would need more than *at_most* new vectors. Those that stand already (after
    a rebuild, all of them) cost next to nothing.

    Raises:
        Busy: another process is at it.
        ProviderFailed: the provider gave up; what it made so far is kept.
    """
    patience = index.place.patience if at_most == math.inf else 0.0  # a search does not wait for vectors
    with index.place._replace(patience=patience).lock("vectors"):
        total = chunks_waiting(index.db, embedder.name)
        done = 0
        progress(done, total)
        for chunks in _batches(index.db, embedder.name):
            pieces = {chunk.chunk_id: chunk.pieces() for chunk in chunks if fits(embedder.scripts, chunk.text)}
            by_hash = {text_hash(text): text for texts in pieces.values() for text in texts}
            missing = store.missing(by_hash)
            at_most -= len(missing)
            if at_most < 0:
                break
            if missing:
                store.add(missing, _vectors_of(embedder, [by_hash[content_hash] for content_hash in missing]))
            hashes = {chunk_id: [text_hash(text) for text in texts] for chunk_id, texts in pieces.items()}
            _remember(index.db, embedder.name, hashes, up_to=chunks[-1].chunk_id)
            done += len(chunks)
            progress(done, total)
    return done


def forget_unused(index: Index, embedder: Embedder, store: VectorStore) -> None:
    """Drop the vectors of texts that are gone, and those of other models, now that all of this one's stand."""
    from memtool.index.vectors import delete_other_models

    with index.place.lock("vectors"):  # what another process adds to the store it names in the index only after that
        if chunks_waiting(index.db, embedder.name) == 0:
            store.collect_garbage({row[0] for row in index.db.execute("SELECT hash FROM piece")})
            delete_other_models(index.place.folder / "vectors", embedder.name)


def text_hash(text: str) -> int:
    """Return the content hash of *text*, by which its vector is known: 64 bits with a sign, as SQLite stores them.

    In one of forty million vaults with a million texts, two of these would share a vector.
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


class _Waiting(NamedTuple):
    chunk_id: int
    title: str
    heading: str
    date: str
    text: str

    def pieces(self) -> list[str]:
        """Return the whole chunk and what it is about, then its paragraphs and bullets."""
        return [f"{context(self.title, self.heading, self.date)}\n{self.text}", *pieces_of(self.text)]


def _batches(db: sqlite3.Connection, model: str) -> Iterator[list[_Waiting]]:
    find = (
        "SELECT c.id, n.title, c.heading, c.date, c.text FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        " WHERE c.id > ? ORDER BY c.id LIMIT ?"
    )
    while rows := db.execute(find, (_embedded_up_to(db, model), _CHUNKS_AT_ONCE)).fetchall():
        yield [_Waiting(*row) for row in rows]


def _vectors_of(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    vectors = embedder.embed_notes(texts)
    if len(vectors) != len(texts):
        raise ProviderFailed(f"{embedder.name} gave {len(vectors)} vectors for {len(texts)} texts")
    return vectors


def _remember(db: sqlite3.Connection, model: str, pieces: dict[int, list[int]], *, up_to: int) -> None:
    """Write down which vectors belong to which chunk, and that *model* has come up to the chunk *up_to*."""
    # Another process may have replaced a chunk in the meantime: its pieces come with its new number.
    living = "WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?1)"
    lists = [(chunk_id, packed(hashes)) for chunk_id, hashes in pieces.items()]
    each = [(chunk_id, content_hash) for chunk_id, hashes in pieces.items() for content_hash in hashes]
    with db:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(f"INSERT OR IGNORE INTO piece_list (chunk_id, hashes) SELECT ?1, ?2 {living}", lists)
        db.executemany(f"INSERT OR IGNORE INTO piece (chunk_id, hash) SELECT ?1, ?2 {living}", each)
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_mark(model), str(up_to)))


def _embedded_up_to(db: sqlite3.Connection, model: str) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_mark(model),)).fetchone()
    return int(row[0]) if row else 0


def _mark(model: str) -> str:
    return f"embedded up to: {model}"
