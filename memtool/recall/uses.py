"""What is used of memory, counted on this machine only, in a file beside the index.

    used     how often each memory was read by its id, found by a search, or used by an agent that was given it
    given    of each line that a session was given: how often, how often it arrived, and whether the agent used it

Of a line there is a checksum and no word, so nothing that is purged elsewhere stays here. A session's lines go after
ninety days.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.text.lines import without_surrogates

USES = "uses.sqlite"
OFTEN = 10  # arrivals after which a line that was never used is given less

_KEPT = "-90 days"
_TABLES = """
CREATE TABLE IF NOT EXISTS used (key TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS given (
    key TEXT, session TEXT, day TEXT NOT NULL, given INTEGER NOT NULL, arrived INTEGER, used INTEGER,
    PRIMARY KEY (key, session)
) WITHOUT ROWID;
"""
_ADD = "INSERT INTO used VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET count = min(count + 1, 1000000)"
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Fate(NamedTuple):
    """What became of a line in one session, or in several.

    Args:
        key: of the line (`memtool.recall.ledger.line_key`).
        given: how often it was given.
        arrived: how often it arrived; None where no transcript shows that.
        used: whether the agent used it; None where nothing would show that.
    """

    key: str
    given: int
    arrived: int | None = None
    used: bool | None = None


class Sums(NamedTuple):
    """What became of several lines: how often they were *given*, *arrived* and were *used*.

    *shown* of them say by a name whether they were used. Lines of which no transcript shows whether they arrived count
    only where there are no others; then `arrived` is None.
    """

    given: int
    arrived: int | None
    used: int
    shown: int

    def __str__(self) -> str:
        if self.arrived is None:
            return f"given {self.given}; no transcript shows whether they arrived"
        return f"given {self.given}, arrived {self.arrived}, used {self.used} of {self.shown} that would show it"


def sums_of(fates: Iterable[Fate]) -> Sums | None:
    """Return the sums of *fates*; None without any."""
    told = list(fates)
    known = [fate for fate in told if fate.arrived is not None] or told
    arrived = [fate.arrived for fate in known if fate.arrived is not None]
    shown = [fate.used for fate in known if fate.used is not None]
    given = sum(fate.given for fate in known)
    return Sums(given, sum(arrived) if arrived else None, sum(shown), len(shown)) if known else None


def count_uses(folder: Path, keys: Iterable[str]) -> None:
    """Count each of *keys* once more in the *folder* of the index. What cannot be counted at once is not counted."""
    rows = [(without_surrogates(key),) for key in keys]
    if rows:
        _write(folder / USES, lambda db: db.executemany(_ADD, rows))


def read_uses(folder: Path, keys: Sequence[str]) -> dict[str, int]:
    """Return how often each of *keys* was used; those that never were are left out."""
    return {str(key): int(count) for key, count in _read(folder, "SELECT key, count FROM used WHERE key IN ({})", keys)}


def keep_fates(folder: Path, session: str, day: str, fates: Sequence[Fate]) -> None:
    """Keep what became of the lines of *session*, which ended on *day*, in the place of what was known of it before."""

    def keep(db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM given WHERE session = ? OR day < date(?, ?)", (session, day, _KEPT))
        rows = ((without_surrogates(each.key), session, day, each.given, each.arrived, each.used) for each in fates)
        db.executemany("INSERT OR REPLACE INTO given VALUES (?, ?, ?, ?, ?, ?)", rows)

    _write(folder / USES, keep)


def fates_of_session(folder: Path, session: str) -> dict[str, Fate]:
    """Return what became of the lines of *session*, by their keys; nothing before it has ended."""
    rows = _read(folder, "SELECT key, given, arrived, used FROM given WHERE session IN ({})", [session])
    return {row[0]: _fate(row) for row in rows}


def fates_between(folder: Path, first: str, last: str) -> list[Fate]:
    """Return what became of lines in the sessions that ended on the days *first* to *last*, a line once for each."""
    sql = "SELECT key, given, arrived, used FROM given WHERE day BETWEEN ? AND ?"
    return [_fate(row) for row in _read(folder, sql, [first, last])]


def seldom_used(folder: Path, keys: Sequence[str]) -> frozenset[str]:
    """Return those of the lines *keys* that arrived ten times, where their use would have shown, and never were used.

    Such a line takes twice the likelihood to be given again.
    """
    sums = "SELECT key, sum(arrived), max(used) FROM given WHERE used IS NOT NULL AND key IN ({}) GROUP BY key"
    return frozenset(key for key, arrived, used in _read(folder, sums, keys) if arrived >= OFTEN and not used)


def _fate(row: tuple[Any, ...]) -> Fate:
    key, given, arrived, used = row
    return Fate(key, given, arrived, None if used is None else bool(used))


def _read(folder: Path, sql: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the rows that *sql* gives, with a mark for each of *values* in the place of `{}`; none if that fails."""
    path = folder / USES
    if not values or not path.is_file():
        return []
    with suppress(sqlite3.Error, ValueError, TypeError), closing(_connect(path)) as db:
        return db.execute(
            sql.format(", ".join("?" * len(values))), [without_surrogates(each) for each in values]
        ).fetchall()
    return []


def _write(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """Let *change* write; a file that is damaged begins anew, and one that is held is left."""
    with suppress(sqlite3.Error, OSError):
        try:
            _change(path, change)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                raise
            path.unlink(missing_ok=True)
            _change(path, change)


def _change(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    if path.is_symlink():
        return
    with closing(_connect(path)) as db:
        db.executescript(f"PRAGMA synchronous = OFF; {_TABLES}")
        db.execute("BEGIN IMMEDIATE")
        change(db)
        db.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=limits.PATIENCE, isolation_level=None)
