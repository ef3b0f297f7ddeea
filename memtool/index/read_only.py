"""The index, opened only to be read: by a prompt, which takes it as it is, and where nothing can be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memtool.errors import Busy, NotWritable
from memtool.index import generations, schema

if TYPE_CHECKING:
    from memtool.index.sqlite import SqliteIndex
    from memtool.index.tables import Tables
    from memtool.workspace import Workspace

_PATIENCE = 0.05  # seconds; a reader waits for nobody unless somebody repairs the file
_NOT_OURS = (  # errors of reading that the state of the file explains; any other is a bug of whoever reads
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL,
)  # fmt: skip


@contextmanager
def current_index(folder: Path, work: Workspace | None = None) -> Iterator[Tables]:
    """Give the index in *folder* (`memtool.vault.state`), as it is, for the length of a `with` block.

    It is never built, brought up to date or waited for. With *work*, it is that of the engine which its settings name.

    Raises:
        Busy: there is none, or none that can be used now; the sentence says why.
    """
    if work and work.settings.index.engine == "postgres":
        from memtool.index.postgres.engine import current_tables

        with current_tables(work) as tables:
            yield tables
        return
    path = generations.current(folder / "index")
    if path is None:
        raise Busy("there is no index yet")
    uri = f"{path.absolute().as_uri()}?mode=rw"  # a log of changes can only be read by who may write
    with ExitStack() as opened:
        try:
            opening = sqlite3.connect(
                uri, uri=True, timeout=_PATIENCE, isolation_level=None, factory=schema.SqliteTables
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
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NOT_OURS:
                raise
            raise Busy(f"the index cannot be used: {error}") from None


def opened_on_full_disk(path: Path, refusal: NotWritable) -> schema.SqliteTables:
    """Return the database at *path*, opened without a file of its own.

    Raises:
        NotWritable: the *refusal* of the disk, where it is damaged.
    """
    # On a full disk not even the file can be made through which connections share a log; this one needs none.
    try:
        return schema.connect(path, mode="ro&immutable=1")
    except sqlite3.DatabaseError:
        raise refusal from None


def is_current(index: SqliteIndex) -> bool:
    """Return whether *index* holds what the files of its vault say now."""
    from memtool.vault.scan import changes  # which a prompt does without

    try:
        found = index.place.scan()
        index.problems = found.problems
        if schema.misfit(index.db, index.place.vault.daily):
            return False
        if index.is_settled_by(found):
            return True
        pending = changes(index.stamps(), found)
        return not pending.gone and all(is_as_indexed(index, ref) for ref in pending.suspects)
    except (sqlite3.DatabaseError, OSError):
        return False


def is_as_indexed(index: SqliteIndex, ref: str) -> bool:
    """Return whether the file at *ref*, which may be too young for its stamp to be trusted, is what the index holds."""
    from memtool.index.writer import read_file
    from memtool.vault.files import content_hash

    known = index.db.execute("SELECT hash FROM note WHERE ref = ?", (ref,)).fetchone()
    read = read_file(index.place.vault.root / ref, index.place.max_bytes, 0) if known else None
    return read is not None and read.content is not None and content_hash(read.content) == known[0]
