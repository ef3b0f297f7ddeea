"""Rows into the index: the only module that changes its tables for text (vectors have `memtool.index.semantic`)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memtool.index import limits, schema
from memtool.vault.files import KnownStamp, Stamp, content_hash
from memtool.vault.layout import ARCHIVE, Vault, is_archived, is_outside, project_of
from memtool.vault.memory import IMPORTED, KNOWLEDGE
from memtool.vault.project_area import names_by_folder, project_of_memory
from memtool.vault.scan import Outside, broken

if TYPE_CHECKING:
    from memtool.index.rows import NoteRow
    from memtool.vault.note import BrokenNote

_CHUNK_COLUMNS = (
    "id, note_id, start_line, end_line, heading, text, kind, project, category, status, date, tags, expires, "
    "archived, fact_id, author"
)


class FileContent(NamedTuple):
    """A file as it was read: its stamp before reading, the time of reading, its bytes (None: too large)."""

    stamp: Stamp
    read_at_ns: int
    content: bytes | None


class Applied:
    """The result of writing: the paths of notes added, changed and removed, and the files that could not be read."""

    def __init__(self) -> None:
        self.added: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self.unreadable: list[BrokenNote] = []


def read_file(path: str, max_bytes: int, now_ns: int) -> FileContent:
    """Return the file at *path*. The stamp is taken first: a later change will then be noticed.

    Raises:
        FileNotFoundError: it is gone.
        OSError: it cannot be read, which does not mean that it was deleted.
    """
    with open(path, "rb", buffering=0) as file:
        stat = os.fstat(file.fileno())
        stamp = Stamp(stat.st_size, stat.st_mtime_ns)
        return FileContent(stamp, now_ns, None if stat.st_size > max_bytes else file.read())


class Writer(ABC):
    """Writes notes into an index: reads and compares the files; how rows are kept is the engine's.

    The caller holds the index's lock. *stamps* are those of all files that were read, changed or not.
    """

    def __init__(self, max_bytes: int, vault: Vault, outside: Outside) -> None:
        from memtool.text.tokens import WordTerms  # a search that finds nothing changed does without

        self.max_bytes = max_bytes
        self.vault = vault
        self.outside = outside
        self.stamps: dict[str, KnownStamp] = {}
        self._terms = WordTerms()
        self._notes: dict[str, tuple[int, str]] = {}

    @contextmanager
    def batch(self, refs: Sequence[str]) -> Iterator[None]:
        """Make all that is done in a `with` block one transaction; *refs* are the files that it is about."""
        with self._transaction():
            self._notes = self._find_notes([*refs, *map(other_side_of_archive, refs)])
            yield

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[object]:
        """Make all that is done in a `with` block one transaction."""

    @abstractmethod
    def _find_notes(self, refs: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Return the ids and the content hashes of those notes at *refs* that are in the index."""

    @abstractmethod
    def finish(self, *, settled: bytes | None) -> None:
        """Write what is cheaper all at once. *settled* is the scan that leaves nothing to do, if there is one."""

    @abstractmethod
    def _touch(self, note_id: int, read: FileContent) -> None:
        """Keep the stamp of a file whose content is the same."""

    @abstractmethod
    def _rename(self, note_id: int, ref: str, read: FileContent) -> None:
        """Let the note lie at *ref*, with the same content."""

    @abstractmethod
    def _delete(self, note_id: int) -> None:
        """Forget the note and its chunks."""

    @abstractmethod
    def _insert(self, ref: str, read: FileContent, digest: str, row: NoteRow) -> int:
        """Keep a new note and its chunks, and return its id."""

    def put(self, ref: str, now_ns: int, applied: Applied) -> None:
        """Bring the file *ref* into the index, and say in *applied* what that changed."""
        known = self._notes.get(ref)
        try:
            read = read_file(os.path.join(self.vault.root, ref), self.max_bytes, now_ns)  # noqa: PTH118  (speed)
        except FileNotFoundError:
            if known:
                self.remove(ref, applied)
            return
        except OSError as error:
            applied.unreadable.append(broken(ref, f"cannot be read: {error.strerror}"))
            return
        self.stamps[ref] = KnownStamp(*read.stamp, read.read_at_ns)
        digest = content_hash(read.content) if read.content is not None else f"{read.stamp.size} bytes"
        if known and known[1] == digest:
            self._touch(known[0], read)
            return
        old = other_side_of_archive(ref)
        if not known and (moved := self._moved_from(old, ref, digest)):
            self._rename(moved, ref, read)
            self._notes[ref] = self._notes.pop(old)
            applied.removed.append(old)
            applied.added.append(ref)
            return
        if known:
            self._delete(known[0])
        self._notes[ref] = self._insert(ref, read, digest, self._row(ref, read)), digest
        (applied.changed if known else applied.added).append(ref)

    def _moved_from(self, old: str, ref: str, digest: str) -> int:
        """Return the id of the note at *old*, on the other side of the archive, if it has moved to *ref*; else 0.

        Two thousand notes move there in the first weekly run of a year: what finds them stays the same.
        """
        known = self._notes.get(old)
        if not known or known[1] != digest or project_of(old) != project_of(ref):
            return 0
        return 0 if os.path.lexists(self.vault.root / old) else known[0]

    def remove(self, ref: str, applied: Applied) -> None:
        """Forget the note *ref*."""
        if known := self._notes.pop(ref, None):
            self._delete(known[0])
            applied.removed.append(ref)

    def _row(self, ref: str, read: FileContent) -> NoteRow:
        from memtool.index.rows import NoteRow, note_row  # a search that finds nothing changed does without

        if read.content is None:
            size, limit = read.stamp.size / 1e6, self.max_bytes / 1e6
            return NoteRow(ref.rsplit("/", 1)[-1], f"too large to read: {size:.0f} MB, the limit is {limit:.0f} MB", ())
        if not is_outside(ref):
            return note_row(ref, read.content, daily=self.vault.daily)
        if self.outside.is_knowledge(ref):  # whatever it says of itself, it is a page that somebody wrote elsewhere
            row = note_row(ref, read.content, kind=KNOWLEDGE)
            chunks = (chunk._replace(project="", author=IMPORTED) for chunk in row.chunks)
        else:
            row, project = note_row(ref, read.content), project_of_memory(ref, names_by_folder(self.vault))
            chunks = (chunk._replace(project=project, context=f"{chunk.context}\n{project}") for chunk in row.chunks)
        return row._replace(chunks=tuple(chunks))


