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
from postgres_server import PostgresServer, new_database
from team.team_server import TeamServer

from memtool.team.postgres.connection import connect, migrate

pytestmark = pytest.mark.slow


@pytest.fixture
def server(own_postgres: PostgresServer, tmp_path: Path) -> Iterator[TeamServer]:
    with new_database(own_postgres.dsn) as dsn:
        migrate(dsn)
        server = TeamServer(tmp_path, dsn, ("shop",))
        try:
            yield server
        finally:
            server.end()


def test_without_its_database_the_service_says_so_and_goes_on_when_it_is_back(
    server: TeamServer, own_postgres: PostgresServer
) -> None:
    assert server.save("The okapi is striped 斑马.").status == 200
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
    server.until(lambda: server.found("okapi"))
    assert server.save("The quagga is extinct.").status == 200
    server.until(lambda: "quagga" in server.pushed())


def test_what_was_answered_outlives_a_service_that_is_killed_and_a_remote_that_is_away(server: TeamServer) -> None:
    remote = server.folder / "shop.git"
    away = remote.rename(server.folder / "away")
    assert server.save("The okapi is striped 斑马.").status == 200
    server.until(lambda: server.vaults()[0]["problem"])
    assert server.vaults()[0]["waiting"] == 1
    server.process.send_signal(signal.SIGKILL)
    server.end()
    away.rename(remote)
    assert "okapi" not in server.pushed()
    server.start()
    server.until(lambda: "okapi" in server.pushed())
    assert len(server.found("okapi")) == 1


def test_two_services_of_one_folder_may_run_at_once_while_one_takes_over(server: TeamServer) -> None:
    second = TeamServer.__new__(TeamServer)
    second.__dict__ |= server.__dict__
    second.start()
    try:
        assert server.save("The okapi is striped 斑马.").status == 200
        assert second.save("The quagga is extinct.").status == 200
        for each in (server, second):
            each.until(lambda each=each: each.found("okapi") and each.found("quagga"))
        server.until(lambda: "okapi" in server.pushed() and "quagga" in server.pushed())
    finally:
        second.end()


def test_a_dump_brings_back_tokens_audit_and_index(server: TeamServer, own_postgres: PostgresServer) -> None:
    assert server.save("The okapi is striped 斑马.").status == 200
    token, before = server.token(), server.found("okapi")
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
            assert server.found("okapi") == before
            with connect(other) as db:
                assert db.execute("SELECT count(*) > 0 FROM memtool.audit WHERE wrote").fetchone() == (True,)
        finally:
            server.end()


def test_git_alone_brings_back_all_memories(server: TeamServer, own_postgres: PostgresServer) -> None:
    assert server.save("The okapi is striped 斑马.").status == 200
    before = server.found("okapi")
    server.until(lambda: "okapi" in server.pushed())
    server.end()
    shutil.rmtree(server.folder / "clones")
    with new_database(own_postgres.dsn) as other:  # made by the service itself
        server.environ["MEMTOOL_POSTGRES"] = server.dsn = other
        migrate(other)  # for the token of this test
        server.start()
        try:
            server.until(lambda: server.found("okapi") == before)
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
