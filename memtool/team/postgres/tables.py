"""The tables of one vault or of several in PostgreSQL, read: see `memtool.index.tables`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from memtool.index import limits as index_limits
from memtool.team.postgres.connection import GUEST, READER, WRITER, enter
from memtool.team.postgres.postings import Postings, term_cache

if TYPE_CHECKING:
    import psycopg
    from numpy.typing import NDArray

    from memtool.index.filters import Filter

VAULT_BITS = 32  # of the number of a note or chunk; the vault's own number is above them
# The vault's part of each table, under the names that statements for both engines use. The planner sees through them.
_PARTS = {
    "note": "SELECT {note} FROM memtool.note WHERE vault {which}",
    "chunk": "SELECT * FROM memtool.chunk WHERE vault {which}",
    "term_list": "SELECT * FROM memtool.term_list WHERE vault {which}",
    "word": "SELECT * FROM memtool.word WHERE vault {which}",
    "piece_list": "SELECT chunk_id FROM memtool.piece WHERE vault {which} AND place = 0",
}
_NAMES = re.compile(rf"\b({'|'.join(_PARTS)})\b")
T = TypeVar("T")
BESIDE = "//"  # between the name of a vault and a path in it
NAMED_NOTE = (
    f"id, vault, (SELECT v.name FROM memtool.vault AS v WHERE v.id = note.vault) || '{BESIDE}' || ref AS ref,"
    " size, mtime_ns, read_at_ns, hash, title, problem, names"
)


class VaultRow(NamedTuple):
    """The row of a vault: what its index was built with, and the sums that BM25 needs."""

    id: int
    fingerprint: str
    settled: str
    last_note: int
    last_chunk: int
    chunks: int
    terms: int
    dead: bytes
    xmin: int = 0  # the transaction that wrote the row


BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_FIND_ROW = f"SELECT {', '.join(VaultRow._fields[:-1])}, xmin::text::bigint FROM memtool.vault WHERE id ="


class PostgresTables:
    """The tables of the vault number *vault*, over a connection that sees this vault only."""

    columns_of_note = "*"

    def __init__(self, db: psycopg.Connection[Any], vault: int) -> None:
        self.db = db
        self.vault = vault
        self.which = f"= {vault}"  # of a statement about the vault
        self._postings: Postings | None = None  # of the state that is read
        self.enter()

    def enter(self) -> None:
        """Let the connection see what these tables are of, and nothing else."""
        enter(self.db, READER, [self.vault], local=False)

    def row(self, *, locked: bool = False) -> VaultRow:
        """Return the row of the vault; *locked* until the transaction ends."""
        find = f"{_FIND_ROW} %s{' FOR UPDATE' if locked else ''}"
        found = self.db.execute(find, (self.vault,), binary=True).fetchone()
        return VaultRow._make(found) if found else VaultRow(self.vault, "", "", 0, 0, 0, 0, b"")

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        """Return what a SELECT over the shared tables gives."""
        return self.db.execute(
            _translated(sql, self.which, self.columns_of_note), [storable(value) for value in values]
        )

    @contextlib.contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all that is read in a `with` block come from one state of the index."""
        self._postings = self._begin()
        try:
            yield
        finally:
            self._postings = None
            with contextlib.suppress(Exception):  # a connection that is gone has no transaction
                self.db.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Make a `with` block one transaction that may write rows of this vault."""
        with self.db.transaction():
            enter(self.db, WRITER, [self.vault])
            yield

    def analyze(self, *names: str) -> None:
        """Let the planner see what the tables *names* hold: else it may read all for the sake of some.

        The server looks by itself at the parts of a table only, and plans joins by what it knows of the whole.
        """
        with self.db.transaction():
            self.db.execute("SET LOCAL role = none")
            self.db.execute("SET LOCAL statement_timeout = 0")
            for name in names:
                self.db.execute(f"ANALYZE memtool.{name}")

    def has_outgrown_plans(self) -> bool:
        """Return whether the vault holds many more chunks than all vaults did when the planner looked at them."""
        find = "SELECT pg_class.reltuples FROM pg_class WHERE oid = 'memtool.chunk'::regclass"
        known = (self.db.execute(find).fetchone() or (0.0,))[0]
        return self.row().chunks > max(500, 2 * known)

    def chunk_count(self) -> int:
        """Return how many chunks there are."""
        return self._state().chunk_count

    def occurring(self, terms: Collection[str]) -> Collection[str]:
        """Return those of *terms* that any chunk holds."""
        if len(terms) <= index_limits.MOST_TERMS:  # a query looks for so few next
            self._occurrences(terms)
        return {term for term, frequency in self.frequencies(terms).items() if frequency}

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many chunks each of *terms* occurs."""
        state = self._state()
        known = {term: state.frequency(term) for term in terms}
        if unknown := [term for term, frequency in known.items() if frequency is None]:
            find = (
                f"SELECT term, sum(chunks)::int8 FROM memtool.term WHERE vault {self.which} AND term = ANY(%s)"
                " GROUP BY term"
            )
            known |= dict.fromkeys(unknown, 0) | dict(self.db.execute(find, (unknown,)).fetchall())
        return {term: frequency or 0 for term, frequency in known.items()}

    def phrase_frequency(self, phrase: str) -> int:
        """Return in how many chunks the terms of *phrase* stand side by side."""
        terms = phrase.split(" ")
        known = self.frequencies(terms)
        if len(terms) == 1 or not all(known.values()):
            return min(known.values())
        return len(self._occurrences([phrase]).of(phrase).chunks)

    def best(
        self, terms: Sequence[str], depth: int, condition: str = "", values: Sequence[Any] = ()
    ) -> list[tuple[int, float]]:
        """Return the *depth* best chunks for *terms* or phrases, with their BM25, best first."""
        numbers, scores = self._occurrences(terms).bm25(terms, depth if not condition else None)
        if condition:
            kept = self._first_meeting(numbers, condition, values, depth)
            numbers, scores = numbers[kept], scores[kept]
        return list(zip(self._ids(numbers).tolist(), scores.tolist(), strict=True))

    def holding(self, any_of: Sequence[Sequence[str]], most: int) -> list[int]:
        """Return *most* chunks, in no order, that hold all terms of any of the lists."""
        found = self._occurrences([term for terms in any_of for term in terms])
        numbers = found.holding(any_of)[:most]
        return list(self._ids(numbers).tolist())

    def known_words(self, words: Collection[str]) -> list[str]:
        """Return those of *words* that any note holds, in order."""
        find = f"SELECT DISTINCT word FROM memtool.word WHERE vault {self.which} AND word = ANY(%s) ORDER BY word"
        return [row[0] for row in self.db.execute(find, (list(words),))] if words else []

    def words_with(self, part: str) -> list[str]:
        """Return the words that hold *part*."""
        state = self._state().state
        lists = term_cache.get((state, "words")) if state is not None else None
        if lists is None:  # all of them: Python looks through them in a thirtieth of the time that PostgreSQL takes
            find = f"SELECT words FROM memtool.word_list WHERE vault {self.which}"
            lists = [row[0] for row in self.db.execute(find)]
            if state is not None:
                term_cache.put((state, "words"), lists, sum(map(len, lists)))
        found = (word for words in lists if part in words for word in words.split("\n") if part in word)
        return list(dict.fromkeys(found))

    def embedded_up_to(self, model: str) -> int:
        """Return the last chunk that *model* has embedded, or 0."""
        find = (
            "SELECT v.embedded_up_to FROM memtool.vault_model AS v JOIN memtool.model AS m ON m.id = v.model"
            " WHERE v.vault = %s AND m.name = %s"
        )
        row = self.db.execute(find, (self.vault, model)).fetchone()
        return int(row[0]) if row else 0

    def remember_pieces(self, model: str, pieces: Mapping[int, Sequence[int]], up_to: int) -> None:
        """Write down the hashes of what has a vector in each chunk, and that *model* has come up to *up_to*."""
        rows = [
            (chunk_id, place, content_hash)
            for chunk_id, hashes in pieces.items()
            for place, content_hash in enumerate(hashes)
        ]
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
        with self.writing():
            # Another process may have replaced a chunk in the meantime: its pieces come with its new number.
            self.db.execute(
                "INSERT INTO memtool.piece SELECT %s, p.* FROM unnest(%s::int8[], %s::int2[], %s::int8[])"
                " AS p (chunk, place, hash) WHERE EXISTS"
                " (SELECT 1 FROM memtool.chunk WHERE vault = %s AND id = p.chunk) ON CONFLICT DO NOTHING",
                (self.vault, *columns, self.vault),
            )
            self.db.execute(
                "INSERT INTO memtool.vault_model (vault, model, embedded_up_to) SELECT %s, id, %s FROM memtool.model"
                " WHERE name = %s ON CONFLICT (vault, model) DO UPDATE SET embedded_up_to = excluded.embedded_up_to",
                (self.vault, up_to, model),
            )

    def pieces(self, wanted: Filter) -> list[tuple[int, str, NDArray[np.int64]]]:
        """Return the chunks that are *wanted* and have vectors: number, project, and the hashes of what has one."""
        find = f"SELECT chunk_id, hash FROM memtool.piece WHERE vault {self.which} ORDER BY chunk_id, place"
        hashes: dict[int, list[int]] = {}
        for chunk_id, content_hash in self.db.execute(find, binary=True):
            hashes.setdefault(chunk_id, []).append(content_hash)
        condition, values = wanted.where()
        rows = self.execute(f"SELECT c.id, c.project FROM chunk AS c WHERE {condition} ORDER BY c.id", values)
        return [
            (chunk_id, project, np.array(hashes[chunk_id], np.int64))
            for chunk_id, project in rows
            if chunk_id in hashes
        ]

    def _ids(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids of the chunks with these *numbers* in their postings."""
        return numbers + (self.vault << VAULT_BITS)

    def _begin(self) -> Postings | None:
        """Begin to read one state; return its postings, of which none is read yet, if that costs nothing."""
        cursor = self.db.execute(f"{BEGIN}; {_FIND_ROW} {self.vault}")  # both in one message; the number is ours
        cursor.nextset()
        return self._postings_of(cursor.fetchone())

    def _state(self) -> Postings:
        """Return what is known of the postings in the state that is read."""
        if self._postings is None or self.db.info.transaction_status == 0:  # idle: another state
            self._postings = self._no_postings()
        return self._postings

    def _no_postings(self) -> Postings:
        """Return postings of which none is read yet."""
        return self._postings_of(self.row())

    def _postings_of(self, found: Sequence[Any] | None) -> Postings:
        row = VaultRow._make(found) if found else VaultRow(self.vault, "", "", 0, 0, 0, 0, b"")
        info = self.db.info
        state = (info.host, info.port, info.dbname, self.vault, row.settled, row.chunks, row.last_chunk, row.xmin)
        return Postings(row.chunks, row.terms, row.last_chunk, row.dead, state)

    def _posting_rows(self, terms: Sequence[str], columns: str) -> Iterable[Sequence[Any]]:
        """Return the *columns* of the postings of *terms*, behind the term, in the order of the chunks."""
        find = f"SELECT term, {columns} FROM memtool.posting WHERE vault = %s AND term = ANY(%s) ORDER BY segment"
        return self.db.execute(find, (self.vault, terms), binary=True)

    def _occurrences(self, terms: Collection[str]) -> Postings:
        """Return where *terms* and the words of phrases occur; within one state each is read once."""
        state = self._state()
        if words := state.unknown(terms):
            state.take(words, self._posting_rows(words, "chunks, counts, lengths"))
        if words := state.unknown_in_phrases(terms):
            state.take_places(words, self._posting_rows(words, "chunks, counts, lengths, positions"))
        return state

    def _first_meeting(
        self, numbers: NDArray[np.int64], condition: str, values: Sequence[Any], depth: int
    ) -> NDArray[np.int64]:
        """Return the places of the first *depth* of *numbers* whose chunks meet the *condition*, in order."""
        kept: list[int] = []
        start, size = 0, max(500, 4 * depth)
        while start < len(numbers) and len(kept) < depth:
            part = self._ids(numbers[start : start + size]).tolist()
            rows = self.execute(f"SELECT c.id FROM chunk AS c WHERE c.id = ANY(?) AND {condition}", (part, *values))
            allowed = {row[0] for row in rows}
            kept += [start + at for at, chunk_id in enumerate(part) if chunk_id in allowed]
            start, size = start + size, 4 * size
        return np.array(kept[:depth], np.int64)


@lru_cache(maxsize=512)
def _translated(sql: str, which: str, note: str) -> str:
    """Return a statement for both engines in PostgreSQL's words.

    Args:
        sql: the statement.
        which: the vault that it is about, as `= 7`.
        note: the columns of the table `note`.
    """
    sql = sql.strip().replace("%", "%%").replace("?", "%s").replace("IN ()", "IN (NULL)")  # SQLite knows empty lists
    named = {name: _PARTS[name].format(which=which, note=note) for name in sorted(set(_NAMES.findall(sql)))}
    if not named:
        return sql
    parts = ", ".join(f"{name} AS NOT MATERIALIZED ({part})" for name, part in named.items())
    own = sql.removeprefix("WITH RECURSIVE")
    return f"WITH RECURSIVE {parts}{',' if own != sql else ''} {own}"


def storable(value: Any) -> Any:  # noqa: ANN401
    """Return a text without the character that PostgreSQL does not store."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


class SharedTables(PostgresTables):
    """The tables of *vaults*, by number, of which *projects* may be seen, or all where none is named.

    The chunks of all vaults are numbered one behind the other, so that their postings add up as if they were of one
    vault: a word is as telling as it is among all of them. Where only some projects may be seen, the database leaves
    the chunks of all others out of the postings, before anything is counted; so no score depends on them.
    """

    def __init__(self, db: psycopg.Connection[Any], vaults: Iterable[int], projects: Iterable[str] = ()) -> None:
        self._vaults = np.array(sorted(vaults), np.int64)
        # As the `lower` of a database with the collation C: letters of ASCII only.
        self._projects = [name.encode("utf-8", "replace").lower().decode() for name in projects]
        self._starts = np.zeros(len(self._vaults) + 1, np.int64)  # the first number of each vault's chunks
        super().__init__(db, int(self._vaults[0]) if len(self._vaults) == 1 else 0)
        if len(self._vaults) != 1:
            self.which = f"IN ({', '.join(map(str, self._vaults)) or 'NULL'})"

    def enter(self) -> None:
        """See `PostgresTables`."""
        role = GUEST if self._projects else READER
        enter(self.db, role, self._vaults.tolist(), projects=self._projects, local=False)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many chunks each of *terms* occurs."""
        if not self._projects:
            return super().frequencies(terms)
        asked = list(terms)
        found = self._occurrences(asked)  # counted there: what the database has counted is of all projects
        return {term: len(found.of(term).chunks) for term in asked}

    def embedded_up_to(self, model: str) -> int:  # noqa: ARG002
        """Return a number behind all chunks: who sees only a part makes no vectors."""
        return (1 << 63) - 1

    def _ids(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        at = np.searchsorted(self._starts, numbers, side="right") - 1
        ids: NDArray[np.int64] = (self._vaults[at] << VAULT_BITS) + numbers - self._starts[at]
        return ids

    def _begin(self) -> None:
        self.db.execute(BEGIN)

    def _no_postings(self) -> Postings:
        find = f"SELECT id, last_chunk, chunks, terms, dead FROM memtool.vault WHERE id {self.which}"
        rows = {row[0]: row[1:] for row in self.db.execute(find, binary=True)}
        about = [rows.get(vault, (0, 0, 0, b"")) for vault in self._vaults.tolist()]
        self._starts = np.cumsum([0, *(last + 1 for last, *_ in about)])
        chunks, terms = sum(row[1] for row in about), sum(row[2] for row in about)
        if not self._projects:
            dead = b"".join(_shifted(row[3], start) for row, start in zip(about, self._starts.tolist(), strict=False))
            return Postings(chunks, terms, int(self._starts[-1]), dead)
        seen = int(next(iter(self.execute("SELECT count(*) FROM chunk")))[0])
        mean = terms / (chunks or 1)  # of all projects: how long a chunk is on average
        return Postings(seen, round(mean * seen), int(self._starts[-1]), b"")

    def _posting_rows(self, terms: Sequence[str], columns: str) -> Iterator[Sequence[Any]]:
        own = f"posting WHERE vault {self.which} AND term = ANY(%s)"
        rows = "postings_of_projects(%s)" if self._projects else own
        find = f"SELECT vault, term, {columns} FROM memtool.{rows} ORDER BY vault, segment"
        for vault, term, chunks, *others in self.db.execute(find, (list(terms),), binary=True):
            start = int(self._starts[np.searchsorted(self._vaults, vault)])
            yield (term, _shifted(chunks, start), *others)


def _shifted(numbers: bytes, start: int) -> bytes:
    """Return packed *numbers* of a vault as they are counted behind *start* others."""
    return (np.frombuffer(numbers, "<i4") + np.int32(start)).astype("<i4").tobytes()