def other_side_of_archive(ref: str) -> str:
    """Return where the note *ref* lies after it was archived, or before."""
    return ref.removeprefix(ARCHIVE) if is_archived(ref) else f"{ARCHIVE}{ref}"


class SqliteWriter(Writer):
    """Writes notes into the open database *db*."""

    def __init__(self, db: schema.SqliteTables, max_bytes: int, vault: Vault, outside: Outside) -> None:
        super().__init__(max_bytes, vault, outside)
        self.db = db
        self._stale: set[int] = set()
        self._last_chunk = 0
        self._new_chunks: list[tuple[Any, ...]] = []
        self._new_terms: list[tuple[int, str]] = []

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self.db:  # which ends the transaction either way
            self.db.execute("BEGIN IMMEDIATE")
            last = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'").fetchone()
            self._last_chunk = last[0] if last else 0
            yield

    def _find_notes(self, refs: Sequence[str]) -> dict[str, tuple[int, str]]:
        parts = (refs[at : at + 500] for at in range(0, len(refs), 500))
        return {
            ref: (note_id, digest)
            for part in parts
            for ref, note_id, digest in self.db.execute(
                f"SELECT ref, id, hash FROM note WHERE ref IN ({', '.join('?' * len(part))})", part
            )
        }

    def _touch(self, note_id: int, read: FileContent) -> None:
        values = (*read.stamp, read.read_at_ns, note_id)
        self.db.execute("UPDATE note SET size = ?, mtime_ns = ?, read_at_ns = ? WHERE id = ?", values)

    def _rename(self, note_id: int, ref: str, read: FileContent) -> None:
        values = (ref, *read.stamp, read.read_at_ns, note_id)
        self.db.execute("UPDATE note SET ref = ?, size = ?, mtime_ns = ?, read_at_ns = ? WHERE id = ?", values)
        self.db.execute("UPDATE chunk SET archived = ? WHERE note_id = ?", (is_archived(ref), note_id))

    def finish(self, *, settled: bytes | None) -> None:
        """Write what is cheap only all at once and in order: new words, and the end of chunks that are gone.

        FTS5 gathers changes in memory while row numbers rise, and writes a segment whenever one falls.
        *settled* is the scan that leaves nothing to do, if there is one: `Index.is_settled_by` recognises it.
        """
        self._write_chunks()
        self.db.execute("DELETE FROM settled")
        if settled is not None:
            self.db.execute("INSERT INTO settled VALUES (?, ?)", (self.max_bytes, settled))
        new = list(self._new_words())
        lists = ("\n".join(new[at : at + limits.AT_ONCE]) for at in range(0, len(new), limits.AT_ONCE))
        self.db.executemany("INSERT INTO word_list VALUES (?)", ((words,) for words in lists))
        for number in sorted(self._stale):
            self._forget_terms(number)
        self._terms.words.clear()
        self._stale.clear()

    def _new_words(self) -> Iterator[str]:
        """Keep the words that are new, and give them in their order."""
        words = sorted(self._terms.words)
        for at in range(0, len(words), 500):  # a statement has at most 999 values in old SQLites
            some = words[at : at + 500]
            values = ", ".join(["(?)"] * len(some))
            yield from sorted(
                word for (word,) in self.db.execute(f"INSERT OR IGNORE INTO word VALUES {values} RETURNING word", some)
            )

    def _insert(self, ref: str, read: FileContent, digest: str, row: NoteRow) -> int:
        note_id = self.db.execute(
            "INSERT INTO note (ref, size, mtime_ns, read_at_ns, hash, title, problem, names)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (ref, *read.stamp, read.read_at_ns, digest, row.title, row.problem, row.names),
        ).lastrowid
        for number, chunk in enumerate(row.chunks, self._last_chunk + 1):
            terms = chunk.terms(self._terms)
            self._new_chunks.append((number, note_id, *chunk[:14]))
            self._new_terms.append((number, terms))
        self._last_chunk += len(row.chunks)
        if len(self._new_chunks) > limits.CHUNKS_AT_ONCE:
            self._write_chunks()
        return cast("int", note_id)

    def _write_chunks(self) -> None:
        """Write the chunks that were gathered: many at once take a tenth less time than those of each note."""
        values = ", ".join("?" * 16)
        self.db.executemany(f"INSERT INTO chunk ({_CHUNK_COLUMNS}) VALUES ({values})", self._new_chunks)
        self.db.executemany("INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)", self._new_terms)
        self.db.executemany("INSERT INTO term_list VALUES (?, ?)", self._new_terms)
        self._new_chunks.clear()
        self._new_terms.clear()

    def _delete(self, note_id: int) -> None:
        chunks = "SELECT id FROM chunk WHERE note_id = ?"
        self._stale.update(number for (number,) in self.db.execute(chunks, (note_id,)))
        lists = self.db.execute(f"SELECT chunk_id, hashes FROM piece_list WHERE chunk_id IN ({chunks})", (note_id,))
        pieces = [(each, chunk_id) for chunk_id, hashes in lists for each in schema.unpacked(hashes)]
        self.db.executemany("DELETE FROM piece WHERE hash = ? AND chunk_id = ?", pieces)
        self.db.execute(f"DELETE FROM piece_list WHERE chunk_id IN ({chunks})", (note_id,))
        self.db.execute("DELETE FROM note WHERE id = ?", (note_id,))

    def _forget_terms(self, chunk_id: int) -> None:
        """Delete the chunk, with what finds it: FTS5, which keeps no terms, must be told which they were."""
        delete = "INSERT INTO chunk_terms (chunk_terms, rowid, terms) VALUES ('delete', ?, ?)"
        self.db.execute(delete, (chunk_id, schema.terms_of(self.db, chunk_id)))
        self.db.execute("DELETE FROM term_list WHERE chunk_id = ?", (chunk_id,))
        self.db.execute("DELETE FROM chunk WHERE id = ?", (chunk_id,))
