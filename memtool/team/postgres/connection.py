"""Connections to PostgreSQL, each in a role that sees some vaults only, and the schema of the database.

The schema is numbered SQL files, each applied once, in a transaction of its own. A migration whose first line is
`-- compatible` leaves memtools that do not know it at work: that is how a service is upgraded while another version of
it still runs. All others stop them.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import DatabaseUnavailable, OnlyReading, ProviderMissing, SchemaMismatch
from memtool.installation import how_to_add
from memtool.team import limits

if TYPE_CHECKING:
    import psycopg

READER, WRITER = "memtool_reader", "memtool_writer"  # the roles of migration 0001
GUEST = "memtool_guest"  # the role of migration 0011, which sees some projects only
# HNSW finds nearly all of 400 neighbours where it looks at 1,000, and goes on where a filter leaves too few. Estimates
# for compiling statements are too high: that takes longer than the statements. A row at a random place costs little
# more than the next one, as indexes lie in memory or on a disk without a head.
_OPTIONS = (
    f"-c search_path=memtool,public -c statement_timeout={limits.STATEMENT_SECONDS}s -c jit=off -c random_page_cost=1.1"
    " -c hnsw.ef_search=1000 -c hnsw.iterative_scan=strict_order -c timezone={zone}"
)
_PRIVILEGES = (
    "Let its administrator make the roles memtool_reader, memtool_writer, memtool_guest and memtool_gate and grant them"
    " to your user: docs/team.md."
)
_TABLE = """
CREATE SCHEMA IF NOT EXISTS memtool;
CREATE TABLE IF NOT EXISTS memtool.migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    compatible boolean NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);
"""


class Reach(NamedTuple):
    """The names of the *vaults* that the request may see, and of the *projects* in them; no project means all."""

    vaults: frozenset[str]
    projects: tuple[str, ...] = ()


# Of a service: the pools that its connections come from, by address; and what the request may see. No database is
# opened for another vault, whatever asks for it.
pools: dict[str, Any] = {}
reach: ContextVar[Reach | None] = ContextVar("reach", default=None)
# The connections that a service uses now: all of them, and those of the request at hand.
in_use: set[psycopg.Connection[Any]] = set()
in_use_by_request: ContextVar[set[psycopg.Connection[Any]] | None] = ContextVar("in_use_by_request", default=None)


class Database:
    """A database, and the name of the vault in it."""

    def __init__(self, address: str, vault: str) -> None:
        self.address = address
        self.vault = vault

    @contextlib.contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Give a connection for the length of a `with` block.

        Raises:
            ProviderMissing, DatabaseUnavailable
            OnlyReading: it is of a vault that the request may not see.
        """
        self.check()
        with connection_to(self.address) as db:
            yield db

    def check(self) -> None:
        """Raise `OnlyReading` for a vault that the request may not see."""
        allowed = reach.get()
        if allowed and self.vault not in allowed.vaults:
            raise OnlyReading("your token is not for this vault")


@contextlib.contextmanager
def connection_to(address: str) -> Iterator[psycopg.Connection[Any]]:
    """Give a connection to the database at *address*, of the service's pool if there is one, for a `with` block.

    Raises:
        ProviderMissing, DatabaseUnavailable
    """
    pool = pools.get(address)
    if pool is None:
        with contextlib.closing(connect(address)) as db:
            yield db
        return
    with refusals(), pool.connection() as db, used(db):
        if in_use_by_request.get() is None:  # the service's own work, such as a first index
            _limit(db, limits.STATEMENT_SECONDS, 0)
        yield db


@contextlib.contextmanager
def used(db: psycopg.Connection[Any]) -> Iterator[None]:
    """Let `cut` find the connection *db* of a service for the length of a `with` block."""
    of_request = in_use_by_request.get()
    sets = [in_use] if of_request is None else [in_use, of_request]
    for each in sets:
        each.add(db)
    try:
        yield
    finally:
        for each in sets:
            each.discard(db)


def cut(connections: set[psycopg.Connection[Any]]) -> None:
    """End *connections*, whatever they wait for: the threads that use them get an error at once."""
    for db in list(connections):
        with contextlib.suppress(Exception):  # it has ended by itself
            way = socket.socket(fileno=db.fileno())
            try:
                way.shutdown(socket.SHUT_RDWR)
            finally:
                way.detach()  # closing it is libpq's part


def make_ready(db: psycopg.Connection[Any]) -> None:
    """Let a connection of a service see nothing and wait for little, until the next request says what it may see."""
    enter(db, "none", [], local=False)
    _limit(db, limits.REQUEST_SECONDS, limits.LOCK_SECONDS)


def _limit(db: psycopg.Connection[Any], statement: int, lock: int) -> None:
    set_both = "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false)"
    db.execute(set_both, (f"{statement}s", f"{lock}s"))


def default_name(root: Path) -> str:
    """Return the name of the vault at *root* in a database that other machines use, too."""
    import platform

    return f"{platform.node()}:{root}"


