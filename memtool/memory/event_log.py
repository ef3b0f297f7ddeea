"""The log of events: what was written into the vault, and what prompts were given, in the order in which it was seen.

It is derived, and lies beside the index. The process that follows the vault compares each note with the events that
it had before; a new one gets the next number. A note that was never read closely brings the events that are younger
than the log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from memtool.errors import NotWritable
from memtool.index.engine import Index, place_of, use_index
from memtool.memory import limits
from memtool.memory.timeline import event_fields, events_of, when
from memtool.recall.given import PROMPT, Giving, read_givings, sessions_given
from memtool.recall.ledger import ledger_folder
from memtool.vault.memory import Location, Memory
from memtool.workspace import Workspace

GIVEN = "prompt"  # the kind of the event that a prompt was given something

_NAME = "events.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, fields TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seen (ref TEXT PRIMARY KEY, hash TEXT NOT NULL, keys TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS begun (date TEXT NOT NULL, minute TEXT NOT NULL);
"""


def event_of(session: str, giving: Giving) -> Memory:
    """Return the event that a prompt of *session* was given something; the lines of its place count what it was."""
    count = len(giving.lines)
    place = Location("", count, count)
    return Memory(f"{session}#{giving.turn}", giving.prompt, GIVEN, place, project=giving.project, date=giving.at[:16])


def prompts_given(work: Workspace) -> list[Memory]:
    """Return the prompts of which there are records, as events, the newest first."""
    folder = ledger_folder(work)
    found: list[Memory] = []
    for session in sessions_given(folder):
        with suppress(OSError):
            stat = (folder / f"{session}.jsonl").stat()
            found += _prompts_of(folder, session, stat.st_mtime_ns, stat.st_size)
    return sorted(found, key=_in_order, reverse=True)


def _in_order(prompt: Memory) -> tuple[str, str, int]:
    session, _, turn = prompt.id.rpartition("#")
    return prompt.date, session, int(turn)


@lru_cache(maxsize=64)
def _prompts_of(folder: Path, session: str, _mtime_ns: int, _size: int) -> tuple[Memory, ...]:
    return tuple(event_of(session, each) for each in read_givings(folder, session) if each.event == PROMPT)


class Logged(NamedTuple):
    """An event with its number and the time at which it was seen, in ISO 8601."""

    id: int
    at: str
    event: Memory


