from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from fastapi.testclient import TestClient
from trees import write

from memtool.web.app import make_app
from memtool.web.gate import Access
from memtool.web.life import Life
from memtool.web.turn_figures import turns_in

SESSION = """---
type: session
date: 2026-02-09
project: shop
---

# 登录改用 JWT

- **Project**: shop
- **Time**: 2026-02-09 14:30 (last update)

---

1. **Topic**: 登录改用 JWT
2. **Key points**:
   - [fix] `pytest tests/auth` failed with "clock skew" → leeway of 30 s in jwt.ts #auth
   - [finding] 令牌有效期 24 小时 (agent)
   - "Use JWT for the login" → done with refresh tokens · 已加测试
3. **Files**: jwt.ts
4. **Decisions**: JWT rather than server sessions (user)
5. **Done**: login and refresh routes
6. **Open**: rate limiting
"""


def said(role: str, content: object, message: str = "", **usage: int) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "id": message, "content": content, "usage": usage}}


def block(text: str, tool: str = "", **given: str) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": text},
        *([{"type": "tool_use", "id": text, "name": tool, "input": given}] if tool else []),
    ]


TRANSCRIPT = [
    said("user", "Use JWT for the login") | {"cwd": "/src/shop"},
    said("assistant", block("e", "Read", file_path="/src/shop/src/登录.ts")),
    said("assistant", block("e", "Read", file_path="/src/shop/src/登录.ts")),
    said("assistant", block("f", "Edit", file_path="/src/shop/src/jwt.ts")),
    said("assistant", block("a"), "m1", input_tokens=100, cache_read_input_tokens=90_000, output_tokens=20),
    said("assistant", block("b"), "m1", input_tokens=100, cache_read_input_tokens=90_000, output_tokens=20),
    said("assistant", block("c"), "m2", cache_creation_input_tokens=30, output_tokens=5),
    said("user", "再加限流"),
    said("assistant", block("g", "Read", file_path="/etc/hosts")),
    said("assistant", block("令牌有效期 24 小时，其余见配置。"), "m3", input_tokens=-4, output_tokens=7),
]


