from __future__ import annotations

from collections.abc import Iterator

import pytest
from desk import Desk
from fastapi.testclient import TestClient

from memtool.capture.log import ERROR, LogEntry, log
from memtool.web.app import make_app
from memtool.web.gate import Access
from memtool.web.life import Life

DAY = """---
type: daily
date: 2026-02-09
---

# Daily: 2026-02-09

- 09:05 **shop**: `a.ts`, `支付.ts`
- 09:30 **teahouse**: `茶.py`
"""


@pytest.fixture
def client(desk: Desk) -> Iterator[TestClient]:
    """Whoever has passed the gate, at a vault with a day of edits and a fact."""
    path = desk.vault.root / "daily/2026-02-09.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(DAY, encoding="utf-8")
    desk.remember("令牌有效期 24 小时。", tags=("auth",))
    app = make_app(lambda _folder: desk.work, Access("a token that nobody guesses", ["testserver"], 80), Life())
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def titles(client: TestClient, **asked: object) -> list[str]:
    answer = client.get("/api/timeline", params=asked)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    return [each["title"] for each in answer.json()["observations"]]


@pytest.mark.slow
def test_a_timeline_tells_what_happened_around_something(client: TestClient) -> None:
    assert titles(client) == ["a.ts, 支付.ts", "茶.py", "令牌有效期 24 小时。"]
    assert titles(client, depth_before=1) == ["令牌有效期 24 小时。"]
    assert titles(client, query="令牌", depth_before=1) == ["茶.py", "令牌有效期 24 小时。"]
    assert titles(client, anchor="2026-02-09T09:10", depth_before=1, depth_after=1) == ["a.ts, 支付.ts", "茶.py"]
    assert titles(client, project="teahouse") == ["茶.py"]  # of the day that all projects share
    assert client.get("/api/timeline", params={"anchor": "x", "query": "y"}).status_code == 400
    assert client.get("/api/timeline", params={"anchor": "nothing"}).status_code == 404


@pytest.mark.slow
def test_observations_are_read_by_their_ids(client: TestClient, desk: Desk) -> None:
    fact = desk.facts()[0].id
    edit = client.get("/api/timeline").json()["observations"][0]
    answer = client.get("/api/observations", params={"ids": f"{fact},{edit['id']},nothing"}).json()
    told = {each["id"]: each for each in answer["observations"]}
    assert answer["missing"] == ["nothing"]
    assert (told[fact]["narrative"], told[fact]["concepts"]) == ("令牌有效期 24 小时。", ["auth"])
    assert told[edit["id"]]["files_modified"] == ["a.ts", "支付.ts"]
    many = ",".join(map(str, range(101)))
    assert client.get("/api/observations", params={"ids": many}).status_code == 400


@pytest.mark.slow
def test_a_memory_by_hand_is_a_fact_or_with_a_title_a_note(client: TestClient, desk: Desk) -> None:
    fact = client.post("/api/memory/save", json={"text": "Deploys happen on Tuesdays.", "project": "shop"}).json()
    assert fact["stored"]
    again = client.post("/api/memory/save", json={"text": "Deploys happen on Tuesdays.", "project": "shop"}).json()
    assert (again["stored"], again["id"]) == (False, fact["id"])
    note = client.post("/api/memory/save", json={"text": "服务之间必须互相认证。", "title": "Why JWT"}).json()
    assert "# Why JWT" in desk.read(note["id"])


@pytest.mark.slow
def test_everything_comes_out_as_one_document(client: TestClient) -> None:
    assert "令牌有效期 24 小时。" in client.get("/api/data/export").content.decode()
    assert client.get("/api/data/export", params={"project": "nobody"}).status_code == 404


@pytest.mark.slow
def test_settings_tell_where_they_come_from_and_no_key(client: TestClient) -> None:
    told = {each["key"]: each for each in client.get("/api/settings").json()["settings"]}
    assert told["search.limit"]["value"] == 6
    assert all("key" not in name or name.endswith("key_env") for name in told)


@pytest.mark.slow
def test_the_log_is_told_newest_first(client: TestClient, desk: Desk) -> None:
    for number in range(3):
        log([desk.vault.state_path], LogEntry(desk.now.isoformat(), ERROR, "worker", f"fault {number}"))
    told = [each["message"] for each in client.get("/api/logs", params={"limit": 2}).json()["entries"]]
    assert told == ["fault 2", "fault 1"]
