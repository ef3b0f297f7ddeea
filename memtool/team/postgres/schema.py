"""The schema of the database: numbered SQL files, each applied once, in a transaction of its own.

A migration whose first line is `-- compatible` leaves memtools that do not know it at work: that is how a service is
upgraded while another version of it still runs. All others stop them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import DatabaseUnavailable, SchemaMismatch
from memtool.team.postgres.connection import connect, refusals

if TYPE_CHECKING:
    import psycopg

_LOCK = 6_036_588_010_150_114_157  # of whoever migrates: an advisory lock of the database
_TABLE = """
CREATE SCHEMA IF NOT EXISTS memtool;
CREATE TABLE IF NOT EXISTS memtool.migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    compatible boolean NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);
"""


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
        db.execute("SET statement_timeout = 0")
        db.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))  # until the connection is closed
        db.execute(_TABLE)
        applied = _applied(db)
        _refuse_newer(applied)
        lacking = [each for each in known_migrations() if each.number not in applied]
        for each in lacking:
            with _missing_extension(), db.transaction():
                db.execute(each.sql)  # our own file
                db.execute(
                    "INSERT INTO memtool.migration (number, name, compatible) VALUES (%s, %s, %s)",
                    (each.number, each.name, each.compatible),
                )
        return [each.name for each in lacking]


@contextlib.contextmanager
def _missing_extension() -> Iterator[None]:
    import psycopg

    try:
        yield
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        hint = "Install pgvector 0.8 or later on the server."
        raise DatabaseUnavailable(f"the database cannot be used: {error.diag.message_primary}", hint=hint) from None


def check(db: psycopg.Connection[Any]) -> None:
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