@pytest.fixture
def client(desk: Desk) -> Iterator[TestClient]:
    """Whoever has passed the gate, at a vault with a session, a day of edits, a fact, and what the client keeps."""
    for ref, text in {
        "sessions/s-1.md": SESSION,
        "daily/2026-02-08.md": "---\ntype: daily\ndate: 2026-02-08\n---\n\n- 09:05 **shop**: `a.ts`, `支付.ts`\n",
    }.items():
        write(desk, ref, text)
    desk.remember("Deploys happen on Tuesdays.", tags=("ops",))
    desk.remember("Staging is rebuilt each night.", source="s-1")
    folder = desk.home / ".claude/projects/-src-shop"
    folder.mkdir(parents=True)
    (folder / "s-1.jsonl").write_text("\n".join(map(json.dumps, TRANSCRIPT)))
    typed = {
        "display": "Use JWT for the login",
        "timestamp": 1_770_600_000_000,
        "project": "/src/shop",
        "sessionId": "s-1",
    }
    (desk.home / ".claude/history.jsonl").write_text(json.dumps(typed) + "\n{broken\n")
    app = make_app(lambda _folder: desk.work, Access("a token that nobody guesses", ["testserver"], 80), Life())
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def find(client: TestClient, **asked: Any) -> Any:
    answer = client.get("/api/search", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def titles(client: TestClient, **asked: Any) -> list[str]:
    return [one["title"] for one in find(client, type="observations", **asked)["observations"]]


@pytest.mark.slow
def test_statements_of_sessions_edits_and_facts_are_observations(client: TestClient) -> None:
    assert titles(client, query="令牌有效期") == ["令牌有效期 24 小时"]
    assert titles(client, query="Deploys") == ["Deploys happen on Tuesdays."]
    assert titles(client, query="支付") == ["a.ts, 支付.ts"]
    found = find(client, query="clock skew", type="observations")["observations"][0]
    assert (found["type"], found["session"], found["concepts"]) == ("fix", "s-1", ["auth"])
    assert (found["files_modified"], found["created_at"]) == (["jwt.ts"], "2026-02-09T14:30")
    again = client.get("/api/observations", params={"ids": found["id"]}).json()["observations"]
    assert again == [found]


@pytest.mark.slow
def test_what_finding_it_out_took_stands_beside_what_was_asked(client: TestClient) -> None:
    found = find(client, query="refresh tokens", type="observations")["observations"]
    told = {one["title"]: one["discovery_tokens"] for one in found}
    assert titles(client, query="已加测试") == ["已加测试"]  # which stands on the same line
    assert told["done with refresh tokens"] == 155  # each message once, and nothing that was read again
    assert find(client, type="sessions")["sessions"][0]["discovery_tokens"] == 162


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sessions/2026-02-09-登录改用-jwt.md", "sessions/2026/登录.md"])
def test_a_session_whose_note_bears_a_name_has_its_figures_and_its_id(
    client: TestClient, desk: Desk, name: str
) -> None:
    old = desk.vault.root / "sessions/s-1.md"
    write(desk, name, SESSION.replace("project: shop\n", "project: shop\nsession: s-1\n"))
    old.unlink()
    found = find(client, query="refresh tokens", type="observations")["observations"]
    told = {one["title"]: one for one in found}["done with refresh tokens"]
    assert (told["session"], told["discovery_tokens"], told["files_read"]) == ("s-1", 155, ["src/登录.ts"])
    summary = find(client, type="sessions")["sessions"][0]
    assert (summary["session"], summary["discovery_tokens"]) == ("s-1", 162)


@pytest.mark.slow
def test_files_that_a_turn_read_and_changed_are_told_with_its_statements(client: TestClient) -> None:
    of_prompt = find(client, query="refresh tokens", type="observations")["observations"][0]
    assert of_prompt["files_read"] == ["src/登录.ts"]
    assert of_prompt["files_modified"] == ["src/jwt.ts"]
    of_answer = find(client, query="令牌有效期", type="observations")["observations"][0]
    assert (of_answer["files_read"], of_answer["discovery_tokens"]) == (["/etc/hosts"], 7)
    assert titles(client, files="登录.ts", query="refresh tokens")
    session = client.get("/api/observations", params={"ids": "sessions/s-1.md"}).json()["observations"][0]
    assert session["files_read"] == ["src/登录.ts", "/etc/hosts"]
    assert session["files_modified"] == ["src/jwt.ts"]
    assert session["facts"] == ["Staging is rebuilt each night."]


def test_figures_that_are_none_count_for_nothing() -> None:
    lines = [json.dumps(one).encode() for one in TRANSCRIPT]
    turns = list(turns_in([b"{", b'"assistant"', b'["user"]', *lines], Path("/home/x")))
    assert [turn.tokens for turn in turns] == [0, 155, 7]
    assert [turn.read for turn in turns] == [(), ("src/登录.ts",), ("/etc/hosts",)]
    assert [turn.changed for turn in turns] == [(), ("src/jwt.ts",), ()]


@pytest.mark.slow
def test_without_a_query_the_filters_alone_decide(client: TestClient) -> None:
    assert titles(client, obs_type="decision,finding", project="shop") == [
        "令牌有效期 24 小时", "JWT rather than server sessions",
    ]  # fmt: skip
    assert titles(client, obs_type="discovery") == ["令牌有效期 24 小时"]
    assert titles(client, concepts="OPS") == ["Deploys happen on Tuesdays."]
    assert titles(client, files="支付.ts") == ["a.ts, 支付.ts"]
    assert titles(client, dateEnd="2026-02-08") == ["a.ts, 支付.ts"]
    assert titles(client, project="nothing") == []
    in_order = [one["created_at"] for one in find(client, type="observations", orderBy="date_asc")["observations"]]
    assert in_order == sorted(in_order)
    assert titles(client, limit=1, offset=1) == titles(client)[1:2]


@pytest.mark.slow
def test_sessions_and_prompts_are_found_beside_them(client: TestClient) -> None:
    found = find(client, query="JWT")
    session = found["sessions"][0]
    assert session["learned"][:2] == ['`pytest tests/auth` failed with "clock skew" → leeway of 30 s in jwt.ts #auth',
                                      "令牌有效期 24 小时"]  # fmt: skip
    assert session["completed"] == ["done with refresh tokens", "已加测试", "login and refresh routes"]
    assert session["next_steps"] == ["rate limiting"]
    assert [one["prompt"] for one in found["prompts"]] == ["Use JWT for the login"]
    assert find(client, type="prompts", query="nothing")["prompts"] == []
    assert find(client, type="prompts", dateStart="2026-02-10")["prompts"] == []
    assert client.get("/api/search", params={"typo": 1}).status_code == 422
    assert client.get("/api/search", params={"dateStart": "soon"}).status_code == 400


@pytest.mark.slow
def test_sessions_and_prompts_are_filtered_as_observations_are(client: TestClient) -> None:
    def sessions(**asked: str) -> list[str]:
        return [one["id"] for one in find(client, type="sessions", **asked)["sessions"]]

    assert sessions(obs_type="fix", concepts="auth") == sessions(files="jwt.ts") == ["sessions/s-1.md"]
    assert sessions(obs_type="refuted") == sessions(concepts="ops") == sessions(files="支付.ts") == []
    assert sessions(dateEnd="2026-02-08") == []
    assert find(client, type="sessions")["sessions"][0]["project"] == "shop"
    assert find(client, type="prompts", obs_type="fix")["prompts"] == []
    assert find(client, type="prompts", obs_type="prompt")["prompts"]
    assert titles(client, project="shop", obs_type="edit") == ["a.ts, 支付.ts"]  # of the note of all projects


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{}, {"query": "leeway"}], ids=["listed", "searched"])
def test_a_filter_reaches_what_lies_behind_hundreds_of_others(
    client: TestClient, desk: Desk, asked: dict[str, str]
) -> None:
    facts = [
        {
            "id": f"fact-{number}", "fact": f"leeway leeway leeway {number} 茶{number}", "evidence": "x",
            "category": "fact", "timestamp": "2026-02-10", "status": "active",
        }
        for number in range(900)
    ]  # fmt: skip
    write(desk, "areas/projects/many/facts.json", json.dumps({"facts": facts}))
    assert [one[:15] for one in titles(client, concepts="auth", **asked)] == ["`pytest tests/a"]
    assert titles(client, files="jwt.ts", obs_type="fix", **asked)
    oldest = find(client, type="observations", orderBy="date_asc", limit=1, **asked)["observations"][0]
    assert oldest["date"] < "2026-02-10"
    if not asked:  # of those that say nearly the same, a search gives one
        assert len(titles(client, project="many", limit=100, offset=820)) == 80


