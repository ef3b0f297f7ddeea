"""Rows into the index: the only module that changes its tables for text (vectors have `memtool.index.embedding`)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtool.vault.broken import BrokenNote
from memtool.vault.files import content_hash
from memtool.vault.scan import Stamp

if TYPE_CHECKING:
    from memtool.index.rows import ChunkRow, NoteRow

_CHUNK_COLUMNS = (
    "id, note_id, start_line, end_line, heading, text, kind, project, category, status, date, tags, expires, "
    "archived, fact_id"
)


class Content(NamedTuple):
    """A file as it was read: its stamp before reading, the time of reading, its bytes (None: too large)."""

    stamp: Stamp
    read_at_ns: int
    content: bytes | None


@dataclass
class Applied:
    """What was written: the paths of the notes added, changed and removed, and the files that could not be read."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unreadable: list[BrokenNote] = field(default_factory=list)


def read_file(path: Path, max_bytes: int, now_ns: int) -> Content:
    """Return the file at *path*. The stamp is taken first: a later change will then be noticed.

    Raises:
        FileNotFoundError: it is gone.
        OSError: it cannot be read, which does not mean that it was deleted.
    """
    with path.open("rb", buffering=0) as file:
        stat = os.fstat(file.fileno())
        stamp = Stamp(stat.st_size, stat.st_mtime_ns)
        return Content(stamp, now_ns, None if stat.st_size > max_bytes else file.read())


class Writer:
    """Writes notes into the open database *db*. The caller holds the index's lock and the transaction."""

    def __init__(self, db: sqlite3.Connection, max_bytes: int) -> None:
        self.db = db
        self.max_bytes = max_bytes
        self._words: set[str] = set()
        self._stale: list[int] = []

    def put(self, ref: str, path: Path, now_ns: int, applied: Applied) -> None:
        """Bring the file *ref* into the index, and say in *applied* what that changed."""
        known = self.db.execute("SELECT id, hash FROM note WHERE ref = ?", (ref,)).fetchone()
        try:
            read = read_file(path, self.max_bytes, now_ns)
        except FileNotFoundError:
            if known:
                self.remove(ref, applied)
            return
        except OSError as error:
            applied.unreadable.append(BrokenNote(ref, f"cannot be read: {error.strerror}"))
            return
        digest = content_hash(read.content) if read.content is not None else f"{read.stamp.size} bytes"
        if known and known[1] == digest:
            self.db.execute(
                "UPDATE note SET size = ?, mtime_ns = ?, read_at_ns = ? WHERE id = ?",
                (*read.stamp, read.read_at_ns, known[0]),
            )
            return
        if known:
            self._delete(known[0])
        self._insert(ref, read, digest, self._row(ref, read))
        (applied.changed if known else applied.added).append(ref)

    def remove(self, ref: str, applied: Applied) -> None:
        """Forget the note *ref*."""
        for (note_id,) in self.db.execute("SELECT id FROM note WHERE ref = ?", (ref,)).fetchall():
            self._delete(note_id)
            applied.removed.append(ref)

    def finish(self) -> None:
        """Write what is cheap only all at once and in order: new words, and the terms of chunks that are gone.

        FTS5 gathers changes in memory while row numbers rise, and writes a segment whenever one falls.
        """
        self.db.executemany("INSERT OR IGNORE INTO word (word) VALUES (?)", [(word,) for word in sorted(self._words)])
        self.db.executemany("DELETE FROM chunk_terms WHERE rowid = ?", [(number,) for number in sorted(self._stale)])
        self._words.clear()
        self._stale.clear()

    def _row(self, ref: str, read: Content) -> NoteRow:
        from memtool.index.rows import NoteRow, note_row  # a search that finds nothing changed does without

        if read.content is None:
            size, limit = read.stamp.size / 1e6, self.max_bytes / 1e6
            return NoteRow(ref.rsplit("/", 1)[-1], f"too large to read: {size:.0f} MB, the limit is {limit:.0f} MB", ())
        return note_row(ref, read.content)

    def _insert(self, ref: str, read: Content, digest: str, row: NoteRow) -> None:
        note_id = self.db.execute(
            "INSERT INTO note (ref, size, mtime_ns, read_at_ns, hash, title, problem) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (ref, *read.stamp, read.read_at_ns, digest, row.title, row.problem),
        ).lastrowid
        if not row.chunks:
            return
        last = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'").fetchone() or (0,)
        numbered = list(enumerate(row.chunks, last[0] + 1))
        self.db.executemany(
            f"INSERT INTO chunk ({_CHUNK_COLUMNS}) VALUES ({', '.join('?' * 15)})",
            [(number, note_id, *chunk[:13]) for number, chunk in numbered],
        )
        self.db.executemany(
            "INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)",
            [(number, chunk.terms()) for number, chunk in numbered],
        )
        self._remember_words(chunk for _, chunk in numbered)

    def _remember_words(self, chunks: Iterable[ChunkRow]) -> None:
        self._words.update(*(chunk.words() for chunk in chunks))

    def _delete(self, note_id: int) -> None:
        chunks = "SELECT id FROM chunk WHERE note_id = ?"
        self._stale += [number for (number,) in self.db.execute(chunks, (note_id,))]
        self.db.execute(f"DELETE FROM piece WHERE chunk_id IN ({chunks})", (note_id,))
        self.db.execute("DELETE FROM chunk WHERE note_id = ?", (note_id,))
        self.db.execute("DELETE FROM note WHERE id = ?", (note_id,))
