"""The tables of several vaults at once, or of some projects only: a search there is the search of a vault.

The chunks of all vaults are numbered one behind the other, so that their postings add up as if they were of one vault:
a word is as telling as it is among all of them. Where only some projects may be seen, the database leaves the chunks of
all others out of the postings, before anything is counted; so no score tells of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from memtool.index import schema as sqlite_schema
from memtool.index.engine import Index, Place
from memtool.team.postgres import schema
from memtool.team.postgres.connection import GUEST, READER, Database, connection_to, enter, reach
from memtool.team.postgres.engine import PostgresIndex
from memtool.team.postgres.postings import Postings
from memtool.team.postgres.tables import BEGIN, VAULT_BITS, PostgresTables

if TYPE_CHECKING:
    import psycopg
    from numpy.typing import NDArray

T = TypeVar("T")
BESIDE = "//"  # between the name of a vault and a path in it
_NO_CHUNK = (1 << 63) - 1  # behind all that there are
_NAMED_NOTE = (
    f"id, vault, (SELECT v.name FROM memtool.vault AS v WHERE v.id = note.vault) || '{BESIDE}' || ref AS ref,"
    " size, mtime_ns, read_at_ns, hash, title, problem, names"
)


class SharedTables(PostgresTables):
    """The tables of *vaults*, by number, of which *projects* may be seen, or all where none is named."""

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
        """Return a number behind all chunks: whoever sees a part makes no vectors."""
        return _NO_CHUNK

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


def use_vaults(place: Place, address: str, names: Sequence[str], use: Callable[[Index], T]) -> tuple[T, list[str]]:
    """Return what *use* makes of the indexes of the vaults called *names*, as they are; and which of these have none.

    A path begins with the name of its vault and `//`. *place* is that of any of the vaults.

    Raises:
        OnlyReading: one of them is none that whoever asks may see.
        DatabaseUnavailable, SchemaMismatch: the server refuses.
    """
    allowed = reach.get()
    database = Database(address, ", ".join(names))
    for name in names:
        Database(address, name).check()
    with connection_to(address) as db:
        schema.check(db)
        with db.transaction():
            enter(db, READER, [])
            db.execute("SELECT set_config('memtool.names', %s::text[]::text, true)", (list(names),))
            find = "SELECT id, name FROM memtool.vault WHERE name = ANY(%s) AND fingerprint = %s"
            built = dict(db.execute(find, (list(names), sqlite_schema.fingerprint(place.vault.daily))).fetchall())
        tables = SharedTables(db, built, allowed.projects if allowed else ())
        tables.columns_of_note = _NAMED_NOTE
        return use(PostgresIndex(place, tables, database)), [name for name in names if name not in built.values()]


def _shifted(numbers: bytes, start: int) -> bytes:
    """Return packed *numbers* of a vault as they are counted behind *start* others."""
    return (np.frombuffer(numbers, "<i4") + np.int32(start)).astype("<i4").tobytes()
