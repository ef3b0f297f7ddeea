"""Vectors for the chunks of an index: which are missing, and which a search can use.

Every chunk in a script that the model knows gets a vector, and so does each of its paragraphs and bullets. Vectors are
cached by the hash of their text, so that moving, renaming and rebuilding cost nothing. The work goes through the chunks
by number; how far it has come is written down after each batch, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memtool.embeddings.known_scripts import fits
from memtool.errors import ProviderFailed
from memtool.index.chunking import pieces_of
from memtool.index.engine import Index, Progress, no_progress
from memtool.index.rows import context

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.tables import Tables, VectorShelf

_CHUNKS_AT_ONCE = 128
_SAMPLE = 2_000  # chunks, the newest, that tell in which scripts a vault is written
_SOME = 0.01  # of these are enough for a model that knows their script


def open_vectors(index: Index, embedder: Embedder) -> VectorShelf:
    """Return the vectors that *embedder* made of the vault."""
    return index.open_vectors(embedder.name, embedder.dimension)


def has_other_scripts(db: Tables) -> bool:
    """Return whether some of the newest chunks are in a script that a model for English does not know."""
    texts = [row[0] for row in db.execute(f"SELECT text FROM chunk ORDER BY id DESC LIMIT {_SAMPLE}")]
    return sum(not fits(frozenset({"latin"}), text) for text in texts) > _SOME * len(texts)


def chunks_waiting(db: Tables, model: str) -> int:
    """Return how many chunks *model* has not embedded yet."""
    return int(db.execute("SELECT count(*) FROM chunk WHERE id > ?", (db.embedded_up_to(model),)).fetchone()[0])


def chunks_skipped(db: Tables, model: str) -> int:
    """Return how many chunks got no vector because *model* does not know their script: only words find them."""
    skipped = "SELECT count(*) FROM chunk WHERE id <= ? AND id NOT IN (SELECT chunk_id FROM piece_list)"
    return int(db.execute(skipped, (db.embedded_up_to(model),)).fetchone()[0])


def embed(
    index: Index,
    embedder: Embedder,
    store: VectorShelf,
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
    with index.lock_of_vectors(waits=at_most == math.inf):  # a search does not wait for vectors
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
            index.db.remember_pieces(embedder.name, hashes, chunks[-1].chunk_id)
            done += len(chunks)
            progress(done, total)
        if at_most == math.inf:
            store.complete()
    return done


def forget_unused(index: Index, embedder: Embedder, store: VectorShelf) -> None:
    """Drop the vectors of texts that are gone, and those of other models, now that this one's are complete."""
    with index.lock_of_vectors():  # what another process adds to the store it names in the index only after that
        if chunks_waiting(index.db, embedder.name) == 0:
            index.forget_vectors(embedder.name, store)


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


def _batches(db: Tables, model: str) -> Iterator[list[_Waiting]]:
    find = (
        "SELECT c.id, n.title, c.heading, c.date, c.text FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        " WHERE c.id > ? ORDER BY c.id LIMIT ?"
    )
    while rows := db.execute(find, (db.embedded_up_to(model), _CHUNKS_AT_ONCE)).fetchall():
        yield [_Waiting(*row) for row in rows]


def _vectors_of(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    vectors = embedder.embed_notes(texts)
    if len(vectors) != len(texts):
        raise ProviderFailed(f"{embedder.name} gave {len(vectors)} vectors for {len(texts)} texts")
    # PostgreSQL keeps half precision: with the same numbers both engines give texts that are nearly alike in one order.
    return vectors.astype("f2").astype("f4")