class EventLog:
    """The events of the vault whose index lies in *folder*. One process follows the vault; any may read."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def last_id(self) -> int:
        """Return the number of the newest event, 0 where there is none."""
        with self._open() as db:
            return int(db.execute("SELECT coalesce(max(id), 0) FROM event").fetchone()[0])

    def since(self, last_id: int, limit: int) -> list[Logged]:
        """Return at most *limit* events after number *last_id*, oldest first."""
        with self._open() as db:
            rows = db.execute("SELECT id, at, fields FROM event WHERE id > ? ORDER BY id LIMIT ?", (last_id, limit))
            return [Logged(number, at, _parsed(fields)) for number, at, fields in rows]

    def follow(self, work: Workspace) -> int:
        """Log what is new since the last time; return how many events that were."""
        with self._open() as db:
            return use_index(place_of(work), lambda index: _follow(work, index, db))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=5.0, isolation_level=None)) as db:
                db.executescript(_TABLES)
                yield db
        except sqlite3.OperationalError as error:
            raise NotWritable(f"the log of events cannot be used: {error}") from None
        except sqlite3.DatabaseError:  # damaged: it is derived, and begins anew
            self._path.unlink(missing_ok=True)
            raise NotWritable("the log of events was damaged, and begins anew") from None


def _follow(work: Workspace, index: Index, db: sqlite3.Connection) -> int:
    notes = dict(index.db.execute("SELECT ref, hash FROM note"))
    begun = db.execute("SELECT date, minute FROM begun").fetchone()
    if begun is None:
        _begin(work, index, db, notes)
        return 0
    seen = {ref: (digest, keys) for ref, digest, keys in db.execute("SELECT ref, hash, keys FROM seen")}
    changed = [ref for ref, digest in notes.items() if ref not in seen or seen[ref][0] != digest]
    found: list[Memory] = []
    now_seen: list[tuple[str, str, str]] = []
    for ref in sorted(changed):
        events = events_of(work, index, ref)
        before = json.loads(seen[ref][1]) if ref in seen and seen[ref][1] is not None else None
        if before is not None or ref not in seen:
            known = set(before or ())
            found += [event for event in events if _key(event) not in known]
        else:
            found += [event for event in events if (event.day, event.minute) >= tuple(begun)]
        now_seen.append((ref, notes[ref], _keys(events)))
    given, now_given = _given(work, seen)
    found.sort(key=when)
    gone = [(ref,) for ref in seen if ref not in notes and not ref.startswith(_GIVEN_PREFIX)]
    _write(work, db, [*found, *given], [*now_seen, *now_given], gone)
    return len(found) + len(given)


def _begin(work: Workspace, index: Index, db: sqlite3.Connection, notes: dict[str, str]) -> None:
    """Take in the notes that exist, closely those that are likely to change next: facts, and the newest notes."""
    close = (
        "SELECT ref FROM note WHERE ref LIKE '%facts.json'"
        " UNION SELECT * FROM (SELECT ref FROM note ORDER BY mtime_ns DESC LIMIT ?)"
    )
    refs = index.db.execute(close, (limits.NOTES_OF_NEW_LOG,)).fetchall()
    known = {ref: _keys(events_of(work, index, ref)) for (ref,) in refs}
    now = work.now()
    _, given = _given(work, {})
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO begun VALUES (?, ?)", (now.date().isoformat(), f"{now:%H:%M}"))
    rows = ((ref, digest, known.get(ref)) for ref, digest in notes.items())
    db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", [*rows, *given])
    db.execute("COMMIT")


def _write(
    work: Workspace,
    db: sqlite3.Connection,
    events: Sequence[Memory],
    seen: Sequence[tuple[str, str, str]],
    gone: Sequence[tuple[str]],
) -> None:
    if not (events or seen or gone):
        return
    at = work.now().isoformat(timespec="seconds")
    db.execute("BEGIN IMMEDIATE")
    rows = ((at, json.dumps([*event_fields(event).values()], ensure_ascii=False)) for event in events)
    db.executemany("INSERT INTO event (at, fields) VALUES (?, ?)", rows)
    db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", seen)
    db.executemany("DELETE FROM seen WHERE ref = ?", gone)
    db.execute("DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - ?", (limits.LOGGED_EVENTS,))
    db.execute("COMMIT")


def _given(work: Workspace, seen: dict[str, tuple[str, str | None]]) -> tuple[list[Memory], list[tuple[str, str, str]]]:
    """Return the prompts that were given something since, and how far the records of each session were read."""
    folder = ledger_folder(work)
    events: list[Memory] = []
    read: list[tuple[str, str, str]] = []
    for session in sessions_given(folder):
        ref, stamp = f"{_GIVEN_PREFIX}{session}", _stamp(folder / f"{session}.jsonl")
        known, count = seen.get(ref, ("", "0"))
        if stamp != known:
            givings = read_givings(folder, session)
            new = givings[int(count or 0) :] if int(count or 0) <= len(givings) else givings[-1:]
            events += [event_of(session, giving) for giving in new if giving.event == PROMPT and giving.lines]
            read.append((ref, stamp, str(len(givings))))
    return events, read


def _parsed(fields: str) -> Memory:
    day, minute, kind, project, text, path, line, name, status, author = json.loads(fields)
    date = f"{day}T{minute}" if minute else day
    return Memory(
        name, text, kind, Location(path, line, line), author=author, project=project, date=date, status=status
    )


def _stamp(path: Path) -> str:
    try:
        about = path.stat()
    except OSError:
        return ""
    return f"{about.st_size}-{about.st_mtime_ns}"


def _keys(events: Sequence[Memory]) -> str:
    return json.dumps([_key(event) for event in events])


def _key(event: Memory) -> str:
    """Return the key of an event: its place may change, its words may not."""
    fields = (event.kind, event.day, event.minute, event.project, event.text, event.status)
    return f"{crc32(json.dumps(fields).encode()):08x}"


_GIVEN_PREFIX = "given:"
