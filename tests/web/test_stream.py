from __future__ import annotations

import json
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import pytest
from web.service import PATIENCE, Service

pytestmark = pytest.mark.slow

MANY, PART = 10_000, 500  # events


class Reader:
    """Somebody who reads the stream of a service."""

    def __init__(self, service: Service, last_id: int | None = None) -> None:
        self.connection = HTTPConnection(service.runtime.host, service.runtime.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {service.token}"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        self.connection.request("GET", "/stream", headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.headers["content-type"].startswith("text/event-stream"), self.response.read()

    def events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Give each event with its number, the greeting first, until the stream ends."""
        number = 0
        for line in iter(self.response.readline, b""):
            if line.startswith(b"id: "):
                number = int(line[4:])
            elif line.startswith(b"data: "):
                yield number, json.loads(line[6:])

    def close(self) -> None:
        self.response.close()
        self.connection.close()


def wait_until_followed(service: Service) -> None:
    """Wait until the log of events has begun: what was written before is none."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with closing(sqlite3.connect(service.work.index_folder / "events.sqlite")) as db:
            if (
                db.execute("SELECT 1 FROM sqlite_master WHERE name = 'begun'").fetchone()
                and db.execute("SELECT 1 FROM begun").fetchone()
            ):
                return
        time.sleep(0.02)
    raise AssertionError("the service follows no vault")


def test_what_is_saved_is_on_the_stream_within_a_second_and_missed_by_nobody(service: Service) -> None:
    wait_until_followed(service)
    reader = Reader(service)
    events = reader.events()
    assert next(events)[1] == {"type": "connected"}
    started = time.monotonic()
    service.post("/save", {"content": "令牌有效期 24 小时。", "project": "shop"})
    number, event = next(events)
    assert time.monotonic() - started < 3.0  # one second on a machine that does nothing else
    assert (event["type"], event["kind"], event["text"]) == ("new_observation", "fact", "令牌有效期 24 小时。")
    reader.close()
    service.post("/save", {"content": "Deploys happen on Tuesdays."})
    again = Reader(service, last_id=number)
    events = again.events()
    assert next(events)[0] == number
    assert next(events)[1]["text"] == "Deploys happen on Tuesdays."
    again.close()


def test_streams_end_with_the_service(service: Service) -> None:
    reader = Reader(service)
    events = reader.events()
    next(events)
    started = time.monotonic()
    assert service.end() == 0
    assert list(events) == []
    reader.close()
    assert time.monotonic() - started < 5.0


def write_facts(service: Service, project: str, many: int) -> None:
    facts = [
        {"id": f"{project}-{n}", "fact": f"事实 {n} of {project}.", "timestamp": "2026-02-10", "status": "active"}
        for n in range(many)
    ]
    path = service.vault.root / f"areas/projects/{project}/facts.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"facts": facts}), encoding="utf-8")


def read_all(service: Service, mine: list[int], connected: threading.Barrier) -> None:
    """Put the numbers of `MANY` events into *mine*, by a reader that is cut off three times in the middle."""
    last = None
    while len(mine) < MANY:
        reader = Reader(service, last_id=last)
        for number, event in reader.events():
            if event["type"] == "connected":
                _ = connected.wait(PATIENCE) if last is None else None
            else:
                mine.append(number)
            last = number
            if len(mine) in (700, 5_200, 7_777, MANY) and event["type"] != "connected":
                break
        reader.close()


def test_ten_readers_get_each_of_ten_thousand_live_events_once_also_after_a_cut(service: Service) -> None:
    """The next part is written when every reader has begun with the last: nothing is read from the log alone."""
    got: list[list[int]] = [[] for _ in range(10)]
    connected = threading.Barrier(len(got) + 1)
    wait_until_followed(service)
    readers = [threading.Thread(target=read_all, args=(service, mine, connected), daemon=True) for mine in got]
    for reader in readers:
        reader.start()
    connected.wait(PATIENCE)
    deadline = time.monotonic() + 10 * PATIENCE
    for written in range(0, MANY, PART):
        write_facts(service, f"p{written}", PART)
        while min(map(len, got)) <= written:
            assert time.monotonic() < deadline, [*map(len, got)]
            time.sleep(0.02)
    for reader in readers:
        reader.join(max(0.0, deadline - time.monotonic()))
    first = got[0][0]
    assert all(mine == list(range(first, first + MANY)) for mine in got)


def test_a_reader_that_goes_away_is_no_burden(service: Service) -> None:
    for _ in range(60):
        with socket.create_connection((service.runtime.host, service.runtime.port), timeout=PATIENCE) as peer:
            peer.sendall(
                b"GET /stream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n"
                % (service.runtime.port, service.token.encode())
            )
            assert peer.recv(15) == b"HTTP/1.1 200 OK"
    time.sleep(0.5)
    Reader(service).close()
