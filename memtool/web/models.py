"""The embedding model of a service, loaded when it is first asked for and kept."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memtool.embeddings import open_embedder
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.embeddings import Embedder


class Models:
    """The model that the settings name; another one where they change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: tuple[object, Embedder] | None = None

    def embedder(self, work: Workspace) -> Embedder:
        """Return the embedder of *work*.

        Raises:
            ProviderMissing, ProviderFailed, BadSetting: there is none.
        """
        wanted = (work.settings.embeddings, work.settings.keys.embeddings)
        with self._lock:
            if self._opened is None or self._opened[0] != wanted:
                self._opened = (wanted, open_embedder(*wanted, work.cache, may_download=False))
            return self._opened[1]
