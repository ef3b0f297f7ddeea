"""The engine that keeps an index in a file of this machine, and that file opened as it is. Prompts come by here."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from memtool.errors import Busy
from memtool.index import generations, limits, schema

if TYPE_CHECKING:
    from memtool.embeddings import Embedder
    from memtool.index.engine import Index, Place
    from memtool.index.vectors import VectorStore
    from memtool.workspace import Workspace

T = TypeVar("T")
# Errors of reading that the state of the file explains; any other is a bug of the reader.
_NOT_OURS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, *schema.PASSING, *schema.REFUSED, *schema.UNREACHABLE)


class FileEngine:
    """A file of SQLite's in *folder*, the vault's folder of state: see `memtool.index.engines.Engine`."""

    keeps_files: ClassVar[bool] = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of(cls, work: Workspace) -> Self:
        """Return the engine of the vault at hand."""
        return cls(work.index_folder)

    def use(self, place: Place, use: Callable[[Index], T], *, rebuild: bool = False) -> T:
        """Return the result of *use* on the index, fresh from the vault."""
        from memtool.index.sqlite import use_file

        return use_file(place, use, rebuild=rebuild)

    def read_again(self, place: Place, refs: Sequence[str]) -> None:
        """Bring the files *refs* up to date in an index that can be used."""
        from memtool.index.sqlite import read_again

        read_again(place, refs)

    @contextmanager
    def current(self) -> Iterator[schema.SqliteTables]:
        """Give the index as it is, for the length of a `with` block.

        Raises:
            Busy: there is none, or none that can be used now; the sentence says why.
        """
        path = generations.current(self._folder / "index")
        if path is None:
            raise Busy("there is no index yet")
        uri = f"{path.absolute().as_uri()}?mode=rw"  # a log of changes can only be read by who may write
        with ExitStack() as opened:
            try:
                opening = sqlite3.connect(
                    uri, uri=True, timeout=limits.READ_PATIENCE, isolation_level=None, factory=schema.SqliteTables
                )
                db = opened.enter_context(closing(opening))
                db.execute("PRAGMA query_only = ON")
                reason = schema.misfit(db)
            except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where a table's definition is no text
                reason = str(error)
            if reason:
                raise Busy(f"the index cannot be used: {reason}")
            try:
                yield db
            except sqlite3.DatabaseError as error:
                if schema.code_of(error) not in _NOT_OURS:
                    raise
                raise Busy(f"the index cannot be used: {error}") from None

    def follow(self, embedder: Embedder) -> FollowedFiles:
        """Return the index and the vectors that *embedder* made of it."""
        return FollowedFiles(self._folder, embedder)


class FollowedFiles:
    """The index and the vectors of a model in *folder*: see `memtool.index.tables.Followed`."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._folder = folder
        self._embedder = embedder

    def state(self) -> object:
        """Return the stamps of all files that change with the index or the vectors."""
        index = self._folder / "index"
        return _stamps(index, generations.current(index)), _stamps(self._folder / "vectors")

    @contextmanager
    def opened(self) -> Iterator[tuple[schema.SqliteTables, VectorStore]]:
        """Give the index and the vectors for the length of a `with` block."""
        from memtool.index.vectors import VectorStore

        model, dimension = self._embedder.name, self._embedder.dimension
        with FileEngine(self._folder).current() as db, VectorStore(self._folder / "vectors", model, dimension) as store:
            yield db, store

    def close(self) -> None:
        """Do nothing: it holds no file open."""


def stamp(path: Path) -> tuple[int, int] | None:
    """Return the time of the last change and the size of the file at *path*; None if there is none."""
    with contextlib.suppress(OSError):
        about = path.stat()
        return about.st_mtime_ns, about.st_size
    return None


def _stamps(folder: Path, current: Path | None = None) -> object:
    """Return the stamps that change with a database or a matrix in *folder*; of an index, with the *current* one."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208  (names are enough)
    except OSError:
        return None
    if current is not None:
        names = [name for name in names if name.startswith(current.name)]
    return [(name, stamp(folder / name)) for name in names if not name.endswith("-shm")]
