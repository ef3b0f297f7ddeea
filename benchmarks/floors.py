"""Floors: the least that a task can cost, written as barely as possible. What memtool adds is measured against them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from memtool.index import schema
from memtool.text.tokens import index_terms, query_terms

BEST = 100  # as many as memtool looks at


def walk(folder: str) -> Iterator[str]:
    """Give the paths of all files below *folder*, having asked for the stamp of each."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from walk(entry.path)
            else:
                entry.stat(follow_symlinks=False)
                yield entry.path


def create(path: Path) -> sqlite3.Connection:
    """Return a new database at *path* with the tables of an index, set up for speed as a first index is."""
    path.unlink(missing_ok=True)
    path.touch()
    db = schema.connect(path)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA cache_size = -65536")
    schema.create(db)
    return db


def insert(db: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Read the files, make terms of them and insert these, a row for each file, in one transaction."""
    db.execute("BEGIN")
    for path in paths:
        with open(path, "rb") as file:
            terms = " ".join(index_terms(file.read().decode()))
        db.execute("INSERT INTO chunk_terms (terms) VALUES (?)", (terms,))
    db.execute("COMMIT")


def insert_plain(db: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Read the files and insert them into a table that FTS5 cuts by a tokenizer of its own: no code of memtool's."""
    db.execute("CREATE VIRTUAL TABLE plain USING fts5 (text, tokenize = 'unicode61')")
    db.execute("BEGIN")
    for path in paths:
        with open(path, "rb") as file:
            db.execute("INSERT INTO plain (text) VALUES (?)", (file.read().decode(),))
    db.execute("COMMIT")


def best(db: sqlite3.Connection, question: str) -> list[tuple[int, float]]:
    """Return what FTS5 by itself says to the terms of *question*.

    Ordered by a score of its own, SQLite keeps the best rows alone. Where FTS5 is asked to order by `rank`, it sorts
    all of them.
    """
    match = " OR ".join(f'"{term}"' for term in query_terms(question))
    find = "SELECT rowid, -rank AS score FROM chunk_terms WHERE chunk_terms MATCH ? ORDER BY score DESC LIMIT ?"
    return db.execute(find, (match, BEST)).fetchall()
