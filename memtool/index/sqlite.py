"""The index in a file of SQLite's: found or built, healed where it is damaged, and brought up to date with the vault.

    ask a running service whether anything changed          if it vouches for the index, that is all
    scan the disk, compare the stamps                       no lock, a few milliseconds
    if something is suspect: take the index's lock
        scan again, if another process wrote meanwhile      it may have done the work
        one transaction: read and hash the suspects, write what changed, then remove what is gone
    if there is no usable index: build a generation aside, in batches, then make it the current one
    if that was interrupted: go on with it; the stamps that it holds say how far it has come

Readers never wait for a writer (SQLite's write-ahead log), and a process that dies leaves the last good state.
"""

from __future__ import annotations

import contextlib
import gc
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from zlib import crc32

from memtool.errors import Busy, NotWritable
from memtool.index import generations, limits, schema
from memtool.index.engine import Index, Place, Unbuilt, apply
from memtool.index.writer import Applied, SqliteWriter, read_file
from memtool.vault.files import content_hash
from memtool.vault.scan import Changes, Scan, changes

if TYPE_CHECKING:
    from memtool.index.tables import VectorShelf
    from memtool.vault.note import BrokenNote

T = TypeVar("T")


class SqliteIndex(Index):
    """An index in the file at *path*."""

    db: schema.SqliteTables

    def __init__(self, place: Place, db: schema.SqliteTables, path: Path) -> None:
        super().__init__(place)
        self.db = db
        self.path = path

    def is_settled_by(self, found: Scan) -> bool:
        """Return whether the index is known to hold all that *found* shows, with no file to be read again."""
        row = self.db.execute("SELECT scan FROM settled WHERE max_bytes = ?", (self.place.max_bytes,)).fetchone()
        return row is not None and row[0] == found.as_bytes()

    @property
    def address(self) -> str:
        """Where the index lies, as a person should see it."""
        return str(self.path)

    def size(self) -> int:
        """Return how many bytes the index takes, without its vectors."""
        return sum(path.stat().st_size for path in self.path.parent.glob(f"{self.path.name}*"))

    def lock_of_vectors(self, *, waits: bool = True) -> AbstractContextManager[None]:
        """Hold the lock of whoever makes vectors; `Busy` is raised where another process has it."""
        return self.place._replace(patience=self.place.patience if waits else 0.0).lock("vectors")

    def open_vectors(self, model: str, dimension: int) -> VectorShelf:
        """Return the vectors of *model*, which lie beside the index."""
        from memtool.index.vectors import VectorStore

        store = VectorStore(self.place.folder / "vectors", model, dimension)
        if not len(store) and self.db.execute("SELECT 1 FROM piece_list LIMIT 1").fetchone():
            # New, deleted or damaged: what the index says of embedded chunks holds no longer.
            self.db.execute("DELETE FROM meta WHERE key = ?", (schema.embedding_mark(model),))
        return store

    def forget_vectors(self, model: str, store: VectorShelf) -> None:
        """Drop the vectors in *store* of texts that are gone, and those of other models than *model*."""
        from memtool.index.vectors import VectorStore, delete_other_models

        if isinstance(store, VectorStore):
            store.collect_garbage({row[0] for row in self.db.execute("SELECT hash FROM piece")})
        delete_other_models(self.place.folder / "vectors", model)


class _Built(NamedTuple):
    applied: Applied
    problems: list[BrokenNote]
    resumed: int


def use_file(place: Place, use: Callable[[Index], T], *, rebuild: bool = False) -> T:
    """Return the result of *use* on the index, fresh from the vault: see `memtool.index.engine.use_index`."""
    try:
        try:
            with _refusals(place, schema.REFUSED):
                return _open_and_use(place, use, "you asked for it" if rebuild else "")
        except sqlite3.DatabaseError as error:
            damage = f"it was damaged ({error})"
        with _refusals(place, schema.REFUSED + schema.UNREACHABLE):  # a second time, it is no passing state
            return _open_and_use(place, use, damage)
    except NotWritable as error:
        path = None if rebuild else generations.current(place.generations)
        if path is None:
            raise
        # On a full disk not even the file can be made through which connections share a log; this one needs none.
        try:
            db = schema.connect(path, mode="ro&immutable=1")
        except sqlite3.DatabaseError:
            raise error from None
        with contextlib.closing(db):
            index = SqliteIndex(place, db, path)
            if not _is_current(index):
                raise error from None
            return use(index)


