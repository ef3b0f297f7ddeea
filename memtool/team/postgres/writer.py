"""Rows into PostgreSQL: gathered while files are read, and written all at once at the end of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memtool.index.writer import FileContent, Writer
from memtool.team import limits
from memtool.team.postgres.postings import NewPostings, listed_terms, packed
from memtool.team.postgres.tables import VAULT_BITS, PostgresTables, VaultRow, storable
from memtool.vault.files import content_hash
from memtool.vault.layout import is_archived

if TYPE_CHECKING:
    from memtool.index.engine import Place
    from memtool.index.rows import NoteRow

_NOTE = "vault, id, ref, size, mtime_ns, read_at_ns, hash, title, problem, names"
_NOTE_TYPES = "int8 int8 text int8 int8 int8 text text text text"
_CHUNK = (
    "vault, id, note_id, start_line, end_line, heading, text, kind, project, category, status, date, tags, expires,"
    " archived, fact_id, author"
)
_CHUNK_TYPES = "int8 int8 int8 int4 int4 text text text text text text text text text bool text text"
_POSTING = "vault, segment, term, chunks, counts, lengths, positions"
_POSTING_TYPES = "int8 int8 text bytea bytea bytea bytea"


class PostgresWriter(Writer):
    """Writes notes into the tables of one vault."""

    def __init__(self, tables: PostgresTables, place: Place) -> None:
        super().__init__(place.max_bytes, place.vault, place.outside)
        self._tables = tables
        self._db = tables.db
        self._vault = tables.vault
        self._base = tables.vault << VAULT_BITS

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._tables.writing():
            self._row_of_vault = self._tables.row(locked=True)
            self._last_note, self._last_chunk = self._row_of_vault.last_note, self._row_of_vault.last_chunk
            self._touched: list[Sequence[Any]] = []
            self._gone: list[int] = []
            self._new_notes: list[Sequence[Any]] = []
            self._new_chunks: list[Sequence[Any]] = []
            self._term_lists: list[Sequence[Any]] = []
            self._postings = NewPostings()
            yield

    def _find_notes(self, refs: Sequence[str]) -> dict[str, tuple[int, str]]:
        find = "SELECT ref, id, hash FROM memtool.note WHERE vault = %s AND ref = ANY(%s)"
        return {ref: (note_id, digest) for ref, note_id, digest in self._db.execute(find, (self._vault, list(refs)))}

    def _touch(self, note_id: int, read: FileContent) -> None:
        self._touched.append((*read.stamp, read.read_at_ns, self._vault, note_id))

    def _rename(self, note_id: int, ref: str, read: FileContent) -> None:
        self._touch(note_id, read)
        where = (self._vault, note_id)
        self._db.execute("UPDATE memtool.note SET ref = %s WHERE vault = %s AND id = %s", (ref, *where))
        archived = (is_archived(ref), *where)
        self._db.execute("UPDATE memtool.chunk SET archived = %s WHERE vault = %s AND note_id = %s", archived)

    def _delete(self, note_id: int) -> None:
        self._gone.append(note_id)

    def _insert(self, ref: str, read: FileContent, digest: str, row: NoteRow) -> int:
        self._last_note += 1
        note_id = self._base + self._last_note
        about = (ref, *read.stamp, read.read_at_ns, digest, row.title, row.problem, row.names)
        self._new_notes.append((self._vault, note_id, *map(storable, about)))
        for number, chunk in enumerate(row.chunks, self._last_chunk + 1):
            terms = chunk.terms(self._terms)
            self._new_chunks.append((self._vault, self._base + number, note_id, *map(storable, chunk[:14])))
            self._term_lists.append((self._vault, self._base + number, storable(terms)))
            self._postings.add(number, terms)
        self._last_chunk += len(row.chunks)
        return note_id

    def finish(self, *, settled: bytes | None) -> None:
        """Write all that was gathered. *settled* is the scan that leaves nothing to do, if there is one."""
        known = self._row_of_vault
        gone, gone_terms, frequencies = self._delete_gone()
        update = "UPDATE memtool.note SET size = %s, mtime_ns = %s, read_at_ns = %s WHERE vault = %s AND id = %s"
        with self._db.cursor() as cursor:
            cursor.executemany(update, self._touched)
        self._put("note", _NOTE, _NOTE_TYPES, self._new_notes)
        self._put("chunk", _CHUNK, _CHUNK_TYPES, self._new_chunks)
        self._put("term_list", "vault, chunk_id, terms", "int8 int8 text", self._term_lists)
        frequencies.update(self._postings.frequencies())
        self._count(frequencies)
        self._keep_words(sorted(map(storable, self._terms.words)))
        self._terms.words.clear()
        self._db.execute(
            "UPDATE memtool.vault SET last_note = %s, last_chunk = %s, chunks = chunks + %s, terms = terms + %s,"
            " dead = %s, settled = %s WHERE id = %s",
            (
                self._last_note, self._last_chunk, len(self._new_chunks) - len(gone), self._postings.terms - gone_terms,
                known.dead + packed(gone), settled_hash(self.max_bytes, settled), self._vault,
            ),
        )  # fmt: skip
        self._keep_postings(known, len(gone))

    def _delete_gone(self) -> tuple[list[int], int, Counter[str]]:
        """Delete notes that are gone; return the numbers of their chunks, their terms, and what each term loses."""
        lost: Counter[str] = Counter()
        if not self._gone:
            return [], 0, lost
        of_gone = "vault = %s AND note_id = ANY(%s)"
        find = (
            "SELECT l.chunk_id, l.terms FROM memtool.term_list AS l WHERE l.vault = %s"
            f" AND l.chunk_id IN (SELECT id FROM memtool.chunk WHERE {of_gone}) ORDER BY 1"
        )
        asked = (self._vault, self._gone)
        rows = self._db.execute(find, (self._vault, *asked)).fetchall()
        terms = 0
        for _, joined in rows:
            listed = listed_terms(joined)
            terms += len(listed)
            lost.subtract(set(listed))
        chunks = [row[0] for row in rows]
        for table in ("term_list", "piece"):
            delete = f"DELETE FROM memtool.{table} WHERE vault = %s AND chunk_id = ANY(%s)"
            self._db.execute(delete, (self._vault, chunks))
        self._db.execute(f"DELETE FROM memtool.chunk WHERE {of_gone}", asked)
        self._db.execute("DELETE FROM memtool.note WHERE vault = %s AND id = ANY(%s)", asked)
        return [chunk - self._base for chunk in chunks], terms, lost

    def _put(self, table: str, columns: str, types: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert *rows*, some thousands with each statement. COPY is refused where rows have a policy."""
        arrays = ", ".join(f"%b::{kind}[]" for kind in types.split())
        insert = f"INSERT INTO memtool.{table} ({columns}) SELECT * FROM unnest({arrays})"
        for start in range(0, len(rows), limits.ROWS_AT_ONCE):
            self._db.execute(
                insert, [list(column) for column in zip(*rows[start : start + limits.ROWS_AT_ONCE], strict=True)]
            )

    def _keep_words(self, words: Sequence[str]) -> None:
        insert = "INSERT INTO memtool.word SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING RETURNING word"
        new = sorted(row[0] for row in self._db.execute(insert, (self._vault, words)))
        lists = [new[at : at + limits.WORDS_OF_A_LIST] for at in range(0, len(new), limits.WORDS_OF_A_LIST)]
        rows = [(self._vault, some[0], "\n".join(some)) for some in lists]
        self._put("word_list", "vault, first, words", "int8 text text", rows)

    def _count(self, frequencies: Counter[str]) -> None:
        """Keep in how many chunks each term occurs, more or less by *frequencies*."""
        changed = sorted((term, count) for term, count in frequencies.items() if count)
        if changed:
            terms, counts = zip(*changed, strict=True)
            self._db.execute(
                "INSERT INTO memtool.term AS known SELECT %s, term, count FROM unnest(%s::text[], %s::int[])"
                " AS new (term, count) ON CONFLICT (vault, term) DO UPDATE SET chunks = known.chunks + excluded.chunks",
                (self._vault, list(terms), list(counts)),
            )

    def _keep_postings(self, known: VaultRow, gone: int) -> None:
        """Write the new postings as a segment; merge segments where there are many, and drop what is gone."""
        if self._new_chunks:
            self._put_segment(self._last_chunk, 0, self._postings.columns())
            self._merge(0)
        in_postings = known.chunks + len(self._new_chunks) + len(known.dead) // 4
        if (len(known.dead) // 4 + gone) > max(limits.LEAST_DEAD, 0.25 * in_postings):
            self._write_anew()

    def _put_segment(self, segment: int, level: int, columns: Sequence[Sequence[Any]]) -> None:
        insert = "INSERT INTO memtool.segment VALUES (%s, %s, %s)"
        self._db.execute(insert, (self._vault, segment, level))
        rows = [(self._vault, segment, *row) for row in zip(*columns, strict=True)]
        self._put("posting", _POSTING, _POSTING_TYPES, rows)

    def _merge(self, level: int) -> None:
        """Make one segment of those of a *level* if they are many. Chunks stay in order: lower levels are younger."""
        find = "SELECT id FROM memtool.segment WHERE vault = %s AND level = %s ORDER BY id"
        segments = [row[0] for row in self._db.execute(find, (self._vault, level))]
        if len(segments) < limits.SEGMENTS_MERGED:
            return
        joined = ", ".join(
            f"string_agg({name}, ''::bytea ORDER BY segment)" for name in ("chunks", "counts", "lengths", "positions")
        )
        self._db.execute(
            "WITH old AS (DELETE FROM memtool.posting WHERE vault = %s AND segment = ANY(%s) RETURNING *)"
            f" INSERT INTO memtool.posting ({_POSTING}) SELECT vault, %s, term, {joined} FROM old GROUP BY vault, term",
            (self._vault, segments, segments[-1]),
        )
        self._db.execute("DELETE FROM memtool.segment WHERE vault = %s AND id = ANY(%s)", (self._vault, segments))
        insert = "INSERT INTO memtool.segment VALUES (%s, %s, %s)"
        self._db.execute(insert, (self._vault, segments[-1], level + 1))
        self._merge(level + 1)

    def _write_anew(self) -> None:
        """Make one segment of the terms of all chunks that there are."""
        postings = NewPostings()
        find = "SELECT chunk_id, terms FROM memtool.term_list WHERE vault = %s ORDER BY chunk_id"
        for chunk_id, terms in self._db.execute(find, (self._vault,)):
            postings.add(chunk_id - self._base, terms)
        for table in ("posting", "segment"):
            self._db.execute(f"DELETE FROM memtool.{table} WHERE vault = %s", (self._vault,))
        self._put_segment(self._last_chunk, 9, postings.columns())
        self._db.execute("UPDATE memtool.vault SET dead = '' WHERE id = %s", (self._vault,))


def settled_hash(max_bytes: int, scan: bytes | None) -> str:
    """Return what is kept of a *scan* that left nothing to do; nothing of None."""
    return f"{max_bytes} {content_hash(scan)}" if scan is not None else ""


def forget_rows(tables: PostgresTables) -> None:
    """Delete all rows of a vault but its vectors, in the transaction at hand."""
    for table in ("note", "chunk", "term_list", "term", "posting", "segment", "word", "word_list", "piece"):
        tables.db.execute(f"DELETE FROM memtool.{table} WHERE vault = %s", (tables.vault,))
    tables.db.execute(
        "UPDATE memtool.vault SET chunks = 0, terms = 0, dead = '', settled = '', fingerprint = '' WHERE id = %s",
        (tables.vault,),
    )
    tables.db.execute("UPDATE memtool.vault_model SET embedded_up_to = 0 WHERE vault = %s", (tables.vault,))
