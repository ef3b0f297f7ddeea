"""The model that knows what texts of a team mean, held by the service for all its vaults."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memtool.errors import MemtoolError
from memtool.settings import Settings, user_cache_path

if TYPE_CHECKING:
    from memtool.embeddings import Embedder
    from memtool.index.engine import Index


class TeamModel:
    """The model that the operator's *settings* name, if they name one. *embedder* is there once it is loaded."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], *, told: Callable[[str], None]) -> None:
        self.embedder: Embedder | None = None
        self._settings = settings
        self._cache = user_cache_path(environ)
        self._told = told

    def start(self, loaded: Callable[[], None]) -> None:
        """Begin to load it, in a thread of its own; then call *loaded*. Words are searched meanwhile."""
        if self._settings.has_chosen_embedder:
            threading.Thread(target=self._load, args=(loaded,), daemon=True, name="memtool-model").start()

    def make_vectors(self, index: Index) -> None:
        """Make the vectors that *index* lacks, and drop those of other models once all stand.

        Raises:
            MemtoolError: another process is at it, or the provider gives up; what was made is kept.
        """
        from memtool.index.semantic import chunks_waiting, embed, forget_unused, open_vectors

        if self.embedder and chunks_waiting(index.db, self.embedder.name):
            with open_vectors(index, self.embedder) as store:
                embed(index, self.embedder, store)
                forget_unused(index, self.embedder, store)

    def _load(self, loaded: Callable[[], None]) -> None:
        from memtool.embeddings import open_embedder
        from memtool.embeddings.warm import held_here

        try:
            settings = self._settings
            embedder = open_embedder(settings.embeddings, settings.keys.embeddings, self._cache, may_download=True)
            embedder.embed_query("warm")
        except MemtoolError as error:
            self._told(f"search is by words only: {error}")
            return
        held_here[embedder.name] = self.embedder = embedder
        loaded()
