"""The schema: applied once, by one at a time, and never by a reader."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from postgres_server import new_database

from memtool.errors import DatabaseUnavailable, SchemaMismatch
from memtool.team.postgres import connection
from memtool.team.postgres.connection import (
    READER,
    WRITER,
    Migration,
    check_schema,
    connect,
    enter,
    known_migrations,
    migrate,
)

psycopg = pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")


@pytest.fixture
def empty(postgres: str) -> Iterator[str]:
    """A database without memtool's tables."""
    with new_database(postgres) as dsn:
        yield dsn


def refusal(dsn: str) -> str:
    with contextlib.closing(connect(dsn)) as db, pytest.raises(SchemaMismatch) as caught:
        check_schema(db)
    return str(caught.value)


@pytest.mark.slow
def test_many_who_migrate_at_once_apply_each_step_once(empty: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        applied = list(threads.map(migrate, [empty] * 4))
    names = [each.name for each in known_migrations()]
    assert sorted(applied, key=len) == [[], [], [], names]
    with contextlib.closing(connect(empty)) as db:
        check_schema(db)


def test_the_numbers_of_the_migrations_are_unique() -> None:
    numbers = [each.number for each in known_migrations()]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1


@pytest.mark.slow
def test_a_reader_says_that_there_are_no_tables(empty: str) -> None:
    assert refusal(empty) == "the database has no tables of memtool's yet"


def test_a_reader_says_that_an_older_memtool_made_the_tables(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    more = (*known_migrations(), Migration(9999, "9999-later.sql", "SELECT 1"))
    monkeypatch.setattr(connection, "known_migrations", lambda: more)
    assert refusal(database) == "the database has the tables of an older memtool"
    assert migrate(database) == ["9999-later.sql"]
    with contextlib.closing(connect(database)) as db:
        check_schema(db)


@pytest.mark.parametrize("compatible", [True, False])
def test_only_a_compatible_newer_step_leaves_an_older_memtool_at_work(database: str, compatible: bool) -> None:
    with contextlib.closing(connect(database)) as db:
        db.execute("INSERT INTO memtool.migration VALUES (9999, '9999-later.sql', %s)", (compatible,))
        if compatible:
            check_schema(db)
            assert migrate(database) == []
            return
    assert refusal(database) == "a newer memtool made the tables of the database"
    with pytest.raises(SchemaMismatch):
        migrate(database)


def test_a_step_that_fails_leaves_nothing_behind(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Migration(9999, "9999-broken.sql", "CREATE TABLE memtool.half (id int); SELECT 1 / 0")
    monkeypatch.setattr(connection, "known_migrations", lambda: (*known_migrations(), broken))
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(database)
    with contextlib.closing(connect(database)) as db:
        assert db.execute("SELECT to_regclass('memtool.half')").fetchone() == (None,)


def test_a_server_that_is_not_there_is_a_sentence(tmp_path: object) -> None:
    with pytest.raises(DatabaseUnavailable, match="the database cannot be used now"):
        connect(f"postgresql://postgres@/postgres?host={tmp_path}")


def test_a_role_sees_and_writes_the_rows_of_its_vaults_only(database: str) -> None:
    with contextlib.closing(connect(database)) as db:
        for vault in (1, 2):
            with db.transaction():
                enter(db, WRITER, [vault])
                db.execute("INSERT INTO word VALUES (%s, '解密')", (vault,))
        for role, vault in ((WRITER, 2), (READER, 1)):
            with db.transaction(force_rollback=True):
                enter(db, role, [1])
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    db.execute("INSERT INTO word VALUES (%s, 'refused')", (vault,))
        for visible, seen in (([1], [1]), ([1, 2], [1, 2]), ([], []), ([7], [])):
            with db.transaction():
                enter(db, READER, visible)
                assert db.execute("SELECT vault FROM word ORDER BY vault").fetchall() == [(each,) for each in seen]


def test_every_table_of_a_vault_is_guarded(database: str) -> None:
    unguarded = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'memtool'::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relispartition AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1"
    )
    parts = (
        "SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r'"
        " AND has_table_privilege('memtool_reader', oid, 'SELECT')"
    )
    with contextlib.closing(connect(database)) as db:
        assert db.execute(unguarded).fetchall() == [("audit",), ("migration",), ("model",), ("token",)]
        for table in ("audit", "token"):  # of no vault: not for those who read or write one
            for role in (READER, WRITER):
                right = db.execute("SELECT has_table_privilege(%s, %s, 'SELECT')", (role, f"memtool.{table}"))
                assert right.fetchone() == (False,)
        assert db.execute(parts).fetchone() == (0,)