def connect(address: str) -> psycopg.Connection[Any]:
    """Return a new connection in which each statement is a transaction of its own, unless one is begun.

    Raises:
        ProviderMissing: the extra is not installed.
        DatabaseUnavailable: there is no server, or it refuses.
    """
    try:
        import psycopg
    except ImportError:
        raise ProviderMissing("the engine postgres is not installed", hint=how_to_add("postgres")) from None
    with refusals():
        return psycopg.connect(address, **connection_options())


def connection_options() -> dict[str, Any]:
    """Return the options of each connection, for a pool as well."""
    minutes = time.localtime().tm_gmtoff // 60  # PostgreSQL writes it with the sign of POSIX: `UTC-08:00` lies east
    sign = "-" if minutes >= 0 else "+"
    zone = f"UTC{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}" if minutes else "UTC"
    return {
        "autocommit": True,
        "connect_timeout": 5,
        # A way that swallows everything ends a connection, too: after half a minute without a sign of life.
        "keepalives_idle": 15,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 30_000,
        "application_name": "memtool",
        "options": _OPTIONS.format(zone=zone),
    }


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Say in a sentence what the server refuses, or that it is gone. Errors of our own statements pass.

    Raises:
        DatabaseUnavailable: the same may work later, or after somebody has mended the server.
    """
    import psycopg

    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
        raise DatabaseUnavailable(f"the database cannot be used now: {_first_line(error)}") from None
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseUnavailable(f"the database refuses: {_first_line(error)}", hint=_PRIVILEGES) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def enter(
    db: psycopg.Connection[Any],
    role: str,
    vaults: Sequence[int],
    *,
    name: str = "",
    projects: Sequence[str] = (),
    local: bool = True,
) -> None:
    """Let the transaction at hand be in *role* and see *vaults* only, and the row of the vault called *name*.

    In the role of a guest it sees *projects* only. Where it is not *local*, so are those that follow on the connection.
    """
    db.execute(
        "SELECT set_config('role', %(role)s, %(local)s), set_config('memtool.vaults', %(vaults)s, %(local)s),"
        " set_config('memtool.vault', %(name)s, %(local)s),"
        " set_config('memtool.projects', %(projects)s::text[]::text, %(local)s)",
        {
            "role": role,
            "vaults": f"{{{','.join(map(str, vaults))}}}",
            "name": name,
            "projects": list(projects),
            "local": local,
        },
    )


class Migration(NamedTuple):
    """A step of the schema: a file of SQL."""

    number: int
    name: str
    sql: str

    @property
    def compatible(self) -> bool:
        """Whether memtools that do not know this step can go on."""
        return self.sql.startswith("-- compatible")


@cache
def known_migrations() -> tuple[Migration, ...]:
    """Return the migrations of this memtool, in order."""
    folder = files("memtool.team.postgres").joinpath("migrations")
    named = sorted(path.name for path in folder.iterdir() if path.name.endswith(".sql"))
    texts = {name: folder.joinpath(name).read_text(encoding="utf-8") for name in named}
    return tuple(Migration(int(name.partition("-")[0]), name, text) for name, text in texts.items())


def migrate(dsn: str) -> list[str]:
    """Bring the database up to this memtool's schema; return the names of the migrations that it lacked.

    Raises:
        DatabaseUnavailable: it cannot be reached, or refuses.
        SchemaMismatch: a newer memtool made it.
    """
    with refusals(), contextlib.closing(connect(dsn)) as db:
        import psycopg

        db.execute("SET statement_timeout = 0")
        db.execute("SELECT pg_advisory_lock(6036588010150114157)")  # memtool's own, until the connection is closed
        db.execute(_TABLE)
        applied = _applied(db)
        _refuse_newer(applied)
        lacking = [each for each in known_migrations() if each.number not in applied]
        for each in lacking:
            try:
                with db.transaction():
                    db.execute(each.sql)  # our own file
                    db.execute(
                        "INSERT INTO memtool.migration (number, name, compatible) VALUES (%s, %s, %s)",
                        (each.number, each.name, each.compatible),
                    )
            except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
                sentence = f"the database cannot be used: {error.diag.message_primary}"
                hint = "Install pgvector 0.8 or later on the server."
                raise DatabaseUnavailable(sentence, hint=hint) from None
        return [each.name for each in lacking]


def check_schema(db: psycopg.Connection[Any]) -> None:
    """Check that this memtool can use the database.

    Raises:
        SchemaMismatch: it has no tables yet, or those of an older or a newer memtool.
    """
    import psycopg

    try:
        applied = _applied(db)
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        raise SchemaMismatch("the database has no tables of memtool's yet") from None
    _refuse_newer(applied)
    if not applied.keys() >= {each.number for each in known_migrations()}:
        raise SchemaMismatch("the database has the tables of an older memtool")


def _applied(db: psycopg.Connection[Any]) -> dict[int, bool]:
    """Return the numbers of the migrations that were applied, and whether each is compatible."""
    return dict(db.execute("SELECT number, compatible FROM memtool.migration").fetchall())


def _refuse_newer(applied: dict[int, bool]) -> None:
    known = {each.number for each in known_migrations()}
    if any(not compatible for number, compatible in applied.items() if number not in known):
        raise SchemaMismatch("a newer memtool made the tables of the database", hint="Install a newer memtool.")
