"""An upgrade: a newer version of the service takes over while the older one is at work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from team.people import OKAPI, People, check_all
from team.team_server import TeamServer

pytestmark = pytest.mark.slow
# A memtool that knows one more step of the schema.
NEWER = """
import sys
from memtool.team.postgres import connection
known, later = connection.known_migrations(), connection.Migration(9999, "9999-later.sql", sys.argv.pop(1))
connection.known_migrations = lambda: (*known, later)
from memtool.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def older(tmp_path: Path, database: str) -> Iterator[TeamServer]:
    server = TeamServer(tmp_path, database, ("shop",))
    try:
        assert server.save(OKAPI).status == 200
        yield server
    finally:
        server.end()


def newer(older: TeamServer, migration: str) -> TeamServer:
    """Start a newer version beside the *older* one, with the same folder and database."""
    server = TeamServer.__new__(TeamServer)
    server.__dict__ |= {**older.__dict__, "program": ("-c", NEWER, migration)}
    server.start()
    return server


def test_two_versions_work_at_once_while_one_takes_over(older: TeamServer) -> None:
    with People(older) as people:
        people.until_more(saved=1, searched=1)
        server = newer(older, "-- compatible\nALTER TABLE memtool.audit ADD COLUMN later text; SELECT pg_sleep(1)")
        try:
            assert server.save("The quagga is extinct.").status == 200
            people.until_more(saved=1, searched=1)
            older.until(lambda: older.found("quagga") and server.found("quagga"))
        except BaseException:
            server.end()
            raise
    try:
        check_all(server, people)
        assert older.end() == 0
        assert server.found("okapi")
        older.start()  # the older one may be brought back
        assert older.found("quagga")
    finally:
        server.end()


def test_an_older_version_says_that_it_is_too_old(older: TeamServer) -> None:
    server = newer(older, "ALTER TABLE memtool.note ADD COLUMN later text NOT NULL DEFAULT ''")
    try:
        for method, path, body in (
            ("POST", "/search", {"query": "okapi"}),
            ("POST", "/save", {"content": "The quagga is extinct."}),
            ("GET", "/memories", None),
        ):
            answer = older.ask(method, path, body)
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert answer.fields["detail"] == "a newer memtool made the tables of the database."
        assert older.ask("GET", "/health", token="").status == 200
        assert server.found("okapi")
        assert server.save("The tapir is shy.").status == 200
        assert not server.found("quagga")
        older.end()
        with pytest.raises(AssertionError, match="a newer memtool made the tables"):
            older.start()
    finally:
        server.end()
