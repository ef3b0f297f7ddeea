"""A database for all tests of a module: a service is dear to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from postgres_server import NAMED, PostgresServer, Unavailable, new_database


@pytest.fixture(scope="module")
def module_database(postgres: str, postgres_template: str) -> Iterator[str]:
    """The address of a database with memtool's tables, of one module of tests."""
    with new_database(postgres, postgres_template) as dsn:
        yield dsn


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PostgresServer]:
    """A server that a test may kill."""
    if NAMED:
        pytest.skip("the server that is named is not killed")
    try:
        with PostgresServer() as server:
            yield server
    except Unavailable as reason:
        pytest.skip(str(reason))
