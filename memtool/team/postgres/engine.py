"""The index of a vault in PostgreSQL, opened: brought up to date with the vault, as `memtool.index.engine` does it.

compare the vault with the stamps in the database       readers see the last commit meanwhile
if something is suspect: take the vault's lock there    an advisory lock, which ends with its connection
one transaction: read and hash the suspects, write what changed, remove what is gone
a first index is built in batches, and goes on where it was interrupted; a rebuild is one transaction
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from memtool.errors import Busy, DatabaseUnavailable, SchemaMismatch
from memtool.index import engine, schema as sqlite_schema
from memtool.index.engine import FIRST_PATIENCE, Index, Place, Unbuilt, apply
from memtool.team.postgres import schema
from memtool.team.postgres.connection import WRITER, Database, enter, reach, refusals
from memtool.team.postgres.tables import PostgresTables
from memtool.team.postgres.vectors import PostgresVectors, open_vectors
from memtool.team.postgres.writer import PostgresWriter, forget_rows, settled_hash
from memtool.vault.scan import Changes, Scan, changes

if TYPE_CHECKING:
    import psycopg

    from memtool.index.tables import VectorShelf

T = TypeVar("T")
_TEXT_LOCK, _VECTOR_LOCK = 1_835_363_436, 1_835_363_437  # the first halves of advisory locks; the second is the vault
_PAUSE = 0.02  # seconds between two tries
_TEXT_TABLES = ("note", "chunk", "term_list", "term", "posting", "word")


class PostgresIndex(Index):
    """The index of a vault in *database*."""

    def __init__(self, place: Place, db: PostgresTables, database: Database) -> None:
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
        """Hold the lock of whoever makes vectors; `Busy` is raised where another process has it."""
        return _lock(self.db, _VECTOR_LOCK, self.place.patience if waits else 0.0)

    def open_vectors(self, model: str, dimension: int) -> VectorShelf:
        """Return the vectors of *model*."""
        return open_vectors(self.db, model, dimension)

    def forget_vectors(self, model: str, store: VectorShelf) -> None:  # noqa: ARG002  (the store knows its model)
        """Drop the vectors of texts that are gone, and those of other models."""
        if isinstance(store, PostgresVectors):
            store.forget_unused()


def use_database(place: Place, database: Database, use: Callable[[Index], T], *, rebuild: bool = False) -> T:
    """Return what *use* makes of the index in *database*, fresh from the vault.

    Raises:
        DatabaseUnavailable: it cannot be reached, or the connection was lost.
        SchemaMismatch: another version of memtool made its tables.
        Busy: another process is building the first index; or it is `Unbuilt`.
    """
    if place.migrates:
        schema.migrate(database.address)
    with refusals(), database.connection() as db:
        schema.check(db)
        index = PostgresIndex(place, PostgresTables(db, vault_number(db, database.vault)), database)
        if rebuild and index.db.row().fingerprint:
            _rebuild(index)
        else:
            _refresh(index)
        if (allowed := reach.get()) and allowed.projects:
            from memtool.team.postgres.shared import SharedTables

            index.db = SharedTables(db, [index.db.vault], allowed.projects)
        return use(index)


@contextlib.contextmanager
def current_tables(database: Database, daily: str) -> Iterator[PostgresTables]:
    """Give the tables in *database* as they are, for the length of a `with` block; daily notes lie in *daily*.

    Raises:
        Busy: there is no index that can be used now; the sentence says why.
    """
    try:
        with refusals(), database.connection() as db:
            schema.check(db)
            tables = PostgresTables(db, vault_number(db, database.vault))
            if tables.row().fingerprint != sqlite_schema.fingerprint(daily):
                raise Busy("there is no index yet")
            yield tables
    except (DatabaseUnavailable, SchemaMismatch) as error:
        raise Busy(str(error)) from None


def vault_number(db: psycopg.Connection[Any], name: str) -> int:
    """Return the number of the vault called *name*, which gets one if it has none."""
    with db.transaction():
        enter(db, WRITER, [], name=name)
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
        with _lock(index.db, _TEXT_LOCK, place.patience if known else max(place.patience, FIRST_PATIENCE)):
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
        _write(index, found, pending, batch=engine.BATCH)
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
    with _lock(index.db, _TEXT_LOCK, max(index.place.patience, FIRST_PATIENCE)), index.db.writing():
        index.db.db.execute("SET LOCAL statement_timeout = 0")
        forget_rows(index.db)
        found = index.place.scan()
        _write(index, found, changes({}, found), batch=engine.BATCH)
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
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # a connection that is gone has let go of it
            tables.db.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", key)
