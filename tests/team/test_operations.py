"""What whoever runs the service lives through: the database dies, the service dies, everything is restored."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import NAMED, PostgresServer, Unavailable, new_database
from team.team_server import TeamServer
from two_machines import git

from memtool.index.postgres.connection import connect
from memtool.index.postgres.schema import migrate

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(NAMED), reason="the server that is named is not killed")]


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PostgresServer]:
    """A server that a test may kill."""
    try:
        with PostgresServer() as server:
            yield server
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def server(own_postgres: PostgresServer, tmp_path: Path) -> Iterator[TeamServer]:
    with new_database(own_postgres.dsn) as dsn:
        migrate(dsn)
        server = TeamServer(tmp_path, dsn, ("shop",))
        try:
            yield server
        finally:
            server.end()


def save(server: TeamServer, text: str) -> int:
    return server.ask("POST", "/save", {"content": text, "project": "login"}).status


def found(server: TeamServer, query: str) -> list[str]:
    answer = server.ask("POST", "/search", {"query": query})
    return [each["id"] for each in answer.fields["memories"]] if answer.status == 200 else []


def pushed(server: TeamServer) -> str:
    return git(server.folder / "shop.git", "log", "-p", "--format=%an", "main", "--", "areas")


def test_without_its_database_the_service_says_so_and_goes_on_when_it_is_back(
    server: TeamServer, own_postgres: PostgresServer
) -> None:
    assert save(server, "The okapi is striped 斑马.") == 200
    own_postgres.kill()
    for method, path, body in (
        ("POST", "/search", {"query": "okapi"}),
        ("POST", "/save", {"content": "x y"}),
        ("GET", "/vaults", None),
    ):
        answer = server.ask(method, path, body)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1"), answer
        assert "database" in answer.fields["detail"]
    assert server.ask("GET", "/health", token="").status == 200
    own_postgres.start()
    server.until(lambda: found(server, "okapi"))
    assert save(server, "The quagga is extinct.") == 200
    server.until(lambda: "quagga" in pushed(server))


def test_what_was_answered_outlives_a_service_that_is_killed_and_a_remote_that_is_away(server: TeamServer) -> None:
    remote = server.folder / "shop.git"
    away = remote.rename(server.folder / "away")
    assert save(server, "The okapi is striped 斑马.") == 200
    server.until(lambda: server.vaults()[0]["problem"])
    assert server.vaults()[0]["waiting"] == 1
    server.process.send_signal(signal.SIGKILL)
    server.end()
    away.rename(remote)
    assert "okapi" not in pushed(server)
    server.start()
    server.until(lambda: "okapi" in pushed(server))
    assert len(found(server, "okapi")) == 1


def test_two_services_of_one_folder_may_run_at_once_while_one_takes_over(server: TeamServer) -> None:
    second = TeamServer.__new__(TeamServer)
    second.__dict__ |= server.__dict__
    second.start()
    try:
        assert save(server, "The okapi is striped 斑马.") == 200
        assert save(second, "The quagga is extinct.") == 200
        for each in (server, second):
            each.until(lambda each=each: found(each, "okapi") and found(each, "quagga"))
        server.until(lambda: "okapi" in pushed(server) and "quagga" in pushed(server))
    finally:
        second.end()


def test_a_dump_brings_back_tokens_audit_and_index(server: TeamServer, own_postgres: PostgresServer) -> None:
    assert save(server, "The okapi is striped 斑马.") == 200
    token, before = server.token(), found(server, "okapi")
    dump = server.folder / "dump"
    dumped = own_postgres.program("pg_dump", "--format=custom", "--schema=memtool", server.dsn)
    dump.write_bytes(dumped)
    server.end()
    with new_database(own_postgres.dsn) as other:
        with connect(other) as db:
            db.execute("CREATE EXTENSION vector")
        own_postgres.program("pg_restore", "--exit-on-error", f"--dbname={other}", stdin=dump.read_bytes())
        server.environ["MEMTOOL_POSTGRES"] = server.dsn = other
        server.start()
        try:
            assert server.ask("GET", "/memories", token=token).status == 200
            assert found(server, "okapi") == before
            with connect(other) as db:
                assert db.execute("SELECT count(*) > 0 FROM memtool.audit WHERE wrote").fetchone() == (True,)
        finally:
            server.end()


def test_git_alone_brings_back_all_memories(server: TeamServer, own_postgres: PostgresServer) -> None:
    assert save(server, "The okapi is striped 斑马.") == 200
    before = found(server, "okapi")
    server.until(lambda: "okapi" in pushed(server))
    server.end()
    shutil.rmtree(server.folder / "clones")
    with new_database(own_postgres.dsn) as other:  # made by the service itself
        server.environ["MEMTOOL_POSTGRES"] = server.dsn = other
        migrate(other)  # for the token of this test
        server.start()
        try:
            server.until(lambda: found(server, "okapi") == before)
        finally:
            server.end()


def test_the_doctor_of_a_team_names_what_is_wrong(server: TeamServer) -> None:
    def examined(**environ: str) -> tuple[int, dict[str, str]]:
        done = subprocess.run(
            [sys.executable, "-m", "memtool", "doctor", "--team", "--json"],
            env={**server.environ, **environ}, capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode, {each["subject"]: each["state"] for each in json.loads(done.stdout)["checks"]}

    code, checks = examined()
    assert code == 0, checks
    assert checks["database"] == checks["remote shop"] == checks["tokens"] == "ok"
    (server.folder / "shop.git").rename(server.folder / "away")
    code, checks = examined()
    assert (code, checks["remote shop"]) == (1, "broken")
    code, checks = examined(MEMTOOL_POSTGRES="postgresql://nobody@127.0.0.1:1/none")
    assert (code, checks["database"]) == (1, "broken")
