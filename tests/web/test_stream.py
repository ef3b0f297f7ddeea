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

from memtool.recall.event_log import EventLog
from memtool.recall.timeline import Event

pytestmark = pytest.mark.slow


class Reader:
    """Somebody who reads the stream of a service."""

    def __init__(self, service: Service, last_id: int | None = None) -> None:
        self.connection = HTTPConnection(service.runtime.host, service.runtime.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {service.token}"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        self.connection.request("GET", "/stream", headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.headers["content-type"].startswith("text/event-stream")

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


def test_what_is_saved_is_on_the_stream_within_a_second_and_missed_by_nobody(service: Service) -> None:
    service.get("/memories")
    time.sleep(1.0)  # the log has begun
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


def put_events(service: Service, many: int) -> None:
    """Write *many* events into the log, as if they had happened."""
    fields = json.dumps(Event("2026-02-10", "", "fact", "", "茶", "x.md", 1, "x"))
    with closing(sqlite3.connect(service.work.index_folder / "events.sqlite", timeout=PATIENCE)) as db, db:
        db.executemany("INSERT INTO event (at, fields) VALUES ('2026-02-10', ?)", [(fields,)] * many)


def test_ten_readers_get_every_one_of_ten_thousand_events_once_also_after_a_cut(service: Service) -> None:
    service.get("/memories")
    time.sleep(1.0)
    log = EventLog(service.work.index_folder)
    many, new, got = 10_000, 400, [[] for _ in range(10)]  # type: ignore[var-annotated]
    put_events(service, many - new)

    def read(mine: list[int]) -> None:
        last = 0
        while len(mine) < many:
            reader = Reader(service, last_id=last)
            for number, event in reader.events():
                if event["type"] == "connected":
                    continue
                mine.append(number)
                last = number
                if len(mine) in (1_200, 7_777, many - new // 2, many):  # cut
                    break
            reader.close()

    readers = [threading.Thread(target=read, args=(mine,), daemon=True) for mine in got]
    for reader in readers:
        reader.start()
    facts = [
        {"id": f"f{n}", "fact": f"Fact {n} says {n}.", "timestamp": "2026-02-10", "status": "active"}
        for n in range(new)
    ]
    path = service.vault.root / "areas/global/facts.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    for part in (100, 300, new):
        path.write_text(json.dumps({"facts": facts[:part]}), encoding="utf-8")
        time.sleep(0.5)
    for reader in readers:
        reader.join(3 * PATIENCE)
    assert log.last_id() == many
    assert all(mine == list(range(1, many + 1)) for mine in got)


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
