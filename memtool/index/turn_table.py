"""The words of the kept sources of sessions, in a table of their own: `turns.sqlite` beside the generations.

    source      a file of `transcripts/` and its stamp
    part        some lines of a turn, a document of the full-text index, with the checksum of the turn's line: of a
                session that goes on only the last turn is read again

It holds terms and no text, and is made of the files alone, by the worker, by `memtool index` and after an import: no
hook and no search waits for it. What a hit says is read from its source (`memtool.index.turns`).
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import MemtoolError, NotWritable
from memtool.index import generations, limits, schema
from memtool.index.engine import Place, place_of
from memtool.text.scripts import is_unspaced
from memtool.text.tokens import index_terms, is_stop_word
from memtool.vault.layout import Vault
from memtool.vault.memory import AGENT, TOOL, USER
from memtool.vault.sources import FOLDER, SUFFIX, KeptSource, lines_in, list_sources, objects_in, read_lines, years_of
from memtool.workspace import Workspace

SIZE = 400  # characters of a part
_VERSION = 2
_FILE, _LOCK = "turns.sqlite", "turns"
TURN = "transcript"  # the kind of a hit that is a turn of a kept session
_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE source (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, session TEXT NOT NULL,
    size INTEGER NOT NULL, ended_at REAL NOT NULL
);
CREATE TABLE part (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: the terms of a part that is gone stay for a while
    source_id INTEGER NOT NULL, turn INTEGER NOT NULL, mark INTEGER NOT NULL, number INTEGER NOT NULL
);
CREATE INDEX part_of_source ON part (source_id, turn);
CREATE VIRTUAL TABLE part_terms USING fts5 (
    terms, content = '', tokenize = "ascii tokenchars '{schema.TERM_CHARACTERS}'"
);
CREATE VIRTUAL TABLE part_vocabulary USING fts5vocab (part_terms, row);
"""


class TurnLine(NamedTuple):
    """A line of a turn: its text, who wrote it, and the number of the text in the turn that it is from."""

    text: str
    author: str
    of: int


class FollowedSources(NamedTuple):
    """The result of an update: sources that were read, that are gone, and that cannot be read."""

    read: int = 0
    gone: int = 0
    unread: int = 0


def follow_sources(place: Place, *, rebuild: bool = False) -> FollowedSources:
    """Bring the table up to date with the sources of the vault. One that is damaged is made anew.

    Raises:
        Busy: another process is at it.
        NotWritable: it cannot be written.
    """
    path = table_path(place)
    if not path.exists() and not list_sources(place.vault):
        return FollowedSources()
    try:
        with place.lock(_LOCK):
            try:
                if rebuild:
                    _remove(path)
                return _follow(place, path)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                _remove(path)
                return _follow(place, path)
    except (sqlite3.DatabaseError, OSError) as error:
        raise NotWritable(f"the words of the kept sources cannot be written: {error}") from None


def catch_up_turns(work: Workspace) -> None:
    """Bring the table up to date where that can be done now: the next time will do the rest."""
    with contextlib.suppress(MemtoolError):
        follow_sources(place_of(work))


def table_path(place: Place) -> Path:
    """Return where the table lies."""
    return place.generations / _FILE


@contextlib.contextmanager
def open_table(place: Place) -> Iterator[sqlite3.Connection | None]:
    """Give the table as it is, to be read, for the length of a `with` block; None where none can be used."""
    with contextlib.ExitStack() as opened:
        db = None
        with contextlib.suppress(sqlite3.DatabaseError):
            db = opened.enter_context(contextlib.closing(schema.connect(table_path(place))))
            db.execute("PRAGMA query_only = ON")
            db = db if _fits(db) else None
        yield db


def drop_damaged(place: Place, error: sqlite3.DatabaseError) -> None:
    """Remove the table if the *error* of reading it says that it is damaged: it is made anew."""
    if _is_damage(error):
        with contextlib.suppress(OSError):
            _remove(table_path(place))


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return schema.code_of(error) not in schema.PASSING + schema.REFUSED + schema.UNREACHABLE


