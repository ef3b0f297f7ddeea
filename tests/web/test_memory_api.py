from __future__ import annotations

import base64
import shutil
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from fastapi.testclient import TestClient
from scripted_embeddings import serve_embeddings

from memtool.errors import Busy
from memtool.memory import limits, search
from memtool.settings.sections import EmbeddingSettings
from memtool.vault.layout import open_vault
from memtool.web.app import make_app
from memtool.web.gate import Access
from memtool.web.life import Life
from memtool.web.request_search import SearchAsked, search_vault


@pytest.fixture
def client(desk: Desk) -> Iterator[TestClient]:
    """Whoever has passed the gate."""
    access = Access("a token that nobody guesses", ["testserver"], 80)
    app = make_app(lambda _folder: desk.work._replace(vault=open_vault(desk.vault.root)), access, Life())
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def save(client: TestClient, content: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/save", json={"content": content, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def problem(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    fields = answer.json()
    assert fields["status"] == answer.status_code
    assert fields["detail"].endswith(".")
    return answer.status_code, fields["detail"]


@pytest.mark.slow
def test_what_is_saved_is_found_read_and_listed(client: TestClient) -> None:
    saved = save(client, "登录令牌有效期为 24 小时 (JWT)", tags=["auth"], category="decision", project="shop")
    assert saved["stored"]
    found = client.post("/search", json={"query": "令牌 有效期", "limit": 5}).json()
    assert [hit["id"] for hit in found["memories"]] == [saved["id"]]
    hit = found["memories"][0]
    assert (hit["category"], hit["tags"], hit["project"], hit["similarity"]) == ("decision", ["auth"], "shop", 1.0)
    assert 0.65 < hit["score"] <= 1.0
    read = client.get(f"/memory/{saved['id']}")
    assert read.json()["content"] == "登录令牌有效期为 24 小时 (JWT)"
    assert read.json()["access_count"] == 1  # the search counted
    listed = client.get("/memories", params={"kind": "fact", "category": "decision"}).json()
    assert (listed["total"], listed["memories"][0]["id"]) == (1, saved["id"])


@pytest.mark.slow
def test_a_near_duplicate_is_not_stored_and_counts_as_a_use(client: TestClient, desk: Desk) -> None:
    first = save(client, "The API listens on port 8080.")
    again = save(client, "The API listens on port 8080")
    assert (again["stored"], again["id"]) == (False, first["id"])
    assert client.get(f"/memory/{first['id']}").json()["access_count"] == 1
    assert len(desk.facts("areas/global/facts.json")) == 1


@pytest.mark.slow
def test_a_secret_is_taken_out_before_it_is_written(client: TestClient, desk: Desk) -> None:
    save(client, "The deploy key is AKIAIOSFODNN7EXAMPLE for the shop.")
    assert b"AKIAIOSFODNN7EXAMPLE" not in desk.everything()


@pytest.mark.slow
def test_a_change_keeps_what_was_and_names_its_successor(client: TestClient) -> None:
    saved = save(client, "Tokens live 24 hours.", category="decision", tags=["auth"])
    changed = client.put(f"/memory/{saved['id']}", json={"content": "Tokens live 12 hours.", "author": "user"}).json()
    assert changed["supersedes"] == saved["id"]
    assert (changed["category"], changed["tags"], changed["author"]) == ("decision", ["auth"], "user")
    old = client.get(f"/memory/{saved['id']}").json()
    assert (old["status"], old["superseded_by"]) == ("superseded", changed["id"])
    listed = client.get("/memories", params={"status": "superseded"}).json()
    assert [each["id"] for each in listed["memories"]] == [saved["id"]]


@pytest.mark.slow
def test_who_comes_second_is_told_so(client: TestClient) -> None:
    saved = save(client, "Tokens live 24 hours.")
    etag = client.get(f"/memory/{saved['id']}").headers["etag"]
    first = client.put(f"/memory/{saved['id']}", json={"category": "decision"}, headers={"If-Match": etag})
    assert (first.status_code, first.json()["category"]) == (200, "decision")
    for change in ({"category": "bug"}, {"content": "Tokens live 1 hour."}):
        late = client.put(f"/memory/{saved['id']}", json=change, headers={"If-Match": etag})
        assert problem(late)[0] == 412
    newer = client.put(
        f"/memory/{saved['id']}", json={"expires_at": "2027-01-01"}, headers={"If-Match": first.headers["etag"]}
    )
    assert newer.json()["expires_at"] == "2027-01-01"


@pytest.mark.slow
def test_a_note_is_changed_in_part_and_over_what_was_read(client: TestClient, desk: Desk) -> None:
    saved = save(client, "Why JWT: 服务之间必须互相认证。", kind="decision", project="shop")
    read = client.get(f"/memory/{saved['id']}")
    changed = client.put(
        f"/memory/{saved['id']}",
        json={
            "content": "# Why JWT\n\nServices authenticate each other.",
            "tags": ["auth", "两个词"],
            "summary": "JWT",
        },
        headers={"If-Match": read.headers["etag"]},
    )
    assert changed.json()["content"] == "# Why JWT\n\nServices authenticate each other."
    assert (changed.json()["tags"], changed.json()["summary"]) == (["auth", "两个词"], "JWT")
    assert "type: decision" in desk.read(saved["id"])
    path = desk.vault.root / saved["id"]
    path.write_text(path.read_text(encoding="utf-8") + "\nBy hand.\n", encoding="utf-8")
    late = client.put(f"/memory/{saved['id']}", json={"summary": "x"}, headers={"If-Match": changed.headers["etag"]})
    assert problem(late)[0] == 412
    assert "By hand." in desk.read(saved["id"])


@pytest.mark.slow
def test_what_is_deleted_is_archived_and_only_a_second_word_removes_it(client: TestClient, desk: Desk) -> None:
    saved = save(client, "Tokens live 24 hours.")
    assert client.delete(f"/memory/{saved['id']}").json()["changed"] is True
    assert client.post("/search", json={"query": "tokens"}).json()["memories"] == []
    archived = client.get("/memories", params={"status": "archived"}).json()["memories"]
    assert [each["id"] for each in archived] == [saved["id"]]
    assert problem(client.delete(f"/memory/{saved['id']}", params={"purge": True}))[0] == 428
    client.delete(
        f"/memory/{saved['id']}", params={"purge": True}, headers={"X-Confirm-Purge": saved["id"]}
    ).raise_for_status()
    assert desk.facts("areas/global/facts.json") == ()
    assert problem(client.get(f"/memory/{saved['id']}"))[0] == 404


@pytest.mark.slow
def test_a_change_is_taken_back_by_its_id(client: TestClient) -> None:
    saved = save(client, "Tokens live 24 hours.")
    changes = client.get("/changes", params={"limit": 1}).json()["changes"]
    assert changes[0]["deed"] == "remember"
    undone = client.post(f"/changes/{changes[0]['commit']}/undo").json()
    assert undone["undoes"] == changes[0]["commit"]
    assert problem(client.get(f"/memory/{saved['id']}"))[0] == 404
    assert problem(client.post(f"/changes/{changes[0]['commit']}/undo"))[0] == 400


@pytest.mark.slow
def test_the_summary_of_a_fact_is_kept_found_and_changed(client: TestClient) -> None:
    saved = client.post(
        "/save", json={"content": "访问令牌有效期 24 小时。", "summary": "Zugangsdauer", "project": "shop"}
    )
    fact = saved.json()["id"]
    assert client.get(f"/memory/{fact}").json()["summary"] == "Zugangsdauer"
    found = client.post("/search", json={"query": "Zugangsdauer"}).json()["memories"]
    assert [(one["id"], one["summary"]) for one in found] == [(fact, "Zugangsdauer")]
    changed = client.put(f"/memory/{fact}", json={"summary": "令牌 sk-ant-api03-" + "a1B2" * 20, "tags": ["auth"]})
    assert changed.status_code == 200, changed.text
    told = changed.json()
    assert (told["id"], told["tags"], told["content"]) == (fact, ["auth"], "访问令牌有效期 24 小时。")
    assert told["summary"].startswith("令牌 ")
    assert "a1B2a1B2" not in told["summary"]
    note = client.post("/save", json={"content": "Long. " * 500, "summary": "How deploys go"}).json()["id"]
    assert client.get(f"/memory/{note}").json()["summary"] == "How deploys go"


@pytest.mark.slow
def test_the_hour_counts_at_which_a_memory_expires(client: TestClient, desk: Desk) -> None:
    def found() -> list[str]:
        return [one["summary"][:15] for one in client.post("/search", json={"query": "bridge 桥"}).json()["memories"]]

    for text, expires in (("The bridge is closed.", "2026-02-10T15:00"), ("桥 opens again.", "2026-02-10T09:00:00Z")):
        assert client.post("/save", json={"content": text, "expires_at": expires}).json()["stored"]
    assert len(found()) == 2
    desk.pass_time(40 * 60)  # 15:10 in this zone
    assert found() == ["桥 opens again."]
    assert [fact.expires for fact in desk.facts("areas/global/facts.json")] == [
        "2026-02-10T15:00:00+08:00", "2026-02-10T09:00:00+00:00",
    ]  # fmt: skip
    answer = client.post("/save", json={"content": "It is over.", "expires_at": "2026-02-10T15:09"})
    assert answer.status_code == 400
    fact = desk.facts("areas/global/facts.json")[1].id
    client.put(f"/memory/{fact}", json={"expires_at": "2026-02-10T15:20:00+08:00"})
    desk.pass_time(20 * 60)
    assert found() == []


@pytest.mark.slow
def test_a_list_is_sorted_by_what_was_changed_last(client: TestClient, desk: Desk) -> None:
    ids = [desk.remember(text, project="").memory.id for text in ("First 一.", "Second 二.", "Third 三.")]
    desk.pass_time(60)
    client.put(f"/memory/{ids[1]}", json={"tags": ["auth"]})
    listed = client.get("/memories", params={"sort": "updated", "kind": "fact", "project": "global"}).json()
    assert listed["memories"][0]["id"] == ids[1]


@pytest.mark.slow
def test_lists_are_paged_and_sorted_by_use(client: TestClient) -> None:
    ids = [save(client, f"The port of service {name} is {8000 + n}.")["id"] for n, name in enumerate("abcdef")]
    client.post("/search", json={"query": "service c", "limit": 1})
    used = client.get("/memories", params={"kind": "fact", "sort": "use", "limit": 1}).json()
    assert used["memories"][0]["access_count"] == 1
    pages = [client.get("/memories", params={"kind": "fact", "limit": 4, "offset": n}).json() for n in (0, 4)]
    assert sorted(each["id"] for page in pages for each in page["memories"]) == sorted(ids)
    by_words = client.get("/memories", params={"sort": "relevance", "query": "service d", "limit": 2}).json()
    assert by_words["memories"][0]["id"] == ids[3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/search", {"query": "？！"}, 400),
        ("POST", "/search", {"query": "x", "since": "someday"}, 400),
        ("POST", "/search", {"query": "x", "limit": 1000}, 422),
        ("POST", "/search", {"quest": "x"}, 422),
        ("POST", "/search", b"{", 422),
        ("POST", "/search", b"\xff\xfe", 422),
        ("POST", "/save", {"content": ""}, 422),
        ("POST", "/save", {"content": "x y z", "category": "nonsense"}, 400),
        ("GET", "/memories?sort=relevance", None, 400),
        ("GET", "/memories?offset=10000000", None, 422),
        ("GET", "/memory/../../etc/passwd", None, 404),
        ("GET", "/memory/%2e%2e/%2e%2e/etc/passwd", None, 404),
        ("GET", "/memory/.git/config", None, 404),
        ("PUT", "/memory/nothing", {"category": "bug"}, 404),
        ("PUT", "/memory/nothing", {}, 400),
        ("DELETE", "/memory/nothing", None, 404),
        ("POST", "/changes/ffffffff/undo", None, 400),
        ("GET", "/nothing", None, 404),
        ("PATCH", "/search", None, 405),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_problem_with_a_sentence(
    client: TestClient, method: str, path: str, body: Any, status: int
) -> None:
    content = {"content": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
    headers = {"Content-Type": "application/json"} if isinstance(body, bytes) else {}
    assert problem(client.request(method, path, headers=headers, **content))[0] == status


@pytest.mark.slow
def test_without_a_model_vectors_are_refused_with_a_way_out(client: TestClient) -> None:
    status, detail = problem(client.post("/embed", json={"text": "why?"}))
    assert (status, "embedder" in detail) == (503, True)


@pytest.fixture
def model(desk: Desk) -> Iterator[None]:
    """A provider of vectors on the loopback."""
    with serve_embeddings() as server:
        settings = EmbeddingSettings(provider="openai", base_url=server.base_url, model="tiny")
        desk.settings = desk.settings._replace(embeddings=settings)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_vectors_are_made_as_openai_makes_them(client: TestClient) -> None:
    one = client.post("/embed", json={"text": "为什么用 JWT"}).json()
    assert (len(one["embedding"]), one["dimension"]) == (16, 16)
    answer = client.post("/v1/embeddings", json={"input": ["token", "令牌"], "model": "any"}).json()
    assert [each["index"] for each in answer["data"]] == [0, 1]
    assert answer["usage"]["total_tokens"] > 0
    packed = client.post("/v1/embeddings", json={"input": "token", "encoding_format": "base64"}).json()
    raw = base64.b64decode(packed["data"][0]["embedding"])
    assert list(struct.unpack("<16f", raw)) == pytest.approx(answer["data"][0]["embedding"])
    for wrong in ([1, 2], [[1]], [], [""], None, {"a": 1}, ["x"] * 257):
        assert problem(client.post("/v1/embeddings", json={"input": wrong}))[0] == 400
    assert problem(client.post("/v1/embeddings", json={"input": "x", "dimensions": 3}))[0] == 400


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_a_rebuild_is_a_job_that_tells_its_progress(client: TestClient) -> None:
    save(client, "Tokens live 24 hours.")
    started = client.post("/rebuild", json={"batch_size": 64})
    assert started.status_code == 202
    deadline = time.monotonic() + 20
    while (job := client.get(started.headers["location"]).json())["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert (job["state"], job["result"]["notices"]) == ("done", [])
    assert job["result"]["vectors"] > 0
    assert client.post("/search", json={"query": "tokens", "mode": "vector"}).json()["mode"] == "vector"


@pytest.mark.slow
def test_each_call_has_an_example(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    calls = [(path, method, call) for path, each in document["paths"].items() for method, call in each.items()]
    assert len(calls) > 10
    for path, method, call in calls:
        answers = {code: each for code, each in call["responses"].items() if code.startswith("2")}
        assert any("example" in kind for each in answers.values() for kind in each["content"].values()), (path, method)
        for kind in call.get("requestBody", {}).get("content", {}).values():
            assert "example" in kind, (path, method)


@pytest.mark.slow
def test_the_examples_of_requests_are_good_ones(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtool.capture.queue.start_worker", lambda *_: False)
    document = client.get("/openapi.json").json()
    for path, each in document["paths"].items():
        for method, call in each.items():
            asked = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
            if asked is not None and "{" not in path:
                assert client.request(method, path, json=asked).status_code not in (400, 422), path


@pytest.mark.slow
def test_a_vault_that_went_away_is_a_problem(client: TestClient, desk: Desk, tmp_path: Path) -> None:
    desk.vault.root.rename(tmp_path / "elsewhere")
    assert problem(client.post("/search", json={"query": "x y"}))[0] == 503


def test_whoever_brings_the_token_is_told_what_the_service_holds(client: TestClient, desk: Desk) -> None:
    desk.remember("登录令牌有效期为 24 小时")
    assert client.get("/memories").json()["total"] == 1  # the index has seen it
    assert client.get("/health").json().keys() == {"state", "version"}
    known = client.get("/health", headers={"authorization": "Bearer a token that nobody guesses"}).json()
    assert (known["model"], known["counts"]["fact"]) == (desk.settings.embeddings.provider, 1)
    assert "counts" not in client.get("/health", headers={"authorization": "Bearer another"}).json()


def test_health_waits_for_no_first_index(client: TestClient, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.remember("登录令牌有效期为 24 小时")
    shutil.rmtree(desk.work.index_folder, ignore_errors=True)
    monkeypatch.setattr(limits, "FILES_AT_ONCE", 0)
    known = client.get("/health", headers={"authorization": "Bearer a token that nobody guesses"}).json()
    assert known.keys() == {"state", "version", "model"}


def test_the_first_search_says_that_the_index_is_being_built(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(limits, "FILES_AT_ONCE", 0)
    monkeypatch.setattr(search, "_index_in_background", started.append)
    desk.vault.path("areas/global/knowledge").mkdir(parents=True, exist_ok=True)
    desk.vault.path("areas/global/knowledge/令牌.md").write_text("# 令牌\n\n有效期为 24 小时。\n", "utf-8")
    with pytest.raises(Busy, match=r"the index is being built: \d+ files") as caught:
        search_vault(desk.work, SearchAsked(query="令牌"))
    assert (caught.value.http_status, len(started)) == (503, 1)
    monkeypatch.setattr(limits, "FILES_AT_ONCE", 300)
    assert search_vault(desk.work, SearchAsked(query="令牌")).hits
