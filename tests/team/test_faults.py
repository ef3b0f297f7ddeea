"""What goes wrong while people work: a full disk, a busy database, a way that is cut, a service that is killed.

Whoever asks meanwhile is answered, or told why not with a 503; what was answered is never lost; nobody mends by hand.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres_server import PostgresServer, new_database
from psycopg import Connection
from team.people import OKAPI, People, check_all
from team.proxy import Way
from team.team_server import PATIENCE, Answer, TeamServer

from memtool.team.postgres.connection import connect, migrate

pytestmark = pytest.mark.slow
ENDS_WITHIN = 10.0  # seconds


@pytest.fixture
def way(own_postgres: PostgresServer) -> Iterator[Way]:
    """The way to a database of this test alone."""
    with new_database(own_postgres.dsn) as dsn:
        migrate(dsn)
        way = Way(dsn)
        try:
            yield way
        finally:
            way.end()


@pytest.fixture
def server(way: Way, tmp_path: Path) -> Iterator[TeamServer]:
    server = TeamServer(tmp_path, way.dsn, ("shop",))
    try:
        assert server.save(OKAPI).status == 200
        yield server
    finally:
        way.mend()
        server.end()


def test_the_database_is_killed_while_everybody_works(server: TeamServer, own_postgres: PostgresServer) -> None:
    with People(server) as people:
        for _ in range(2):
            people.until_more(saved=2)
            own_postgres.kill()
            people.until_more(refused=3)
            own_postgres.start()
        people.until_more(saved=1, searched=1)
    check_all(server, people)


def test_a_service_that_is_killed_while_everybody_writes_loses_nothing(server: TeamServer) -> None:
    for _ in range(2):
        with People(server) as people:
            people.until_more(saved=3)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(PATIENCE)
        server.end()
        server.start()
        check_all(server, people)
    assert server.save("After all that, tapirs sleep.").status == 200
    server.until(lambda: "tapirs" in server.pushed())


def test_a_database_that_says_nothing_keeps_nobody_waiting_for_ever(server: TeamServer, way: Way) -> None:
    way.swallow()
    started = time.monotonic()
    answers = [server.ask("POST", "/search", {"query": "okapi"}) for _ in range(2)]
    assert [answer.status for answer in answers] == [503, 503]
    assert "database" in answers[0].fields["detail"]
    assert time.monotonic() - started < PATIENCE
    way.mend()
    server.until(lambda: server.found("okapi"))


def test_an_exhausted_database_is_said_and_gets_over_it(server: TeamServer, way: Way) -> None:
    with connect(way.dsn) as db:
        with db.transaction():  # whoever asks for a token waits, and holds a connection as long as it may
            db.execute("LOCK TABLE memtool.token IN ACCESS EXCLUSIVE MODE")
            answers: list[Answer] = []
            threads = [
                threading.Thread(target=lambda: answers.append(server.ask("POST", "/search", {"query": "okapi"})))
                for _ in range(150)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert {answer.status for answer in answers} == {503}
        said = {answer.fields["detail"].partition(":")[0] for answer in answers}
        assert any("connections are in use" in each or "too many requests" in each for each in said), said
        server.until(lambda: server.found("okapi"))
    assert server.save("The quagga is extinct.").status == 200


def fill_up(dsn: str) -> Callable[[], None]:
    """Let each insert fail as it does on a full disk; return what ends that."""
    tables = "chunk", "audit"
    with connect(dsn) as db:
        db.execute(
            "CREATE FUNCTION public.is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
            " 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"
        )
        for table in tables:
            calls = "FOR EACH ROW EXECUTE FUNCTION public.is_full()"
            db.execute(f"CREATE TRIGGER is_full BEFORE INSERT ON memtool.{table} {calls}")

    def free() -> None:
        with connect(dsn) as db:
            for table in tables:
                db.execute(f"DROP TRIGGER is_full ON memtool.{table}")

    return free


def test_on_a_full_disk_of_the_database_memories_are_kept_and_found_once_there_is_room(
    server: TeamServer, way: Way
) -> None:
    free = fill_up(way.dsn)
    assert server.found("okapi")
    saved = server.save("The quagga is extinct 斑驴.")
    assert saved.fields["stored"]
    server.until(lambda: "quagga" in server.pushed())
    server.until(lambda: "No space left" in server.vaults()[0]["problem"])
    assert server.found("okapi")
    assert '"audited": false' in (server.folder / "log").read_text()
    free()
    server.until(lambda: server.found("quagga") == [saved.fields["id"]])
    server.until(lambda: server.vaults()[0]["problem"] == "")


def test_a_vault_whose_tables_are_locked_stops_no_other_vault_and_no_end(way: Way, tmp_path: Path) -> None:
    server = TeamServer(tmp_path, way.dsn, ("shop", "api"))
    answers: list[Answer] = []

    def ask_shop() -> None:
        with contextlib.suppress(OSError):  # the service ends meanwhile
            answers.append(server.ask("POST", "/vaults/shop/search", {"query": "okapi"}))

    try:
        for name in server.names:
            saved = server.ask("POST", f"/vaults/{name}/save", {"content": OKAPI, "project": "login"})
            assert saved.status == 200
        with connect(way.dsn) as db, db.transaction():
            locked, other = (part_of(db, name) for name in server.names)
            assert locked != other
            db.execute(f"LOCK TABLE {locked} IN ACCESS EXCLUSIVE MODE")
            threads = [threading.Thread(target=ask_shop) for _ in range(60)]
            for thread in threads:
                thread.start()
            for _ in range(20):
                assert server.ask("POST", "/vaults/api/search", {"query": "okapi"}).fields["memories"]
            for thread in threads:
                thread.join()
            assert {answer.status for answer in answers} == {503}
            last = [threading.Thread(target=ask_shop) for _ in range(20)]
            for thread in last:
                thread.start()
            server.until(lambda: locks_waited_for(db))
            server.process.terminate()
            assert server.process.wait(ENDS_WITHIN) == 0
            for thread in last:
                thread.join()
    finally:
        server.end()


def part_of(db: Connection[Any], name: str) -> str:
    """Return the part of the table of chunks in which those of the vault *name* are."""
    find = (
        "SELECT tableoid::regclass::text FROM memtool.chunk"
        " WHERE vault = (SELECT id FROM memtool.vault WHERE name = %s) LIMIT 1"
    )
    return str((db.execute(find, (name,)).fetchone() or ("",))[0])


def locks_waited_for(db: Connection[Any]) -> bool:
    found = db.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return bool(found and found[0])


def test_it_ends_in_time_while_the_database_says_nothing(server: TeamServer, way: Way) -> None:
    way.swallow()

    def ask() -> None:
        with contextlib.suppress(OSError):
            server.ask("POST", "/search", {"query": "okapi"})

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)  # they are waiting now
    server.process.terminate()
    assert server.process.wait(ENDS_WITHIN) == 0
    for thread in threads:
        thread.join()
