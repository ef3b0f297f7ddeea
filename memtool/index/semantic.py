"""Vectors for the chunks of an index: which are missing, and which of them a search can use.

Every chunk in a script that the model knows gets a vector, and so does each of its paragraphs and bullets. Vectors are
cached by the hash of their text, so that moving, renaming and rebuilding cost nothing. The work goes through the chunks
by number; how far it has come is written down after each batch, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtool.errors import MemtoolError, ProviderFailed, ProviderMissing
from memtool.index import limits
from memtool.index.engine import Index, Progress, no_progress
from memtool.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.tables import Tables, VectorShelf


def open_vectors(index: Index, embedder: Embedder) -> VectorShelf:
    """Return the vectors that *embedder* made of the vault."""
    return index.open_vectors(embedder.name, embedder.dimension)


def has_other_scripts(db: Tables) -> bool:
    """Return whether some of the newest chunks are in a script that a model for English does not know."""
    from memtool.embeddings.known_scripts import fits

    texts = [row[0] for row in db.execute(f"SELECT text FROM chunk ORDER BY id DESC LIMIT {limits.AT_ONCE}")]
    return sum(not fits(frozenset({"latin"}), text) for text in texts) > len(texts) / 100


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
    from memtool.embeddings.known_scripts import fits

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
        from memtool.index.rows import context, pieces_of  # a search does without

        return [f"{context(self.title, self.heading, self.date)}\n{self.text}", *pieces_of(self.text)]


def _batches(db: Tables, model: str) -> Iterator[list[_Waiting]]:
    find = (
        "SELECT c.id, n.title, c.heading, c.date, c.text FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        " WHERE c.id > ? ORDER BY c.id LIMIT ?"
    )
    while rows := db.execute(find, (db.embedded_up_to(model), limits.CHUNKS_AT_ONCE)).fetchall():
        yield [_Waiting(*row) for row in rows]


def _vectors_of(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    vectors = embedder.embed_notes(texts)
    if len(vectors) != len(texts):
        raise ProviderFailed(f"{embedder.name} gave {len(vectors)} vectors for {len(texts)} texts")
    # PostgreSQL keeps half precision: with the same numbers both engines give texts that are nearly alike in one order.
    return vectors.astype("f2").astype("f4")


class Vectors(NamedTuple):
    """An embedder and the vectors that it made of this vault."""

    embedder: Embedder
    store: VectorShelf


class Chosen(NamedTuple):
    """The mode of a search, and its vectors. *lasting* notices are worth saying once, *passing* ones each time."""

    mode: str
    vectors: Vectors | None = None
    lasting: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()


def words_only(error: MemtoolError) -> str:
    """Return the notice that there are no vectors, and why."""
    return f"search is by words only: {error}. {error.hint}".strip()


class VectorSource:
    """The vectors that the searches of one run may use, opened when the first of them needs it.

    *only_warm* never loads a model of this machine into this process: the process of the vault has it, or words decide.
    """

    def __init__(self, index: Index, settings: Settings, cache: Path, *, only_warm: bool = False) -> None:
        self.index = index
        self.settings = settings
        self._cache = cache
        self._only_warm = only_warm and settings.embeddings.provider == "fastembed"
        self._opened: tuple[Vectors, tuple[str, ...]] | None = None

    def choose(self, text: str, mode: str) -> Chosen:
        """Return with what to search for *text*: with *mode*, else with `bm25` and why.

        Raises:
            MemtoolError: the mode `vector` was asked for and there are no vectors.
        """
        switched_off = mode == "hybrid" and self.settings.embeddings.provider == "none"
        if mode == "bm25" or switched_off:
            return Chosen("bm25")
        from memtool.embeddings.known_scripts import fits

        if isinstance(self._embedder, MemtoolError):
            return self._instead(mode, self._embedder)

        if mode == "hybrid" and not fits(self._embedder.scripts, text):
            return Chosen("bm25", passing=("searched by words only: the model does not know the query's language",))
        try:
            if self._opened is None:
                self._opened = self._opened_now(self._embedder, text)
            vectors, notices = self._opened
        except MemtoolError as error:
            return self._instead(mode, error)
        return Chosen(mode, vectors, passing=notices)

    def _instead(self, mode: str, error: MemtoolError) -> Chosen:
        if mode == "vector":
            raise error
        return Chosen("bm25", lasting=(words_only(error),))

    @cached_property
    def _embedder(self) -> Embedder | MemtoolError:
        from memtool.embeddings import open_embedder

        try:
            key = self.settings.keys.embeddings
            embedder = open_embedder(self.settings.embeddings, key, self._cache, may_download=False)
            from memtool.embeddings.warm import WarmEmbedder  # most machines have no model
            from memtool.service_client import service_place

            place = service_place(self._cache, self.index.place.vault.root)
            return WarmEmbedder(embedder, place, only_warm=self._only_warm)
        except MemtoolError as error:
            return error

    def _opened_now(self, embedder: Embedder, text: str) -> tuple[Vectors, tuple[str, ...]]:
        store = open_vectors(self.index, embedder)
        with contextlib.ExitStack() as unless_it_serves:
            unless_it_serves.callback(store.close)
            waiting = chunks_waiting(self.index.db, embedder.name)
            if waiting and not self._only_warm and (len(store) or waiting <= limits.CHUNKS_AT_ONCE):
                # An endpoint that is down is asked for the query first: it gives up on that much sooner than on notes.
                embedder.embed_query(text)
                with contextlib.suppress(MemtoolError):
                    embed(self.index, embedder, store, at_most=limits.CHUNKS_AT_ONCE)
                waiting = chunks_waiting(self.index.db, embedder.name)
            if not len(store) and not waiting:
                raise ProviderMissing("the model knows the script of no note")
            if not len(store):
                reason = "; ".join(store.notices) or "there are no vectors yet"
                raise ProviderMissing(reason, hint="Run `memtool index` to make them.")
            notices = list(store.notices)
            if waiting:
                notices.append(f"{waiting:,} chunks have no vector yet: run `memtool index`")
            unless_it_serves.pop_all()
        return Vectors(embedder, store), tuple(notices)
