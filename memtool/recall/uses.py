"""Counts of how often each memory was given or read: on this machine only, in a file beside the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from memtool.text.lines import without_surrogates

USES = "uses.sqlite"

_PATIENCE = 0.05  # seconds; a count that is lost is no loss
_TABLE = "CREATE TABLE IF NOT EXISTS used (key TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID"
_ADD = "INSERT INTO used VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET count = min(count + 1, 1000000)"
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def count_uses(folder: Path, keys: Iterable[str]) -> None:
    """Count each of *keys* once more in the *folder* of the index. What cannot be counted at once is not counted."""
    path, wanted = folder / USES, list(keys)
    if not wanted:
        return
    with suppress(sqlite3.Error, OSError):
        try:
            _add(path, wanted)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                raise
            path.unlink(missing_ok=True)
            _add(path, wanted)


def read_uses(folder: Path, keys: Sequence[str]) -> dict[str, int]:
    """Return how often each of *keys* was used; those that never were are left out."""
    path = folder / USES
    if not keys or not path.is_file():
        return {}
    wanted = f"SELECT key, count FROM used WHERE key IN ({', '.join('?' * len(keys))})"  # noqa: S608  (marks only)
    try:
        with closing(_connect(path)) as db:
            return {str(key): int(count) for key, count in db.execute(wanted, keys)}
    except (sqlite3.Error, ValueError, TypeError):
        return {}


def _add(path: Path, keys: list[str]) -> None:
    if path.is_symlink():
        return
    with closing(_connect(path)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN IMMEDIATE")
        db.execute(_TABLE)
        db.executemany(_ADD, [(without_surrogates(key),) for key in keys])
        db.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
