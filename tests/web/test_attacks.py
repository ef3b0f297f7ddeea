"""Load and attacks on a real service, on the loopback and bounded: it refuses, and is there afterwards."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from web.service import Service

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("HAMMER_SECONDS", "3"))  # thirty show what three hardly do
PATIENCE = 90.0


def is_well(service: Service) -> bool:
    return bool(service.ask("GET", "/health", token="").fields["state"] == "ready")


def memory(service: Service) -> int:
    """Return the resident memory of the service in bytes."""
    fields = Path(f"/proc/{service.process.pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def hammer(service: Service, number: int, until: float) -> list[object]:
    """Ask without a pause, as one of many, and return what was no answer."""
    chance, faults = Random(number), list[object]()
    connection = HTTPConnection(service.runtime.host, service.runtime.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {service.token}", "Content-Type": "application/json"}
    while time.monotonic() < until:
        words = chance.choice(["茶 水温", "deploys tuesdays", "getUserById", "memory"])
        method, path, body = chance.choice(
            [("POST", "/search", f'{{"query": "{words}"}}'), ("GET", "/memories?limit=5", None),
             ("GET", f"/api/search?query={quote(words)}", None), ("GET", "/health", None)]
        )  # fmt: skip
        try:
            connection.request(method, path, body and body.encode(), headers)
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                faults.append(response.status)
        except OSError as error:
            faults.append(error)
            connection.close()
    connection.close()
    return faults


def test_fifty_clients_at_once_are_all_answered_while_the_vault_changes(service: Service) -> None:
    until = time.monotonic() + SECONDS
    folder = service.vault.root / "areas/global/knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(50) as clients:
        asked = [clients.submit(hammer, service, number, until) for number in range(50)]
        number = 0
        while time.monotonic() < until:
            number += 1
            path = folder / f"{number % 7}.md"
            if number % 3:
                path.write_text(f"# 茶 {number}\n\n水温 {number} 度。\n", encoding="utf-8")
            else:
                path.unlink(missing_ok=True)
            time.sleep(0.05)
        faults = [fault for each in asked for fault in each.result()]
    assert faults == []
    assert is_well(service)
    if sys.platform == "linux":
        assert memory(service) < 90e6


def test_ten_thousand_connections_leave_it_well(lasting: Service) -> None:
    address = (lasting.runtime.host, lasting.runtime.port)
    for _ in range(25):
        held = [socket.create_connection(address, timeout=PATIENCE) for _ in range(400)]
        for one in held:
            one.close()
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            assert is_well(lasting)
            break
        except OSError:  # those that hung up are still being counted
            assert time.monotonic() < deadline
            time.sleep(0.2)
    assert lasting.get("/memories")["limit"] == 20


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of another process")
@pytest.mark.parametrize("head", ["Content-Length: 104857600", "Transfer-Encoding: chunked"])
def test_a_hundred_megabytes_are_neither_taken_nor_held(lasting: Service, head: str) -> None:
    before = memory(lasting)
    with socket.create_connection((lasting.runtime.host, lasting.runtime.port), timeout=PATIENCE) as peer:
        peer.sendall(
            f"POST /save HTTP/1.1\r\nHost: 127.0.0.1:{lasting.runtime.port}\r\n{head}\r\n"
            f"Authorization: Bearer {lasting.token}\r\n\r\n".encode()
        )
        part = b"10000\r\n" + b"x" * 65_536 + b"\r\n" if "chunked" in head else b"x" * 65_536
        sent = 0
        try:
            while sent < 100 << 20:
                peer.sendall(part)
                sent += len(part)
        except OSError:  # it has hung up
            pass
        try:
            told = peer.recv(100)
        except OSError:
            told = b""
    assert told == b"" or b" 413 " in told
    assert sent < 20 << 20
    assert memory(lasting) < before + 20e6
    assert is_well(lasting)


TRAVERSALS = (
    "/memory/../../../etc/passwd", "/memory/..%2f..%2f..%2fetc%2fpasswd", "/memory//etc/passwd", "/memory/%00",
    "/memory/areas/../../x", "/memory/.memtool/queue", "/memory/.git/config", "/static/../app.py",
    "/static/%2e%2e/app.py", "/read/../../etc/passwd", "/jobs/../x", "/memory/C:%5Cwindows",
    "/api/observations?ids=../../etc/passwd",
    "/api/session/status?session_id=../../../etc/passwd", "/api/data/export?project=../..",
)  # fmt: skip


def test_no_path_leads_out(lasting: Service) -> None:
    (lasting.vault.root.parent / "x.md").write_text("# outside\n")
    for path in TRAVERSALS:
        answer = lasting.ask("GET", path)
        assert answer.status in (400, 404, 422) or b'"missing": ["' in answer.body or b'"missing":["' in answer.body, (
            path
        )
        for betrayed in (b"root:", b"# outside", b"[core]", b"def make_app"):
            assert betrayed not in answer.body, path
    assert is_well(lasting)


def test_a_body_that_drips_does_not_hold_up_others(lasting: Service) -> None:
    stop = threading.Event()

    def drip() -> None:
        with socket.create_connection((lasting.runtime.host, lasting.runtime.port), timeout=PATIENCE) as peer:
            peer.sendall(
                f"POST /save HTTP/1.1\r\nHost: 127.0.0.1:{lasting.runtime.port}\r\nContent-Length: 1000\r\n"
                f"Authorization: Bearer {lasting.token}\r\n\r\n".encode()
            )
            try:
                while not stop.wait(0.1):
                    peer.sendall(b" ")
            except OSError:
                pass

    slow = [threading.Thread(target=drip) for _ in range(60)]
    for one in slow:
        one.start()
    time.sleep(0.5)
    assert lasting.get("/memories")["total"] >= 0
    stop.set()
    for one in slow:
        one.join(PATIENCE)


def read_until_closed(peer: socket.socket) -> bytes:
    """Return what *peer* sends until it closes the connection."""
    parts = b""
    while part := peer.recv(65_536):
        parts += part
    return parts


@pytest.mark.parametrize("path", ["/health", "/memories"])
def test_a_stranger_keeps_no_connection(lasting: Service, path: str) -> None:
    with socket.create_connection((lasting.runtime.host, lasting.runtime.port), timeout=PATIENCE) as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{lasting.runtime.port}\r\n\r\n".encode())
        assert b"connection: close" in read_until_closed(peer).lower()


def test_the_second_head_of_a_connection_has_ten_seconds_as_well(lasting: Service) -> None:
    connection = HTTPConnection(lasting.runtime.host, lasting.runtime.port, timeout=PATIENCE)
    connection.request("GET", "/health", headers={"Authorization": f"Bearer {lasting.token}"})
    connection.getresponse().read()
    connection.sock.sendall(b"GET /health")
    started = time.monotonic()
    assert read_until_closed(connection.sock) == b""
    assert time.monotonic() - started < 25  # without a byte of the next head it would be kept for thirty
    connection.close()


def test_whoever_drips_does_not_shut_the_owner_out(lasting: Service) -> None:
    address = (lasting.runtime.host, lasting.runtime.port)
    held = [socket.create_connection(address, timeout=PATIENCE) for _ in range(430)]
    try:
        for one in held:
            with contextlib.suppress(OSError):  # it had to give way
                one.sendall(b"G")
        for _ in range(3):
            assert lasting.get("/memories")["limit"] == 20
    finally:
        for one in held:
            one.close()
