"""An index where nothing can be written: opened for reading, and used if it has nothing to learn."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from memtool.errors import NotWritable
from memtool.index import schema
from memtool.index.writer import read_file
from memtool.vault.files import content_hash
from memtool.vault.scan import changes

if TYPE_CHECKING:
    from memtool.index.engine import Index


def opened(path: Path, refusal: NotWritable) -> sqlite3.Connection:
    """Return the database at *path*, opened for reading.

    Raises:
        NotWritable: the *refusal* of the disk, where it is damaged.
    """
    # On a full disk not even the file can be made through which connections share a log; this one needs none.
    try:
        return schema.connect(path, mode="ro&immutable=1")
    except sqlite3.DatabaseError:
        raise refusal from None


def is_current(index: Index) -> bool:
    """Return whether *index* holds what the files of its vault say now."""
    try:
        found = index.place.scan()
        index.problems = found.problems
        if schema.misfit(index.db, index.place.vault.daily):
            return False
        if index.is_settled_by(found):
            return True
        pending = changes(index.stamps(), found)
        return not pending.gone and all(_is_as_indexed(index, ref) for ref in pending.suspects)
    except (sqlite3.DatabaseError, OSError):
        return False


def _is_as_indexed(index: Index, ref: str) -> bool:
    """Return whether the file at *ref*, which may be too young for its stamp to be trusted, is what the index holds."""
    known = index.db.execute("SELECT hash FROM note WHERE ref = ?", (ref,)).fetchone()
    read = read_file(index.place.vault.root / ref, index.place.max_bytes, 0) if known else None
    return read is not None and read.content is not None and content_hash(read.content) == known[0]
