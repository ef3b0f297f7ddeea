"""Rows into the index: the only module that changes its tables for text (vectors have `memtool.index.semantic`)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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


def read_file(path: Path, max_bytes: int, now_ns: int) -> FileContent:
    """Return the file at *path*. The stamp is taken first: a later change will then be noticed.

    Raises:
        FileNotFoundError: it is gone.
        OSError: it cannot be read, which does not mean that it was deleted.
    """
    with path.open("rb", buffering=0) as file:
        stat = os.fstat(file.fileno())
        stamp = Stamp(stat.st_size, stat.st_mtime_ns)
        return FileContent(stamp, now_ns, None if stat.st_size > max_bytes else file.read())


class Writer(ABC):
    """Writes notes into an index: reads and compares the files; how rows are kept is the engine's.

    The caller holds the index's lock. *stamps* are those of all files that were read, changed or not.
    """

    def __init__(self, max_bytes: int, vault: Vault, outside: Outside) -> None:
        self.max_bytes = max_bytes
        self.vault = vault
        self.outside = outside
        self.stamps: dict[str, KnownStamp] = {}

    @abstractmethod
    def batch(self, refs: Sequence[str]) -> AbstractContextManager[None]:
        """Make all that is done in a `with` block one transaction; *refs* are the files that it is about."""

    @abstractmethod
    def finish(self, *, settled: bytes | None) -> None:
        """Write what is cheaper all at once. *settled* is the scan that leaves nothing to do, if there is one."""

    @abstractmethod
    def _known(self, ref: str) -> tuple[int, str] | None:
        """Return the id and the content hash of the note *ref* in the index."""

    @abstractmethod
    def _touch(self, note_id: int, read: FileContent) -> None:
        """Keep the stamp of a file whose content is the same."""

    @abstractmethod
    def _rename(self, note_id: int, old: str, ref: str, read: FileContent) -> None:
        """Let the note lie at *ref*, with the same content."""

    @abstractmethod
    def _delete(self, note_id: int, ref: str) -> None:
        """Forget the note and its chunks."""

    @abstractmethod
    def _insert(self, ref: str, read: FileContent, digest: str, row: NoteRow) -> None:
        """Keep a new note and its chunks."""

    def put(self, ref: str, path: Path, now_ns: int, applied: Applied) -> None:
        """Bring the file *ref* into the index, and say in *applied* what that changed."""
        known = self._known(ref)
        try:
            read = read_file(path, self.max_bytes, now_ns)
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
            self._rename(moved, old, ref, read)
            applied.removed.append(old)
            applied.added.append(ref)
            return
        if known:
            self._delete(known[0], ref)
        self._insert(ref, read, digest, self._row(ref, read))
        (applied.changed if known else applied.added).append(ref)

    def _moved_from(self, old: str, ref: str, digest: str) -> int:
        """Return the id of the note at *old*, on the other side of the archive, if it has moved to *ref*; else 0.

        Two thousand notes move there in the first weekly run of a year: what finds them stays the same.
        """
        if project_of(old) != project_of(ref) or os.path.lexists(self.vault.root / old):
            return 0
        known = self._known(old)
        return known[0] if known and known[1] == digest else 0

    def remove(self, ref: str, applied: Applied) -> None:
        """Forget the note *ref*."""
        if known := self._known(ref):
            self._delete(known[0], ref)
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
        self._words: set[str] = set()
        self._runs: set[str] = set()  # of which words are made at the end: most stand in many notes
        self._stale: set[int] = set()

    @contextmanager
    def batch(self, refs: Sequence[str]) -> Iterator[None]:  # noqa: ARG002  (SQLite is asked for each)
        """Make all that is done in a `with` block one transaction."""
        with self.db:  # which ends the transaction either way
            self.db.execute("BEGIN IMMEDIATE")
            yield

    def _known(self, ref: str) -> tuple[int, str] | None:
        row: tuple[int, str] | None = self.db.execute("SELECT id, hash FROM note WHERE ref = ?", (ref,)).fetchone()
        return row

    def _touch(self, note_id: int, read: FileContent) -> None:
        values = (*read.stamp, read.read_at_ns, note_id)
        self.db.execute("UPDATE note SET size = ?, mtime_ns = ?, read_at_ns = ? WHERE id = ?", values)

    def _rename(self, note_id: int, old: str, ref: str, read: FileContent) -> None:  # noqa: ARG002
        values = (ref, *read.stamp, read.read_at_ns, note_id)
        self.db.execute("UPDATE note SET ref = ?, size = ?, mtime_ns = ?, read_at_ns = ? WHERE id = ?", values)
        self.db.execute("UPDATE chunk SET archived = ? WHERE note_id = ?", (is_archived(ref), note_id))

    def finish(self, *, settled: bytes | None) -> None:
        """Write what is cheap only all at once and in order: new words, and the end of chunks that are gone.

        FTS5 gathers changes in memory while row numbers rise, and writes a segment whenever one falls.
        *settled* is the scan that leaves nothing to do, if there is one: `Index.is_settled_by` recognises it.
        """
        self.db.execute("DELETE FROM settled")
        if settled is not None:
            self.db.execute("INSERT INTO settled VALUES (?, ?)", (self.max_bytes, settled))
        if self._runs:
            from memtool.text.tokens import words_in  # a search that finds nothing changed does without

            self._words |= words_in(self._runs)
        new = list(self._new_words())
        lists = ("\n".join(new[at : at + limits.WORDS_OF_A_LIST]) for at in range(0, len(new), limits.WORDS_OF_A_LIST))
        self.db.executemany("INSERT INTO word_list VALUES (?)", ((words,) for words in lists))
        for number in sorted(self._stale):
            self._forget_terms(number)
        self._words.clear()
        self._runs.clear()
        self._stale.clear()

    def _new_words(self) -> Iterator[str]:
        """Keep the words that are new, and give them in their order."""
        words = sorted(self._words)
        for at in range(0, len(words), 500):  # a statement has at most 999 values in old SQLites
            some = words[at : at + 500]
            values = ", ".join(["(?)"] * len(some))
            yield from sorted(
                word for (word,) in self.db.execute(f"INSERT OR IGNORE INTO word VALUES {values} RETURNING word", some)
            )

    def _insert(self, ref: str, read: FileContent, digest: str, row: NoteRow) -> None:
        note_id = self.db.execute(
            "INSERT INTO note (ref, size, mtime_ns, read_at_ns, hash, title, problem, names)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (ref, *read.stamp, read.read_at_ns, digest, row.title, row.problem, row.names),
        ).lastrowid
        if not row.chunks:
            return
        last = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'").fetchone() or (0,)
        numbered = list(enumerate(row.chunks, last[0] + 1))
        self.db.executemany(
            f"INSERT INTO chunk ({_CHUNK_COLUMNS}) VALUES ({', '.join('?' * 16)})",
            [(number, note_id, *chunk[:14]) for number, chunk in numbered],
        )
        terms = [(number, chunk.terms(self._runs), chunk.text) for number, chunk in numbered]
        self.db.executemany(
            "INSERT INTO chunk_terms (rowid, terms) VALUES (?, ?)", [(number, all_of) for number, all_of, _ in terms]
        )
        self.db.executemany(
            "INSERT INTO term_list VALUES (?, ?)",
            [(number, schema.pack_terms(all_of, text)) for number, all_of, text in terms],
        )
        self._words.update(*(chunk.words() for chunk in row.chunks if chunk.name))

    def _delete(self, note_id: int, ref: str) -> None:  # noqa: ARG002
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
