"""A vault's index and vectors in PostgreSQL, followed over one connection: see `memtool.index.tables.Followed`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

from memtool.errors import Busy, DatabaseUnavailable
from memtool.team.postgres.connection import refusals
from memtool.team.postgres.vectors import open_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.team.postgres.tables import PostgresTables
    from memtool.team.postgres.vectors import PostgresVectors


class FollowedDatabase:
    """The index that *current* gives. What was read of the vectors is kept, and only what came since is read."""

    def __init__(self, current: Callable[[], AbstractContextManager[PostgresTables]], embedder: Embedder) -> None:
        self._current = current
        self._embedder = embedder
        self._held = _Held(embedder.dimension)
        self._open = contextlib.ExitStack()
        self._tables: PostgresTables | None = None

    def state(self) -> object:
        """See `memtool.index.tables.Followed`."""
        with self._connected() as tables:
            return tables.row(), tables.embedded_up_to(self._embedder.name)

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[PostgresTables, _Held]]:
        """See `memtool.index.tables.Followed`."""
        with self._connected() as tables:
            self._held.shelf = open_vectors(tables, self._embedder.name, self._embedder.dimension)
            yield tables, self._held

    def close(self) -> None:
        """Close the connection; the next question opens another one."""
        self._tables = None
        with contextlib.suppress(Exception):  # a connection that is gone
            self._open.close()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[PostgresTables]:
        """Give the tables, over the connection at hand. A lost one is an error once, and then another is opened."""
        try:
            if self._tables is None:
                self._tables = self._open.enter_context(self._current())
            with refusals():
                yield self._tables
        except (Busy, DatabaseUnavailable) as error:
            self.close()
            raise Busy(str(error)) from None


class _Held:
    """The vectors that were asked for last, in full precision."""

    def __init__(self, dimension: int) -> None:
        self.shelf: PostgresVectors | None = None  # from which more are read
        self._hashes = np.empty(0, np.int64)  # in order
        self._matrix = np.empty((0, dimension), np.float32)

    def rows(self, hashes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each of *hashes*, -1 where it has no vector; only these are held from now on."""
        asked = np.asarray(hashes, np.int64)
        unknown = np.setdiff1d(asked, self._hashes)
        if self.shelf and len(unknown):
            kept = np.isin(self._hashes, asked)
            new, vectors = self.shelf.read(unknown.tolist())
            found = np.concatenate([self._hashes[kept], np.array(new, np.int64)])
            order = np.argsort(found)
            self._hashes, self._matrix = found[order], np.concatenate([self._matrix[kept], vectors])[order]
        if not len(self._hashes):
            return np.full(len(asked), -1, np.int64)
        places = np.minimum(np.searchsorted(self._hashes, asked), len(self._hashes) - 1)
        return np.where(self._hashes[places] == asked, places, -1)

    def matrix(self) -> NDArray[np.float32]:
        """Return all vectors: (rows, dimension)."""
        return self._matrix
