from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from web.service import PATIENCE, Service

from memtool.cli.main import cli
from memtool.cli.session import Session
from memtool.processes import lock
from memtool.service_client import find_service, is_at_work, service_place
from memtool.settings import user_cache_path

if TYPE_CHECKING:
    from memtool.vault.layout import Vault

pytestmark = pytest.mark.slow


def test_a_service_says_where_it_is_and_ends_when_it_is_told(service: Service) -> None:
    assert service.ask("GET", "/health", token="").fields["state"] == "ready"
    assert service.place.path("token").stat().st_mode & 0o077 == 0
    ran = CliRunner().invoke(cli, ["--vault", str(service.vault.root), "serve", "--status", "--json"], obj=Session())
    assert json.loads(ran.output) | {"state": "ready", "port": service.runtime.port} == json.loads(ran.output)
    ran = CliRunner().invoke(cli, ["--vault", str(service.vault.root), "serve", "--stop"], obj=Session())
    assert (ran.exit_code, ran.output) == (0, "The service has ended.\n")
    assert service.process.wait(PATIENCE) == 0
    assert not service.place.path("json").exists()
    ran = CliRunner().invoke(cli, ["--vault", str(service.vault.root), "serve", "--status"], obj=Session())
    assert (ran.exit_code, ran.output) == (1, "stopped\n")
    ran = CliRunner().invoke(cli, ["--vault", str(service.vault.root), "serve", "--stop"], obj=Session())
    assert (ran.exit_code, ran.output) == (0, "No service is running.\n")


def test_a_second_service_of_a_vault_names_the_first(lasting: Service) -> None:
    command = [sys.executable, "-m", "memtool", "--vault", str(lasting.vault.root), "serve"]
    ran = subprocess.run(command, env=lasting.environ, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ran.returncode == 75
    assert lasting.runtime.url in ran.stderr
    assert lasting.ask("GET", "/health").status == 200


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process can answer")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_request_under_way_finish(service: Service, how: signal.Signals) -> None:
    head = b"POST /service/link HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n"
    with socket.create_connection((service.runtime.host, service.runtime.port), timeout=PATIENCE) as slow:
        slow.sendall(head % (service.runtime.port, service.token.encode()) + b"Expect: 100-continue\r\n\r\n")
        assert slow.recv(65536).startswith(b"HTTP/1.1 100")  # it waits for the body now
        service.process.send_signal(how)
        deadline = time.monotonic() + PATIENCE
        while service.ask("GET", "/health", token="").fields["state"] != "stopping":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert service.ask("POST", "/service/link").status == 503
        slow.sendall(b"{}")
        assert slow.recv(65536).startswith(b"HTTP/1.1 200")
    assert service.process.wait(PATIENCE) == 0
    assert not service.place.path("json").exists()


def test_what_a_killed_service_left_is_stale_and_replaced(service: Service) -> None:
    service.process.kill()
    service.process.wait()
    assert service.place.path("json").exists()
    assert find_service(service.place) is None
    again = Service(service.vault)
    assert again.runtime.pid == again.process.pid
    assert again.end() == 0


def test_a_service_that_nobody_asks_ends_by_itself(vault: Vault) -> None:
    idle = Service(vault, "--idle", "0.01")
    for _ in range(4):  # asking for its health does not keep it
        time.sleep(0.1)
        with suppress(ConnectionError):  # it may have ended
            idle.ask("GET", "/health", token="")
    assert idle.process.wait(PATIENCE) == 0
    assert not is_at_work(idle.place)
    idle.end()


def test_a_link_opens_the_page_once(service: Service) -> None:
    ran = CliRunner().invoke(cli, ["--vault", str(service.vault.root), "serve", "--open", "--json"], obj=Session())
    path = json.loads(ran.output)["link"].removeprefix(service.runtime.url)
    first = service.ask("GET", path, token="")
    assert (first.status, first.headers["location"]) == (303, "/")
    assert "HttpOnly" in first.headers["set-cookie"]
    assert "SameSite=Strict" in first.headers["set-cookie"]
    assert service.ask("GET", path, token="").status == 403
    cookie = first.headers["set-cookie"].split(";")[0]
    own = f"http://127.0.0.1:{service.runtime.port}"
    assert service.ask("GET", "/openapi.json", token="", Cookie=cookie).status == 200
    assert service.ask("POST", "/service/link", token="", Cookie=cookie, Origin=own).status == 200
    assert service.ask("POST", "/service/link", token="", Cookie=cookie).status == 403
    assert service.ask("POST", "/service/link", token="", Cookie=cookie, Origin="http://evil.example").status == 403


def test_beyond_the_loopback_a_token_of_ones_own_is_wanted(vault: Vault) -> None:
    command = [sys.executable, "-m", "memtool", "--vault", str(vault.root), "serve", "--host", "0.0.0.0", "--port", "0"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ran.returncode == 30
    assert "MEMTOOL_TOKEN" in ran.stderr
    short = {**environ, "MEMTOOL_TOKEN": "short"}
    ran = subprocess.run(command[:-4], env=short, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ran.returncode == 30
    foreign = {**environ, "MEMTOOL_TOKEN": "我自己的令牌，很长很长很长很长很长"}
    ran = subprocess.run(command[:-4], env=foreign, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (ran.returncode, "cannot be sent in a header" in ran.stderr) == (30, True)
    open_to_all = Service(vault, "--host", "0.0.0.0", MEMTOOL_TOKEN="a token of my own")
    assert open_to_all.ask("GET", "/openapi.json").status == 200
    assert open_to_all.ask("GET", "/openapi.json", Host="10.0.0.1").status == 421
    assert not open_to_all.place.path("token").exists()
    stop = [*command[:5], "serve", "--stop"]
    ran = subprocess.run(stop, env=environ, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (ran.returncode, ran.stdout) == (0, "The service has ended.\n")  # whatever the token: the socket is ours
    open_to_all.process.wait(PATIENCE)  # a signal might meet it on its way out
    assert open_to_all.end() == 0


def test_a_port_that_is_taken_is_named(vault: Vault) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [sys.executable, "-m", "memtool", "--vault", str(vault.root), "serve", "--port"]
        environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        ran = subprocess.run(
            [*command, str(taken.getsockname()[1])],
            env=environ, capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
    assert ran.returncode == 1
    assert "cannot listen" in ran.stderr


def test_heads_that_never_end_and_many_connections_do_not_stop_it(lasting: Service) -> None:
    address = (lasting.runtime.host, lasting.runtime.port)
    held = [socket.create_connection(address, timeout=PATIENCE) for _ in range(450)]
    for one in held[:50]:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: ")
    time.sleep(0.3)
    for one in held[:100]:
        one.close()
    time.sleep(0.3)
    assert lasting.ask("GET", "/health", token="").status == 200
    waiting = held[100]
    waiting.settimeout(15.0)
    assert waiting.recv(1) == b""  # nothing was asked for ten seconds
    for one in held[100:]:
        one.close()


def test_a_lock_that_is_held_is_a_service_that_starts(vault: Vault) -> None:
    place = service_place(user_cache_path(os.environ), vault.root)
    place.folder.mkdir(parents=True)
    with lock(place.path("lock"), timeout=0):
        ran = CliRunner().invoke(cli, ["--vault", str(vault.root), "serve", "--status"], obj=Session())
    assert (ran.exit_code, ran.output) == (1, "starting\n")


def test_options_that_exclude_each_other_are_named(vault: Vault) -> None:
    ran = CliRunner().invoke(cli, ["--vault", str(vault.root), "serve", "--stop", "--status"], obj=Session())
    assert "exclude each other" in str(ran.exception)
