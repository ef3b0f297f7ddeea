"""An index and the vectors of a model, followed by a process that holds them in memory for others."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memtool.index import generations
from memtool.index.read_only import current_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.tables import Tables
    from memtool.workspace import Workspace


class HeldVectors(Protocol):
    """Vectors in memory, by the hash of their text."""

    def rows(self, hashes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each of *hashes*, -1 where it has no vector."""

    def matrix(self) -> NDArray[np.float32]:
        """Return all vectors, for the rows that were last asked for: (rows, dimension)."""


class Followed(Protocol):
    """The index of a vault and the vectors of a model, wherever they are kept."""

    def state(self) -> object:
        """Return a value that changes whenever the index or the vectors do.

        Raises:
            Busy: they cannot be read now.
        """

    def opened(self) -> AbstractContextManager[tuple[Tables, HeldVectors]]:
        """Give the index and the vectors for the length of a `with` block. Matrices stay usable after it.

        Raises:
            Busy: there is no index that can be used now.
        """

    def close(self) -> None:
        """Let go of what it holds."""


def follow_index(work: Workspace, embedder: Embedder) -> Followed:
    """Return the index of the vault at hand and the vectors that *embedder* made of it."""
    if work.settings.index.engine == "postgres":
        from memtool.index.postgres.followed import FollowedDatabase

        return FollowedDatabase(work, embedder)
    return _FollowedFiles(work.index_folder, embedder)


class _FollowedFiles:
    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._folder = folder
        self._embedder = embedder

    def state(self) -> object:
        index = self._folder / "index"
        return _stamps(index, generations.current(index)), _stamps(self._folder / "vectors")

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[Tables, HeldVectors]]:
        from memtool.index.vectors import open_store

        embedder = self._embedder
        with (
            current_index(self._folder) as db,
            open_store(self._folder / "vectors", embedder.name, embedder.dimension) as store,
        ):
            yield db, store

    def close(self) -> None:
        """Do nothing: it holds no file open."""


def stamp(path: Path) -> tuple[int, int] | None:
    """Return the stamp of the file at *path*; None if there is none."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


def _stamps(folder: Path, current: Path | None = None) -> object:
    """Return the stamps that change with a database or a matrix in *folder*; of an index, with the *current* one."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208  (names are enough)
    except OSError:
        return None
    if current is not None:
        names = [name for name in names if name.startswith(current.name)]
    return [(name, stamp(folder / name)) for name in names if not name.endswith("-shm")]
