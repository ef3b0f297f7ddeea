"""The two files that hold the vectors of one model, and how they stay in step.

    <stem>.<generation>.f32       a header of 64 bytes, then the rows: float32, little-endian
    <stem>.<generation>.sqlite3   which content hash each row has: 8 bytes a row, in the order of the rows

Within a generation a row is never moved or changed, so whoever opened a pair can use it for as long as it likes.
New rows are written behind the last one and synced before one transaction names them in the table: a crash between
the two leaves a tail that no one names, and the next writer writes over it. A new generation is written aside, and
renaming its table into place makes it the current one. Writers hold a lock (`memtool.index.vectors`); readers none.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import re
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from memtool.errors import Busy
from memtool.index.schema import HASH

_FORMAT = 2
HEADER = 64  # bytes, so that rows begin at a line of the processor's cache

_SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE about (header BLOB);
CREATE TABLE vector (first INTEGER PRIMARY KEY, hashes BLOB NOT NULL);  -- of the rows from the first on
"""
_FILE = re.compile(r"(?P<stem>.+)\.(?P<generation>\d{1,18})\.(?P<kind>f32|sqlite3|sqlite3-wal|sqlite3-shm|new.*)")
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR)


class Damaged(Exception):
    """The files of a pair are not what memtool wrote. The text is the reason."""


class Pair(NamedTuple):
    """An open pair: the table, the mapped matrix, and the content hashes of the rows that the table names."""

    generation: int
    table: sqlite3.Connection
    matrix: mmap.mmap
    hashes: bytes

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.hashes) // HASH


class VectorFiles(NamedTuple):
    """The files that hold the pairs of one model, and their form."""

    folder: Path
    model: str
    dimension: int

    def generation(self) -> int:
        """Return the number of the current pair, or 0 where there is none."""
        found = (_FILE.fullmatch(path.name) for path in _files(self.folder))
        tables = (each for each in found if each and each["kind"] == "sqlite3" and each["stem"] == stem(self.model))
        return max((int(each["generation"]) for each in tables), default=0)

    def open(self, generation: int) -> Pair:
        """Return a pair that is sound.

        Raises:
            FileNotFoundError: one of the files is gone; a newer pair may have come.
            Damaged: a file is broken, or not ours.
            Busy: the table cannot be read for now.
        """
        table = _connect(self._path(generation, "sqlite3"))
        try:
            (header,) = table.execute("SELECT header FROM about").fetchone()
            hashes = _all_hashes(table)
            # Mapped after the hashes were read: rows are in the file before the table names them.
            with self._path(generation, "f32").open("rb") as file:
                matrix = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            pair = Pair(generation, table, matrix, hashes)
            self._check(pair, header)
        except sqlite3.Error as error:
            table.close()
            raise unreadable(error) from None
        except (TypeError, ValueError):  # an empty table; an empty file cannot be mapped
            table.close()
            raise Damaged("a file is empty") from None
        except BaseException:
            table.close()
            raise
        return pair

    def append(self, pair: Pair, hashes: bytes, rows: bytes) -> None:
        """Add *rows* to the pair and name them *hashes*.

        Raises:
            OSError, sqlite3.Error: the disk refuses.
            Damaged: the table is broken in a place that was not seen when it was opened.
        """
        with self._path(pair.generation, "f32").open("r+b") as file:
            file.seek(HEADER + pair.size * self.dimension * 4)
            file.write(rows)
            _sync(file)
        try:
            with pair.table as table:
                table.execute("BEGIN IMMEDIATE")
                _name(table, hashes, pair.size)
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF in _CORRUPT:
                raise Damaged("the table is damaged") from None
            raise

    def write(self, generation: int, hashes: bytes, rows: Iterable[bytes]) -> None:
        """Write a new pair, which is the current one when this returns.

        Raises:
            OSError, sqlite3.Error: the disk refuses.
        """
        with _create(self._path(generation, "f32")) as file:
            file.write(self._header(generation))
            file.writelines(rows)
            _sync(file)
        new = self._path(generation, "new")
        _create(new).close()
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as table, table:
            table.executescript(_SCHEMA)
            table.execute("BEGIN")
            table.execute("INSERT INTO about VALUES (?)", (self._header(generation),))
            _name(table, hashes, 0)
        os.replace(new, self._path(generation, "sqlite3"))

    def _check(self, pair: Pair, header: bytes) -> None:
        if not header == pair.matrix[:HEADER] == self._header(pair.generation):
            raise Damaged("they are of another model or version")
        if len(pair.matrix) < HEADER + pair.size * self.dimension * 4:
            raise Damaged("a file is cut off")

    def _header(self, generation: int) -> bytes:
        # Both files of a pair bear it, and no other file does.
        model = hashlib.sha256(self.model.encode()).hexdigest()[:16]
        return f"memtool vectors {_FORMAT} {model} {self.dimension} {generation}".encode().ljust(HEADER)

    def _path(self, generation: int, kind: str) -> Path:
        return self.folder / f"{stem(self.model)}.{generation}.{kind}"


def stem(model: str) -> str:
    """Return how the names of a model's files begin."""
    readable = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:40]
    return f"{readable}-{hashlib.sha256(model.encode()).hexdigest()[:12]}"


def remove(folder: Path, which: Callable[[str, int], bool]) -> None:
    """Remove the files in *folder* of which *which* is true, given their stem and generation."""
    for path in _files(folder):
        found = _FILE.fullmatch(path.name)
        if found and which(found["stem"], int(found["generation"])):
            # Windows keeps what a reader has open; the next writer tries again.
            with contextlib.suppress(OSError):
                path.unlink()


def unreadable(error: sqlite3.Error) -> Damaged:
    """Return the error for a table that cannot be read.

    Raises:
        Busy: only that it cannot be read for now.
    """
    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
        raise Busy("another process holds the stored vectors") from None
    return Damaged("the table is damaged")


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _connect(path: Path) -> sqlite3.Connection:
    path.stat()  # raises FileNotFoundError, where SQLite would only say that it cannot open the file
    try:
        return _connected(path, "mode=rw")
    except sqlite3.Error:
        # A table with a log, in a folder that cannot be written, can only be read as if it never changed.
        try:
            return _connected(path, "mode=ro&immutable=1")
        except sqlite3.Error as error:
            raise unreadable(error) from None


def _connected(path: Path, options: str) -> sqlite3.Connection:
    table = sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, isolation_level=None)
    try:
        table.execute("PRAGMA synchronous = NORMAL")
        table.execute("SELECT 1 FROM about")
    except sqlite3.Error:
        table.close()
        raise
    return table


def _all_hashes(table: sqlite3.Connection) -> bytes:
    hashes = bytearray()
    for first, part in table.execute("SELECT first, hashes FROM vector ORDER BY first"):
        if first * HASH != len(hashes) or len(part) % HASH:
            raise Damaged("the table is damaged")
        hashes += part
    return bytes(hashes)


def _name(table: sqlite3.Connection, hashes: bytes, first: int) -> None:
    if hashes:
        table.execute("INSERT INTO vector VALUES (?, ?)", (first, hashes))


def _create(path: Path) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    return open(os.open(path, flags, 0o600), "wb")


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
