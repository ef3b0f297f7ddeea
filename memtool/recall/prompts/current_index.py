"""The index as it is: opened to read, never built, brought up to date or waited for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from memtool.errors import Busy
from memtool.index import generations, schema

_PATIENCE = 0.05  # seconds; a reader waits for nobody unless somebody repairs the file
_NOT_OURS = (  # errors of reading that the state of the file explains; any other is a bug of whoever reads
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL,
)  # fmt: skip


@contextmanager
def current_index(folder: Path) -> Iterator[sqlite3.Connection]:
    """Give the index in *folder* (`memtool.vault.state`) for the length of a `with` block.

    Raises:
        Busy: there is none, or none that can be used now; the sentence says why.
    """
    path = generations.current(folder / "index")
    if path is None:
        raise Busy("there is no index yet")
    uri = f"{path.absolute().as_uri()}?mode=rw"  # a log of changes can only be read by who may write
    with ExitStack() as opened:
        try:
            db = opened.enter_context(closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)))
            db.execute("PRAGMA query_only = ON")
            reason = schema.misfit(db)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where a table's definition is no text
            reason = str(error)
        if reason:
            raise Busy(f"the index cannot be used: {reason}")
        try:
            yield db
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NOT_OURS:
                raise
            raise Busy(f"the index cannot be used: {error}") from None


def known_words(db: sqlite3.Connection, words: list[str]) -> set[str]:
    """Return those of *words*, folded, that some note of the index *db* holds."""
    marks = ", ".join("?" * len(words))
    return {row[0] for row in db.execute(f"SELECT word FROM word WHERE word IN ({marks})", words)}  # noqa: S608