def _is_current(index: SqliteIndex) -> bool:
    """Return whether *index* holds what the files of its vault say now."""
    try:
        found = index.place.scan()
        index.problems = found.problems
        if schema.misfit(index.db, index.place.vault.daily):
            return False
        if index.is_settled_by(found):
            return True
        pending = changes(index.stamps(), found)
        return not pending.gone and all(is_as_indexed(index, ref) for ref in pending.suspects)
    except (sqlite3.DatabaseError, OSError):
        return False


def is_as_indexed(index: SqliteIndex, ref: str) -> bool:
    """Return whether the file at *ref*, which may be too young for its stamp to be trusted, is what the index holds."""
    known = index.db.execute("SELECT hash FROM note WHERE ref = ?", (ref,)).fetchone()
    read = read_file(str(index.place.vault.root / ref), index.place.max_bytes, 0) if known else None
    return read is not None and read.content is not None and content_hash(read.content) == known[0]


@contextlib.contextmanager
def _refusals(place: Place, codes: tuple[int, ...]) -> Iterator[None]:
    """Say in a sentence what another process or the disk refuses. Other errors of the database pass: damage."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = schema.code_of(error)
        if code in schema.PASSING:
            raise Busy(f"the index cannot be used now ({error})") from None
        if code in codes:
            raise NotWritable(f"the index in '{place.folder}' cannot be written: {error}") from None
        raise


def _open_and_use(place: Place, use: Callable[[Index], T], rebuild_because: str) -> T:
    path = None if rebuild_because else generations.current(place.generations)
    if path is not None:
        with contextlib.closing(schema.connect(path)) as db:
            rebuild_because = schema.misfit(db, place.vault.daily)
            if not rebuild_because:
                return use(_refreshed(SqliteIndex(place, db, path)))
    path, built = _rebuild(place)
    with contextlib.closing(schema.connect(path)) as db:
        index = SqliteIndex(place, db, path)
        if built is None:
            return use(_refreshed(index))
        index.applied, index.problems, index.resumed = built
        index.rebuilt = rebuild_because
        return use(index)


def _refreshed(index: SqliteIndex) -> SqliteIndex:
    """Bring *index* up to date with its vault and return it."""
    if index.place.is_followed or _is_vouched_for(index):
        return index
    with _no_collection():
        commits = _commits_of_others(index.db)
        found = index.place.scan()
        index.problems = found.problems
        # As a rule it is settled, and seeing that is much faster than looking at each stamp.
        pending = Changes((), ()) if index.is_settled_by(found) else changes(index.stamps(), found)
    if not pending:
        return index
    if index.place.takes_too_long(len(pending.suspects)):
        index.waiting = len(pending.suspects)
        return index
    try:
        with index.place.lock():
            if _commits_of_others(index.db) != commits:  # what they have indexed meanwhile must not look deleted
                found = index.place.scan()
                pending = changes(index.stamps(), found)
            index.applied = _apply(index, found, pending)
            index.problems = found.problems + index.applied.unreadable
    except Busy:
        index.behind = True
    return index


def claim(place: Place, index: Path) -> Mapping[str, Any]:
    """Return the marks of vault, settings and files outside that must be alike for an answer to hold here."""
    about, outside = place.vault.root.stat(), Scan({}, [], [])
    place.outside.add_to(outside, place.vault.root)
    found = crc32(outside.as_bytes(), len(outside.problems))
    read = {"max_bytes": place.max_bytes, "ignore": list(place.ignore)}
    return {"index": str(index), **read, "root": [about.st_dev, about.st_ino], "outside": found}


def _is_vouched_for(index: SqliteIndex) -> bool:
    """Return whether a service that watches the vault says that *index* holds what the vault holds now."""
    place = index.place
    if place.services is None or not place.services.is_dir():
        return False
    from memtool.service_client import WATCH, ServicePlace, ask_service, fell_silent, find_address  # most have none

    at, began = ServicePlace(place.services, place.vault.root), time.time()
    if find_address(at, WATCH) is None:
        return False
    try:
        request = {"ask": "unchanged", **claim(place, index.path)}
    except OSError:
        return False
    answer = ask_service(at, request, part=WATCH, patience=limits.SERVICE_PATIENCE)
    index.unanswered = answer is None and fell_silent(at, began)
    return answer is not None and answer.get("unchanged") is True


def _commits_of_others(db: sqlite3.Connection) -> int:
    """Return a number that changes when another connection has changed the database."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the search for garbage: among the many small values of a walk and of rows it finds none, and takes long."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _rebuild(place: Place) -> tuple[Path, _Built | None]:
    """Return a new current generation; without the second value if another process has just made it."""
    place = place._replace(within=None)
    unusable = generations.current(place.generations)
    if place.at_once is not None and place.takes_too_long(files := len(place.scan().stamps)):
        raise Unbuilt(files)
    try:
        with place._replace(patience=max(place.patience, limits.FIRST_PATIENCE)).lock():
            current = generations.current(place.generations)
            if current is not None and current != unusable:
                return current, None
            return _build(place, place.scan())
    except OSError as error:
        raise NotWritable(f"cannot write the index in '{place.folder}': {error.strerror}") from None


