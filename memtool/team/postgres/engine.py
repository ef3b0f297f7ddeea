"""The index of a vault in PostgreSQL, opened: brought up to date with the vault, as `memtool.index.engine` does it.

compare the vault with the stamps in the database       readers see the last commit meanwhile
if something is suspect: take the vault's lock there    an advisory lock, which ends with its connection
one transaction: read and hash the suspects, write what changed, remove what is gone
a first index is built in batches, and goes on where it was interrupted; a rebuild is one transaction
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from memtool.errors import Busy, DatabaseUnavailable, SchemaMismatch
from memtool.index import limits as index_limits, schema as sqlite_schema
from memtool.index.engine import Index, Place, Unbuilt, apply
from memtool.team.postgres import connection
from memtool.team.postgres.tables import NAMED_NOTE, PostgresTables, SharedTables
from memtool.team.postgres.vectors import PostgresVectors, open_vectors
from memtool.team.postgres.writer import PostgresWriter, forget_rows, settled_hash
from memtool.vault.scan import Changes, Scan, changes

if TYPE_CHECKING:
    import psycopg
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.tables import VectorShelf

T = TypeVar("T")
_TEXT_LOCK, _VECTOR_LOCK = 1_835_363_436, 1_835_363_437  # the first halves of advisory locks; the second is the vault
_TEXT_TABLES = ("note", "chunk", "term_list", "term", "posting", "word")


class PostgresIndex(Index):
    """The index of a vault in *database*."""

    def __init__(self, place: Place, db: PostgresTables, database: connection.Database) -> None:
        super().__init__(place)
        self.db: PostgresTables = db
        self._database = database

    def is_settled_by(self, found: Scan) -> bool:
        """Return whether the index is known to hold all that *found* shows, with no file to be read again."""
        return self.db.row().settled == settled_hash(self.place.max_bytes, found.as_bytes())

    @property
    def address(self) -> str:
        """Where the index lies, as a person should see it."""
        info = self.db.db.info
        return f"the database '{info.dbname}' on {info.host or 'this machine'}, as '{self._database.vault}'"

    def size(self) -> int:
        """Return about how many bytes the texts and postings of this vault take."""
        sizes = (
            "SELECT coalesce((SELECT sum(pg_column_size(c.*)) FROM memtool.chunk AS c WHERE vault = %(vault)s), 0)"
            " + coalesce((SELECT sum(pg_column_size(p.*)) FROM memtool.posting AS p WHERE vault = %(vault)s), 0)"
        )
        row = self.db.db.execute(sizes, {"vault": self.db.vault}).fetchone()
        return int(row[0]) if row else 0

    def lock_of_vectors(self, *, waits: bool = True) -> contextlib.AbstractContextManager[None]:
        """Hold the lock under which vectors are made; `Busy` is raised where another process has it."""
        return _lock(self.db, _VECTOR_LOCK, self.place.patience if waits else 0.0)

    def open_vectors(self, model: str, dimension: int) -> VectorShelf:
        """Return the vectors of *model*."""
        return open_vectors(self.db, model, dimension)

    def forget_vectors(self, model: str, store: VectorShelf) -> None:  # noqa: ARG002  (the store knows its model)
        """Drop the vectors of texts that are gone, and those of other models."""
        if isinstance(store, PostgresVectors):
            store.forget_unused()


def use_database(place: Place, database: connection.Database, use: Callable[[Index], T], *, rebuild: bool = False) -> T:
    """Return what *use* makes of the index in *database*, fresh from the vault.

    Raises:
        DatabaseUnavailable: it cannot be reached, or the connection was lost.
        SchemaMismatch: another version of memtool made its tables.
        Busy: another process is building the first index; or it is `Unbuilt`.
    """
    if place.migrates:
        connection.migrate(database.address)
    with connection.refusals(), database.connection() as db:
        connection.check_schema(db)
        index = PostgresIndex(place, PostgresTables(db, vault_number(db, database.vault)), database)
        if rebuild and index.db.row().fingerprint:
            _rebuild(index)
        else:
            _refresh(index)
        if (allowed := connection.reach.get()) and allowed.projects:
            index.db = SharedTables(db, [index.db.vault], allowed.projects)
        return use(index)


def use_vaults(place: Place, address: str, names: Sequence[str], use: Callable[[Index], T]) -> tuple[T, list[str]]:
    """Return what *use* makes of the indexes of the vaults called *names*, as they are; and which of these have none.

    A path begins with the name of its vault and `//`. *place* is that of any of the vaults.

    Raises:
        OnlyReading: the request may not see one of them.
        DatabaseUnavailable, SchemaMismatch: the server refuses.
    """
    allowed = connection.reach.get()
    database = connection.Database(address, ", ".join(names))
    for name in names:
        connection.Database(address, name).check()
    with connection.connection_to(address) as db:
        connection.check_schema(db)
        with db.transaction():
            connection.enter(db, connection.READER, [])
            db.execute("SELECT set_config('memtool.names', %s::text[]::text, true)", (list(names),))
            find = "SELECT id, name FROM memtool.vault WHERE name = ANY(%s) AND fingerprint = %s"
            built = dict(db.execute(find, (list(names), sqlite_schema.fingerprint(place.vault.daily))).fetchall())
        tables = SharedTables(db, built, allowed.projects if allowed else ())
        tables.columns_of_note = NAMED_NOTE
        return use(PostgresIndex(place, tables, database)), [name for name in names if name not in built.values()]


@contextlib.contextmanager
def current_tables(database: connection.Database, daily: str) -> Iterator[PostgresTables]:
    """Give the tables in *database* as they are, for the length of a `with` block; daily notes lie in *daily*.

    Raises:
        Busy: there is no index that can be used now; the sentence says why.
    """
    try:
        with connection.refusals(), database.connection() as db:
            connection.check_schema(db)
            tables = PostgresTables(db, vault_number(db, database.vault))
            if tables.row().fingerprint != sqlite_schema.fingerprint(daily):
                raise Busy("there is no index yet")
            yield tables
    except (DatabaseUnavailable, SchemaMismatch) as error:
        raise Busy(str(error)) from None


def vault_number(db: psycopg.Connection[Any], name: str) -> int:
    """Return the number of the vault called *name*, which gets one if it has none."""
    with db.transaction():
        connection.enter(db, connection.WRITER, [], name=name)
        insert = "INSERT INTO memtool.vault (name) VALUES (%s) ON CONFLICT (name) DO NOTHING"
        find = "SELECT id FROM memtool.vault WHERE name = %s"
        while (row := db.execute(find, (name,)).fetchone()) is None:
            db.execute(insert, (name,))
        return int(row[0])


def _refresh(index: PostgresIndex) -> None:
    """Bring *index* up to date with its vault."""
    place, fingerprint = index.place, sqlite_schema.fingerprint(index.place.vault.daily)
    row = index.db.row()
    known = row.fingerprint
    if known and known != fingerprint:
        _rebuild(index, "its text was cut in another way")
        return
    if known and place.is_followed:
        return
    found = place.scan()
    index.problems = found.problems
    if known and index.is_settled_by(found):
        return
    pending = changes(index.stamps(), found)
    if known and not pending:
        return
    if place.takes_too_long(len(pending.suspects)):
        if not known:
            raise Unbuilt(len(pending.suspects))
        index.waiting = len(pending.suspects)
        return
    try:
        with _lock(index.db, _TEXT_LOCK, place.patience if known else max(place.patience, index_limits.FIRST_PATIENCE)):
            if index.db.row() != row:  # what others have indexed meanwhile must not look deleted
                found = place.scan()
            _fill(index, found, fingerprint)
    except Busy:
        if not known:
            raise
        index.behind = True


def _fill(index: PostgresIndex, found: Scan, fingerprint: str) -> None:
    """Write what the index lacks: of a first one in batches, each of which stays whatever happens then."""
    stamps = index.stamps()
    pending = changes(stamps, found)
    if index.db.row().fingerprint:
        _write(index, found, pending, batch=0)
        if index.db.has_outgrown_plans():
            index.db.analyze(*_TEXT_TABLES)
        return
    try:
        _write(index, found, pending, batch=index_limits.AT_ONCE)
    except KeyboardInterrupt as interrupt:
        done = f"{len(index.stamps()):,} of {len(found.stamps):,} files are indexed"
        interrupt.add_note(f"{done}; the next run goes on there")
        raise
    index.resumed = len(stamps)
    with index.db.writing():
        _finish(index, fingerprint)
    index.db.analyze(*_TEXT_TABLES)


def _rebuild(index: PostgresIndex, because: str = "you asked for it") -> None:
    """Build the index anew in one transaction: until it ends, everybody else reads the old one."""
    with _lock(index.db, _TEXT_LOCK, max(index.place.patience, index_limits.FIRST_PATIENCE)), index.db.writing():
        index.db.db.execute("SET LOCAL statement_timeout = 0")
        forget_rows(index.db)
        found = index.place.scan()
        _write(index, found, changes({}, found), batch=index_limits.AT_ONCE)
        _finish(index, sqlite_schema.fingerprint(index.place.vault.daily))
    index.rebuilt = because
    index.db.analyze(*_TEXT_TABLES)


def _write(index: PostgresIndex, found: Scan, pending: Changes, *, batch: int) -> None:
    writer = PostgresWriter(index.db, index.place)
    index.applied = apply(index.place, writer, found, pending, batch=batch)
    index.problems = found.problems + index.applied.unreadable


def _finish(index: PostgresIndex, fingerprint: str) -> None:
    update = "UPDATE memtool.vault SET fingerprint = %s WHERE id = %s"
    index.db.db.execute(update, (fingerprint, index.db.vault))


@contextlib.contextmanager
def _lock(tables: PostgresTables, kind: int, patience: float) -> Iterator[None]:
    """Hold a lock of the vault; it ends with the connection.

    Raises:
        Busy: another process held it for longer than *patience*.
    """
    key = (kind, tables.vault & 0x7FFFFFFF)
    deadline = time.monotonic() + patience
    while not (tables.db.execute("SELECT pg_try_advisory_lock(%s::int, %s::int)", key).fetchone() or (False,))[0]:
        if time.monotonic() >= deadline:
            raise Busy("another process is indexing the vault in the database")
        time.sleep(0.02)
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # a connection that is gone has let go of it
            tables.db.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", key)


class FollowedDatabase:
    """The index that *current* gives. What was read of the vectors is kept, and only what came since is read."""

    def __init__(self, current: Callable[[], AbstractContextManager[PostgresTables]], embedder: Embedder) -> None:
        self._current = current
        self._embedder = embedder
        self._held = _Held(embedder.dimension)
        self._open = contextlib.ExitStack()
        self._tables: PostgresTables | None = None

    def state(self) -> object:
        """See `memtool.index.tables.Followed`."""
        with self._connected() as tables:
            return tables.row(), tables.embedded_up_to(self._embedder.name)

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[PostgresTables, _Held]]:
        """See `memtool.index.tables.Followed`."""
        with self._connected() as tables:
            self._held.shelf = open_vectors(tables, self._embedder.name, self._embedder.dimension)
            yield tables, self._held

    def close(self) -> None:
        """Close the connection; the next question opens another one."""
        self._tables = None
        with contextlib.suppress(Exception):  # a connection that is gone
            self._open.close()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[PostgresTables]:
        """Give the tables, over the connection at hand. A lost one is an error once, and then another is opened."""
        try:
            if self._tables is None:
                self._tables = self._open.enter_context(self._current())
            with connection.refusals():
                yield self._tables
        except (Busy, DatabaseUnavailable) as error:
            self.close()
            raise Busy(str(error)) from None


class _Held:
    """The vectors that were asked for last, in full precision."""

    def __init__(self, dimension: int) -> None:
        self.shelf: PostgresVectors | None = None  # from which more are read
        self._hashes = np.empty(0, np.int64)  # in order
        self._matrix = np.empty((0, dimension), np.float32)

    def rows(self, hashes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each of *hashes*, -1 where it has no vector; only these are held from now on."""
        asked = np.asarray(hashes, np.int64)
        unknown = np.setdiff1d(asked, self._hashes)
        if self.shelf and len(unknown):
            kept = np.isin(self._hashes, asked)
            new, vectors = self.shelf.read(unknown.tolist())
            found = np.concatenate([self._hashes[kept], np.array(new, np.int64)])
            order = np.argsort(found)
            self._hashes, self._matrix = found[order], np.concatenate([self._matrix[kept], vectors])[order]
        if not len(self._hashes):
            return np.full(len(asked), -1, np.int64)
        places = np.minimum(np.searchsorted(self._hashes, asked), len(self._hashes) - 1)
        return np.where(self._hashes[places] == asked, places, -1)

    def matrix(self) -> NDArray[np.float32]:
        """Return all vectors: (rows, dimension)."""
        return self._matrix
