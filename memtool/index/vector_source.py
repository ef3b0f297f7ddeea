"""The choice of a search's mode: by vectors where there are some that fit the query, else by words, and why."""

from __future__ import annotations

import contextlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtool.errors import MemtoolError, ProviderMissing
from memtool.index.engine import Index
from memtool.index.semantic import Vectors
from memtool.settings import Settings

if TYPE_CHECKING:
    from memtool.embeddings import Embedder

_MADE_WHILE_SEARCHING = 100  # vectors; more than that waits for `memtool index`


class Chosen(NamedTuple):
    """The mode of a search, and its vectors. *lasting* notices are worth saying once, *passing* ones each time."""

    mode: str
    vectors: Vectors | None = None
    lasting: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """All that the user should know of the choice."""
        return self.lasting + self.passing


def words_only(error: MemtoolError) -> str:
    """Return the notice that there are no vectors, and why."""
    return f"search is by words only: {error}. {error.hint}".strip()


class VectorSource:
    """The vectors that the searches of one run may use, opened when the first of them needs it."""

    def __init__(self, index: Index, settings: Settings, cache: Path) -> None:
        self._index = index
        self._settings = settings
        self._cache = cache
        self._opened: tuple[Vectors, tuple[str, ...]] | None = None

    def choose(self, text: str, mode: str) -> Chosen:
        """Return with what to search for *text*: with *mode*, else with `bm25` and why.

        Raises:
            MemtoolError: the mode `vector` was asked for and there are no vectors.
        """
        switched_off = mode == "hybrid" and self._settings.embeddings.provider == "none"
        if mode == "bm25" or switched_off:
            return Chosen("bm25")
        from memtool.embeddings.scripts import fits

        if isinstance(self._embedder, MemtoolError):
            return self._instead(mode, self._embedder)
        if mode == "hybrid" and not fits(self._embedder.scripts, text):
            return Chosen("bm25", passing=("searched by words only: the model does not know the query's language",))
        try:
            vectors, notices = self._open(self._embedder, text)
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
        from memtool.embeddings.helper import WarmEmbedder, helper_place

        try:
            key = self._settings.keys.embeddings
            embedder = open_embedder(self._settings.embeddings, key, self._cache, may_download=False)
            return WarmEmbedder(embedder, helper_place(self._cache, self._index.place.vault.root))
        except MemtoolError as error:
            return error

    def _open(self, embedder: Embedder, text: str) -> tuple[Vectors, tuple[str, ...]]:
        if self._opened is None:
            self._opened = self._opened_now(embedder, text)
        return self._opened

    def _opened_now(self, embedder: Embedder, text: str) -> tuple[Vectors, tuple[str, ...]]:
        from memtool.index.embedding import chunks_waiting, embed, open_vectors

        store = open_vectors(self._index, embedder)
        waiting = chunks_waiting(self._index.db, embedder.name)
        if waiting and (len(store) or waiting <= _MADE_WHILE_SEARCHING):
            # An endpoint that is down is asked for the query first: it gives up on that much sooner than on notes.
            embedder.embed_query(text)
            with contextlib.suppress(MemtoolError):
                embed(self._index, embedder, store, at_most=_MADE_WHILE_SEARCHING)
            waiting = chunks_waiting(self._index.db, embedder.name)
        if not len(store) and not waiting:
            raise ProviderMissing("the model knows the script of no note")
        if not len(store):
            reason = "; ".join(store.notices) or "there are no vectors yet"
            raise ProviderMissing(reason, hint="Run `memtool index` to make them.")
        notices = list(store.notices)
        if waiting:
            notices.append(f"{waiting:,} chunks have no vector yet: run `memtool index`")
        return Vectors(embedder, store), tuple(notices)
