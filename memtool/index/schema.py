"""The tables of the index, and the fingerprint of what filled them.

An index is never migrated: another schema version (`PRAGMA user_version`) or another fingerprint means that it is
rebuilt.
"""

from __future__ import annotations

import contextlib
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtool.vault.layout import DAILY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.index.filters import Filter
    from memtool.index.tables import Tables

# FTS5 gets terms that Python has made, joined by spaces; its tokenizer only has to leave them whole. No user text
# is ever FTS syntax: terms hold letters, digits and these characters, and are always quoted in a query.
TERM_CHARACTERS = ".-#/:@+=&?%~\\_>"

# What an index was built with. Raise a number when its module gives something else for the same notes.
SCHEMA = 8  # this module: the tables
TEXT = 2  # memtool.text.tokens: the terms
CHUNKS = 10  # memtool.index.rows: the chunks and what they are found by

HASH = 8  # bytes of a content hash
# SQLite's error codes: another process is at it; the disk refuses; and what may be damage, or a file just removed.
PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
REFUSED = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY)
UNREACHABLE = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)

_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE note (
    id INTEGER PRIMARY KEY,
    ref TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, read_at_ns INTEGER NOT NULL, hash TEXT NOT NULL,
    title TEXT NOT NULL, problem TEXT NOT NULL,
    names TEXT NOT NULL  -- the front matter's aliases, folded, each between line breaks
);
CREATE TABLE settled (max_bytes INTEGER NOT NULL, scan BLOB NOT NULL);  -- at most one: see memtool.index.engine
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: see memtool.index.semantic
    note_id INTEGER NOT NULL REFERENCES note(id),
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    heading TEXT NOT NULL, text TEXT NOT NULL,
    kind TEXT NOT NULL, project TEXT NOT NULL, category TEXT NOT NULL, status TEXT NOT NULL,
    date TEXT NOT NULL, tags TEXT NOT NULL, expires TEXT NOT NULL, archived INTEGER NOT NULL, fact_id TEXT NOT NULL,
    author TEXT NOT NULL
);
CREATE INDEX chunk_of_note ON chunk (note_id);
CREATE INDEX chunk_of_project ON chunk (project);
CREATE INDEX chunk_of_date ON chunk (date) WHERE date <> '';
CREATE INDEX chunk_of_fact ON chunk (fact_id) WHERE fact_id <> '';
CREATE TABLE term_list (  -- the terms of a chunk in their order: FTS5 itself keeps none (decision 0004)
    chunk_id INTEGER PRIMARY KEY REFERENCES chunk(id), terms TEXT NOT NULL
);
CREATE VIRTUAL TABLE chunk_terms USING fts5 (
    terms, content = '', tokenize = "ascii tokenchars '{TERM_CHARACTERS}'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (chunk_terms, row);
CREATE VIRTUAL TABLE occurrence USING fts5vocab (chunk_terms, instance);
CREATE TABLE word (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE word_list (words TEXT NOT NULL);  -- the same, a line each: to look at all of them in little time
CREATE TABLE piece_list (  -- the hashes of what has a vector in a chunk, packed: all of it, then its pieces
    chunk_id INTEGER PRIMARY KEY REFERENCES chunk(id), hashes BLOB NOT NULL
);
CREATE TABLE piece (hash INTEGER NOT NULL, chunk_id INTEGER NOT NULL, PRIMARY KEY (hash, chunk_id)) WITHOUT ROWID;
"""


class SqliteTables(sqlite3.Connection):
    """An open index of SQLite's: see `memtool.index.tables`. A damaged one raises `sqlite3.DatabaseError`."""

    @contextlib.contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all that is read in a `with` block come from one state of the index."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            if self.in_transaction:
                self.execute("ROLLBACK")

    def chunk_count(self) -> int:
        """Return how many chunks there are."""
        return int(self.execute("SELECT count(*) FROM chunk").fetchone()[0])

    def occurring(self, terms: Collection[str]) -> Collection[str]:
        """Return those of *terms* that any chunk holds."""
        find = "SELECT 1 FROM occurrence WHERE term = ? LIMIT 1"
        return {term for term in terms if self.execute(find, (term,)).fetchone()}

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many chunks each of *terms* occurs."""
        # This walks through all occurrences of each term, which takes about as long as a search.
        find = "SELECT doc FROM vocabulary WHERE term = ?"
        return {term: (self.execute(find, (term,)).fetchone() or (0,))[0] for term in terms}

    def phrase_frequency(self, phrase: str) -> int:
        """Return in how many chunks the terms of *phrase* stand side by side."""
        find = "SELECT count(*) FROM chunk_terms WHERE chunk_terms MATCH ?"
        return int(self.execute(find, (f'"{phrase}"',)).fetchone()[0])

    def best(
        self, terms: Sequence[str], depth: int, condition: str = "", values: Sequence[Any] = ()
    ) -> list[tuple[int, float]]:
        """Return the *depth* best chunks for *terms*, with their BM25, best first."""
        # By a name of its own for the rank, SQLite keeps the best; ORDER BY rank makes FTS5 sort all that match.
        match = " OR ".join(f'"{term}"' for term in terms)
        if not condition:
            find = (
                "SELECT rowid, -rank AS score FROM chunk_terms WHERE chunk_terms MATCH ?"
                " ORDER BY score DESC, rowid LIMIT ?"
            )
            return self.execute(find, (match, depth)).fetchall()
        return self.execute(
            "SELECT c.id, -t.rank AS score FROM chunk_terms AS t JOIN chunk AS c ON c.id = t.rowid"
            f" WHERE t.chunk_terms MATCH ? AND {condition} ORDER BY score DESC, c.id LIMIT ?",
            (match, *values, depth),
        ).fetchall()

    def holding(self, any_of: Sequence[Sequence[str]], most: int) -> list[int]:
        """Return *most* chunks, in no order, that hold all terms of any of the lists."""
        # Without an order FTS5 only walks through the list of each term; ranking would take ten times as long.
        quoted = ([f'"{term}"' for term in terms] for terms in any_of)
        match = " OR ".join(f"({' AND '.join(terms)})" for terms in quoted)
        find = "SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ? LIMIT ?"
        return [row[0] for row in self.execute(find, (match, most))]

    def known_words(self, words: Collection[str]) -> list[str]:
        """Return those of *words* that any note holds, in order."""
        marks = ", ".join("?" * len(words))
        return [
            row[0] for row in self.execute(f"SELECT word FROM word WHERE word IN ({marks}) ORDER BY word", [*words])
        ]

    def words_with(self, part: str) -> list[str]:
        """Return the words that hold *part*."""
        # Ten times faster than to ask SQLite for each word whether it holds the part.
        lists = (words for (words,) in self.execute("SELECT words FROM word_list") if part in words)
        return [word for words in lists for word in words.split("\n") if part in word]

    def embedded_up_to(self, model: str) -> int:
        """Return the last chunk that *model* has embedded, or 0."""
        row = self.execute("SELECT value FROM meta WHERE key = ?", (embedding_mark(model),)).fetchone()
        return int(row[0]) if row else 0

    def remember_pieces(self, model: str, pieces: Mapping[int, Sequence[int]], up_to: int) -> None:
        """Write down the hashes of what has a vector in each chunk, and that *model* has come up to *up_to*."""
        # Another process may have replaced a chunk in the meantime: its pieces come with its new number.
        living = "SELECT id, ? FROM chunk WHERE id = ?"
        lists = [(packed(hashes), chunk_id) for chunk_id, hashes in pieces.items()]
        each = [(content_hash, chunk_id) for chunk_id, hashes in pieces.items() for content_hash in hashes]
        with self:
            self.execute("BEGIN IMMEDIATE")
            self.executemany(f"INSERT OR IGNORE INTO piece_list (chunk_id, hashes) {living}", lists)
            self.executemany(f"INSERT OR IGNORE INTO piece (chunk_id, hash) {living}", each)
            self.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (embedding_mark(model), str(up_to)))

    def pieces(self, wanted: Filter) -> list[tuple[int, str, NDArray[np.int64]]]:
        """Return the chunks that are *wanted* and have vectors: number, project, and the hashes of what has one."""
        import numpy as np

        condition, values = wanted.where()
        rows = self.execute(
            "SELECT c.id, c.project, p.hashes FROM chunk AS c JOIN piece_list AS p ON p.chunk_id = c.id"
            f" WHERE {condition} ORDER BY c.id",
            values,
        )
        return [(chunk_id, project, np.frombuffer(hashes, "<i8")) for chunk_id, project, hashes in rows]


def code_of(error: sqlite3.DatabaseError) -> int:
    """Return SQLite's code of *error*, without what tells its kinds apart; 0 of one that Python raised itself."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)) & 0xFF


def embedding_mark(model: str) -> str:
    """Return the key of `meta` for the last chunk that *model* has embedded."""
    return f"embedded up to: {model}"


def fingerprint(daily: str = DAILY) -> str:
    """Return the versions with which an index must have been built: tokenizer, chunker and Unicode tables.

    *daily* is the vault's folder of daily notes.
    """
    folder = f", daily notes in {daily}" if daily != DAILY else ""
    return f"text {TEXT}, chunks {CHUNKS}, unicode {unicodedata.unidata_version}{folder}"


def create(db: sqlite3.Connection, daily: str = DAILY) -> None:
    """Make the tables in an empty database, for a vault whose daily notes lie in *daily*."""
    db.executescript(_TABLES)
    # Bytes of new terms that are held before FTS5 writes a segment, which it must merge later.
    db.execute(f"INSERT INTO chunk_terms (chunk_terms, rank) VALUES ('hashsize', {16 << 20})")
    db.execute("INSERT INTO meta VALUES ('fingerprint', ?)", (fingerprint(daily),))
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def connect(path: Path, *, mode: str = "rw") -> SqliteTables:
    """Open the database at *path*, which must exist, without starting a transaction.

    Raises:
        sqlite3.DatabaseError: it cannot be opened, or is damaged.
    """
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(
        uri, uri=True, timeout=10.0, isolation_level=None, check_same_thread=False, factory=SqliteTables
    )
    try:
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16384")  # KiB; with the default of 2 MB, vectors' chunks are read each time
    except sqlite3.DatabaseError:
        db.close()
        raise
    except UnicodeDecodeError:  # a message that quotes what stands in place of a table's definition
        db.close()
        raise sqlite3.DatabaseError("the tables' definitions are no text") from None
    return db


def packed(hashes: Iterable[int]) -> bytes:
    """Return content hashes as the index and the store of vectors hold them."""
    return b"".join(each.to_bytes(HASH, "little", signed=True) for each in hashes)


def unpacked(hashes: bytes) -> list[int]:
    """Return the content hashes that were packed."""
    return [int.from_bytes(hashes[at : at + HASH], "little", signed=True) for at in range(0, len(hashes), HASH)]


def terms_of(db: Tables, chunk_id: int) -> str:
    """Return the terms of a chunk, joined by spaces.

    Raises:
        sqlite3.DatabaseError: the index has none, or they are damaged.
    """
    row = db.execute("SELECT terms FROM term_list WHERE chunk_id = ?", (chunk_id,)).fetchone()
    if row is None:
        raise sqlite3.DatabaseError("a chunk has no terms")
    return str(row[0])


def misfit(db: sqlite3.Connection, daily: str = "") -> str:
    """Return why this memtool cannot use the index *db*; an empty string if it can.

    With *daily*, it must have been made for a vault whose daily notes lie there.

    Raises:
        sqlite3.DatabaseError: the file is damaged.
    """
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA:
        return "a newer memtool made it"
    if version < SCHEMA:
        return "it is unfinished, or an older memtool made it"
    row = db.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
    fits = row and (row[0] == fingerprint(daily) if daily else row[0].startswith(fingerprint()))
    return "" if fits else "its text was cut in another way"