@pytest.mark.slow
def test_each_id_of_a_search_is_found_again(client: TestClient, desk: Desk) -> None:
    for ref, text in {
        "areas/projects/shop/summary.md": "---\ntype: project\n---\n\n# shop\n\n茶 and a shop.\n",
        "areas/projects/shop/knowledge/2026-02-08-a, b.md": "---\ntype: knowledge\n---\n\n# A, b\n\nText.\n",
        "daily/2026-02-07.md": "---\ntype: daily\ndate: 2026-02-07\n---\n\n今天很忙。\n\n- 09:05 **shop**: `a.ts`\n",
    }.items():
        write(desk, ref, text)
    found = find(client, limit=100)
    ids = [one["id"] for kind in ("observations", "sessions", "prompts") for one in found[kind]]
    assert len(ids) > 10
    answer = client.get("/api/observations", params={"ids": ids}).json()
    assert answer["missing"] == []
    assert [one["id"] for one in answer["observations"]] == list(dict.fromkeys(ids))
    one = client.get("/api/observations", params={"ids": found["prompts"][0]["id"]}).json()["observations"][0]
    assert (one["type"], one["narrative"], one["session"]) == ("prompt", "Use JWT for the login", "s-1")


@pytest.mark.slow
@pytest.mark.parametrize("key", ["search.limit", "nope", "llm.provider", "search.mode", "语言"])
def test_a_setting_that_is_refused_is_the_request_s_fault(client: TestClient, desk: Desk, key: str) -> None:
    before = desk.git("rev-parse", "HEAD")
    answer = client.post("/api/settings", json={key: "x"})
    assert answer.status_code == 400
    assert "command line" not in answer.text
    assert desk.git("rev-parse", "HEAD") == before


@pytest.mark.slow
def test_a_prompt_that_comes_by_http_is_found(client: TestClient, desk: Desk) -> None:
    client.post("/api/session/init", json={"session_id": "s-9", "prompt": "限流怎么做", "project": "shop"})
    found = find(client, type="prompts", query="限流")["prompts"]
    assert [(one["session"], one["prompt"], one["created_at"]) for one in found] == [
        ("s-9", "限流怎么做", desk.now.isoformat())
    ]


def done(client: TestClient, job: dict[str, Any]) -> Any:
    deadline = time.monotonic() + 20
    while job["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
        job = client.get(f"/jobs/{job['id']}").json()
    return job


@pytest.mark.slow
def test_an_export_comes_in_again_as_a_job(client: TestClient, desk: Desk) -> None:
    document = client.get("/api/data/export").content
    (desk.vault.root / "sessions/s-1.md").unlink()
    answer = client.post("/api/data/import", params={"dry_run": True}, content=document)
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/jobs/{answer.json()['id']}"
    assert done(client, answer.json())["result"]["added"] == ["sessions/s-1.md"]
    assert not (desk.vault.root / "sessions/s-1.md").exists()
    job = done(client, client.post("/api/data/import", content=document).json())
    assert (job["state"], job["done"]) == ("done", job["total"])
    assert desk.read("sessions/s-1.md") == SESSION
    assert done(client, client.post("/api/data/import", content=b"{}").json())["state"] == "failed"


@pytest.mark.slow
def test_settings_of_the_vault_are_changed_and_no_others(client: TestClient, desk: Desk) -> None:
    def change(**asked: Any) -> Any:
        return client.post("/api/settings", json={name.replace("__", "."): value for name, value in asked.items()})

    before = desk.read("memtool.toml")
    assert change(search__limit=10, language="zh").status_code == 200
    text = desk.read("memtool.toml")
    assert 'language = "zh"' in text
    assert "limit = 10" in text
    assert desk.git("log", "-1", "--format=%s").strip() == "settings: search.limit, language"
    for wrong in ({"search__limit": "many"}, {"search__mode": "x"}, {"llm__anthropic_url": "http://evil"}, {"x": 1}):
        answer = change(**wrong)
        assert answer.status_code in (400, 503), answer.text
    assert desk.read("memtool.toml") == text
    assert change(search__limit=None, language=None).status_code == 200
    assert tomllib.loads(desk.read("memtool.toml")) == tomllib.loads(before)