def missing_sources(db: sqlite3.Connection | None, vault: Vault) -> tuple[int, int]:
    """Return how many of the vault's sources *db* does not hold as they are, and how many there are."""
    if db is not None and _folders(vault) == _meta(db, "folders"):
        return 0, 0
    kept = list_sources(vault)
    known = _stamps(db) if db is not None else {}
    return sum(known.get(one.name) != (one.size, one.ended_at) for one in kept), len(kept)


def lines_of_turn(fields: Mapping[str, Any]) -> Iterator[TurnLine]:
    """Give the lines of the turn in *fields*, which may be anything that JSON knows; long ones in slices."""
    for number, (author, text) in enumerate(texts_of_turn(fields)):
        for line in text.splitlines():
            if stripped := line.strip():
                yield from (TurnLine(piece, author, number) for piece in _slices(stripped))


def texts_of_turn(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the texts of the turn in *fields*, each with who wrote it."""
    yield USER, _text(fields, "typed")
    yield AGENT, _text(fields, "summary")
    for each in _objects(fields, "dialogs"):
        yield USER, " → ".join(filter(None, [_text(each, "question"), _text(each, "answer")]))
    for each in _objects(fields, "plans"):
        yield AGENT, _text(each, "text")
    for each in _objects(fields, "runs"):
        yield TOOL, f"{_text(each, 'command')}\n{_text(each, 'error') or _text(each, 'last_line')}"
    for each in _objects(fields, "edits"):
        yield TOOL, ": ".join(filter(None, [_text(each, "file"), _text(each, "line")]))
    messages = fields.get("messages")
    for text in messages if isinstance(messages, list) else ():
        yield AGENT, text if isinstance(text, str) else ""


def parts_of(lines: Iterator[TurnLine]) -> Iterator[list[TurnLine]]:
    """Give *lines* in parts of at most `SIZE` characters."""
    part, size = list[TurnLine](), 0
    for line in lines:
        if part and size + len(line.text) > SIZE:
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line.text)
    if part:
        yield part


def turns_in(content: bytes) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Give the line and the fields of each turn of a source, of which *content* is what it unpacks to."""
    for line in islice(lines_in(content), 1, None):
        for fields in objects_in(line):
            if not isinstance(fields.get("note"), dict):
                yield line, fields


def _follow(place: Place, path: Path) -> FollowedSources:
    generations.make_folder(path.parent)
    if path.exists():
        with contextlib.closing(schema.connect(path)) as db:
            if _fits(db) and not _is_worn(db):
                return _updated(place, db)
        _remove(path)
    path.touch(mode=0o600)
    with contextlib.closing(schema.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_TABLES)
        db.execute("INSERT INTO meta VALUES ('fingerprint', ?)", (schema.fingerprint(),))
        db.execute(f"PRAGMA user_version = {_VERSION}")
        done = _updated(place, db)
        db.execute("INSERT INTO part_terms (part_terms) VALUES ('optimize')")
        db.execute("VACUUM")
        return done


def _updated(place: Place, db: sqlite3.Connection) -> FollowedSources:
    folders = _folders(place.vault)
    known, kept = _stamps(db), {one.name: one for one in list_sources(place.vault)}
    changed = [one for one in kept.values() if known.get(one.name) != (one.size, one.ended_at)]
    gone = [(name,) for name in known if name not in kept]
    unread = 0
    with _transaction(db):
        db.executemany("DELETE FROM part WHERE source_id = (SELECT id FROM source WHERE name = ?)", gone)
        db.executemany("DELETE FROM source WHERE name = ?", gone)
    for start in range(0, len(changed), limits.CHUNKS_AT_ONCE):
        with _transaction(db):
            unread += sum(not _read(place.vault, db, one) for one in changed[start : start + limits.CHUNKS_AT_ONCE])
    with _transaction(db):
        db.execute("INSERT OR REPLACE INTO meta VALUES ('folders', ?)", (folders,))
    return FollowedSources(len(changed) - unread, len(gone), unread)


def _read(vault: Vault, db: sqlite3.Connection, one: KeptSource) -> bool:
    """Read the turns of a source that are new or have changed; return whether it can be read.

    One that cannot is noted with its stamp, too, so that it is not tried again as long as it is the same file.
    """
    insert = (
        "INSERT INTO source (name, session, size, ended_at) VALUES (?, '', ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET size = excluded.size, ended_at = excluded.ended_at RETURNING id"
    )
    source_id = db.execute(insert, (one.name, one.size, one.ended_at)).fetchone()[0]
    old = dict(db.execute("SELECT DISTINCT turn, mark FROM part WHERE source_id = ?", (source_id,)))
    forget = "DELETE FROM part WHERE source_id = ? AND turn = ?"
    is_read, room = True, limits.LARGEST_SESSION
    try:
        content = read_lines(vault, ref_of(one))
        head = next(objects_in(content.partition(b"\n")[0]), {})
        db.execute("UPDATE source SET session = ? WHERE id = ?", (_text(head, "session"), source_id))
        for number, (line, fields) in enumerate(turns_in(content), 1):
            room -= len(line)
            if room < 0:
                break
            if (mark := zlib.crc32(line)) != old.pop(number, None):
                db.execute(forget, (source_id, number))
                _add(db, (source_id, number, mark), fields)
    except MemtoolError:
        is_read = False
    db.executemany(forget, [(source_id, number) for number in old])
    return is_read


def ref_of(one: KeptSource) -> str:
    """Return the path of a source in its vault."""
    return f"{FOLDER}/{one.path.parent.name}/{one.name}{SUFFIX}"


def _add(db: sqlite3.Connection, turn: tuple[int, int, int], fields: Mapping[str, Any]) -> None:
    insert = "INSERT INTO part (source_id, turn, mark, number) VALUES (?, ?, ?, ?)"
    for at, part in enumerate(parts_of(lines_of_turn(fields))):
        part_id = db.execute(insert, (*turn, at)).lastrowid
        terms = " ".join(telling_terms(" ".join(line.text for line in part)))
        db.execute("INSERT INTO part_terms (rowid, terms) VALUES (?, ?)", (part_id, terms))


def telling_terms(text: str) -> list[str]:
    """Return the terms of *text* that somebody asks for: no function words, and characters in pairs only."""
    return [term for term in index_terms(text) if not is_stop_word(term) and not (len(term) == 1 and is_unspaced(term))]


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    with db:
        db.execute("BEGIN IMMEDIATE")
        yield


def _fits(db: sqlite3.Connection) -> bool:
    is_ours = db.execute("PRAGMA user_version").fetchone()[0] == _VERSION
    return bool(is_ours) and _meta(db, "fingerprint") == schema.fingerprint()


def _is_worn(db: sqlite3.Connection) -> bool:
    """Return whether a third of the terms and more are of parts that are gone."""
    living, made = db.execute("SELECT count(*), coalesce(max(id), 0) FROM part").fetchone()
    return bool(3 * (made - living) > made > limits.CHUNKS_AT_ONCE)


def _meta(db: sqlite3.Connection, key: str) -> str:
    row: Sequence[str] | None = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else ""


def _stamps(db: sqlite3.Connection) -> dict[str, tuple[int, float]]:
    rows = db.execute("SELECT name, size, ended_at FROM source")
    return {name: (size, ended_at) for name, size, ended_at in rows}


def _folders(vault: Vault) -> str:
    """Return what changes whenever a source comes, goes or is written anew: when the folders were changed last."""
    folder, changed = vault.root / FOLDER, {}
    for year in years_of(vault):
        with contextlib.suppress(OSError):
            changed[year] = (folder / year).stat().st_mtime_ns
    return json.dumps(changed)


def _remove(path: Path) -> None:
    for journal in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + journal).unlink(missing_ok=True)


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _objects(fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = fields.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _slices(line: str) -> Iterator[str]:
    start = 0
    while len(line) - start > SIZE:
        end = line.rfind(" ", start + SIZE // 2, start + SIZE) + 1 or start + SIZE
        yield line[start:end]
        start = end
    yield line[start:]