def _build(place: Place, found: Scan) -> tuple[Path, _Built]:
    """Build a generation aside and make it the current one. Where a build was interrupted before, go on with it."""
    path = _interrupted(place) or generations.begin(place.generations)
    try:
        with contextlib.closing(schema.connect(path)) as db:
            built = _fill(SqliteIndex(place, db, path), found)
        generations.make_current(path)
    except BaseException as error:
        # On a full disk, a half-built index would make things worse; and one without a journal is not whole.
        if isinstance(error, sqlite3.Error | OSError) or generations.begun(place.generations) != path:
            path.unlink(missing_ok=True)
        raise
    generations.remove_others(place.generations)
    return path, built


def _interrupted(place: Place) -> Path | None:
    """Return the generation that was begun before and can be gone on with."""
    path = generations.begun(place.generations)
    if path is not None:
        with contextlib.suppress(sqlite3.DatabaseError), contextlib.closing(schema.connect(path)) as db:
            is_whole = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            return path if is_whole and not schema.misfit(db, place.vault.daily) else None
    return None


def _fill(index: SqliteIndex, found: Scan) -> _Built:
    db, daily = index.db, index.place.vault.daily
    # Nobody reads this file yet. Where it is done in one go it needs no journal: if we die, it is never made current.
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA cache_size = -65536")
    if schema.misfit(db, daily):
        schema.create(db, daily)
    resumed = len(index.stamps())
    pending = changes(index.stamps(), found)
    if resumed or len(pending.suspects) > limits.AT_ONCE:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA synchronous = NORMAL")
        generations.keep_begun(index.path)
    try:
        with _no_collection():
            applied = _apply(index, found, pending, batch=limits.AT_ONCE)
    except KeyboardInterrupt as interrupt:
        if generations.begun(index.place.generations):
            done = f"{len(index.stamps()):,} of {len(found.stamps):,} files are indexed"
            interrupt.add_note(f"{done}; the next run goes on there")
        raise
    db.execute("INSERT INTO chunk_terms (chunk_terms) VALUES ('optimize')")
    db.execute("PRAGMA journal_mode = WAL")
    return _Built(applied, found.problems + applied.unreadable, resumed)


def read_again(place: Place, refs: Sequence[str]) -> None:
    """Bring the files *refs* up to date in an index that can be used; a search heals or builds any other.

    Raises:
        Busy, NotWritable: the index is as it was.
    """
    path = generations.current(place.generations)
    if path is None:
        return
    with contextlib.suppress(sqlite3.DatabaseError), contextlib.closing(schema.connect(path)) as db:
        if schema.misfit(db, place.vault.daily):
            return
        with place.lock():
            writer, applied = _writer(place, db), Applied()
            with writer.batch(refs):
                for ref in dict.fromkeys(refs):
                    writer.put(ref, place.now_ns(), applied)
                writer.finish(settled=None)


def _writer(place: Place, db: schema.SqliteTables) -> SqliteWriter:
    return SqliteWriter(db, place.max_bytes, place.vault, place.outside)


def _apply(index: SqliteIndex, found: Scan, pending: Changes, *, batch: int = 0) -> Applied:
    return apply(index.place, _writer(index.place, index.db), found, pending, batch=batch)
