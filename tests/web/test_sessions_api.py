from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from desk import Desk
from fastapi.testclient import TestClient
from index.test_turns import TURNS, keep
from trees import write

from memtool.capture.heard import heard_path
from memtool.index.engine import place_of
from memtool.index.turn_table import follow_sources
from memtool.settings.sections import CaptureSettings
from memtool.web.app import make_app
from memtool.web.gate import Access
from memtool.web.life import Life

SECRET = "sk-ant-api03-" + "a1B2" * 20


@pytest.fixture
def client(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr("memtool.capture.queue.start_worker", lambda *_: False)  # the desk drains
    app = make_app(
        lambda folder: desk.work._replace(folder=folder or desk.folder),
        Access("a token that nobody guesses", ["testserver"], 80),
        Life(),
    )
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def post(client: TestClient, path: str, **body: Any) -> Any:
    answer = client.post(f"/api/session/{path}", json=body)
    assert answer.status_code in (200, 202), answer.text
    return answer.json()


def work_a_while(client: TestClient, session: str = "s-1") -> None:
    """Let a session decide, edit, test, and sum up."""
    post(client, "init", session_id=session, prompt="登录改用 JWT，不再用服务器会话", project="shop")
    post(client, "observation", session_id=session, tool_name="Write", tool_input={"file_path": "/src/jwt.ts"})
    post(
        client, "observation", session_id=session, tool_name="Bash", exit_code=0,
        tool_input={"command": f"TOKEN={SECRET} pytest tests/auth"}, tool_response={"stdout": "3 passed"},
    )  # fmt: skip
    post(client, "summarize", session_id=session, completed="Login by JWT.", learned="Access tokens live 24 hours.")


@pytest.mark.slow
def test_a_session_by_http_becomes_a_note_as_all_others_do(client: TestClient, desk: Desk) -> None:
    work_a_while(client)
    told = client.get("/api/session/status", params={"session_id": "s-1"}).json()
    assert (told["status"], told["prompts"], told["queue"], told["queue_depth"]) == ("active", 1, "pending", 1)
    desk.drain()
    note = desk.read("sessions/s-1.md")
    assert "登录改用 JWT" in note
    assert "jwt.ts" in note
    assert "Access tokens live 24 hours" in note
    assert "project: shop" in note
    assert "`/src/jwt.ts`" in desk.read("daily/2026-02-10.md")
    done = post(client, "complete", session_id="s-1")
    assert (done["status"], done["completed_at"]) == ("completed", desk.now.isoformat())
    desk.drain()
    told = client.get("/api/session/status", params={"session_id": "s-1"}).json()
    assert (told["status"], told["queue"], told["queue_depth"]) == ("completed", "", 0)
    assert post(client, "init", session_id="s-1", prompt="weiter")["status"] == "active"  # it is resumed
    assert not desk.told


PARTS = {
    "request": "发票导出", "investigated": "ReportLab and WeasyPrint.",
    "learned": "ReportLab 需要字体：\n\"Noto\" works.",
    "completed": "Invoices are PDF by ReportLab.", "next_steps": "Fonts for Chinese.",
}  # fmt: skip


def found_session(client: TestClient) -> Any:
    return client.get("/api/search", params={"type": "sessions"}).json()["sessions"][0]


@pytest.mark.slow
def test_the_five_parts_of_a_summary_are_kept_and_given_back(client: TestClient, desk: Desk) -> None:
    post(client, "init", session_id="s-1", prompt="Export the invoices as PDF", project="shop")
    edit = {"tool_name": "Write", "tool_input": {"file_path": "/src/pdf.ts"}}
    post(client, "observation", session_id="s-1", **edit)
    post(client, "summarize", session_id="s-1", **{**PARTS, "learned": f"{PARTS['learned']} {SECRET}"})
    desk.drain()
    told = found_session(client)
    assert told["learned"][0].startswith(PARTS["learned"])
    assert {name: told[name] for name in PARTS if name != "learned"} == {
        name: [text] if name != "request" else text for name, text in PARTS.items() if name != "learned"
    }
    assert (told["project"], told["outcome"]) == ("shop", "Invoices are PDF by ReportLab.")
    read = client.get("/api/observations", params={"ids": told["id"]}).json()["observations"][0]
    assert (read["next_steps"], read["outcome"], read["project"]) == (told["next_steps"], told["outcome"], "shop")
    note = desk.read("sessions/s-1.md")
    assert "# Invoices are PDF by ReportLab.\n\nAsked: “Export the invoices as PDF”\n" in note
    assert SECRET.encode() not in desk.everything()


@pytest.mark.slow
def test_a_summary_outlives_the_service_and_a_later_prompt(client: TestClient, desk: Desk) -> None:
    post(client, "init", session_id="s-1", prompt="Export the invoices as PDF", project="shop")
    post(client, "summarize", session_id="s-1", **PARTS)
    desk.drain()
    before = found_session(client)
    post(client, "init", session_id="s-1", prompt="Now add the fonts for Chinese", project="shop")
    post(client, "observation", session_id="s-1", tool_name="Write", tool_input={"file_path": "/src/fonts.ts"})
    post(client, "complete", session_id="s-1")
    desk.drain()
    shutil.rmtree(desk.vault.state_path)
    after = found_session(client)
    assert {name: after[name] for name in PARTS} == {name: before[name] for name in PARTS}
    assert re.search(r"\nsize: [1-9]\d+\n", desk.read("sessions/s-1.md"))


@pytest.mark.slow
def test_a_project_is_the_area_of_that_name(client: TestClient, desk: Desk) -> None:
    desk.remember("Teas are brewed for three minutes.", project="茶馆")
    summary = "---\ntype: project\nidentities: [example.org/ana/shop]\n---\n\n# Shop\n"
    write(desk, "areas/projects/Shop/summary.md", summary)
    for session, project, area in (("s-1", "茶馆", "茶馆"), ("s-2", "shop", "Shop"), ("s-3", "new one", "new-one")):
        post(client, "init", session_id=session, prompt="Brew the tea for longer", project=project)
        post(client, "summarize", session_id=session, completed="It is brewed for four minutes.")
        desk.drain()
        assert f"project: {area}\n" in desk.read(f"sessions/{session}.md").replace('"', "")
    assert desk.read("areas/projects/Shop/summary.md") == summary


@pytest.mark.slow
def test_no_secret_of_a_session_reaches_the_disk(client: TestClient, desk: Desk) -> None:
    post(client, "init", session_id="s-1", prompt=f"The key is {SECRET}", project="shop")
    work_a_while(client)
    desk.drain()
    assert SECRET.encode() not in desk.everything()


@pytest.mark.slow
def test_old_names_of_fields_are_understood(client: TestClient) -> None:
    told = post(client, "init", contentSessionId="s-2", userPrompt="Use tabs.")
    assert (told["session_id"], told["prompts"]) == ("s-2", 1)
    post(client, "observation", claudeSessionId="s-2", tool_name="Bash", tool_input={"command": "ls"}, tool_output="a")


@pytest.mark.slow
def test_a_session_of_which_nothing_was_told_is_not_found(client: TestClient) -> None:
    assert client.get("/api/session/status", params={"session_id": "none"}).status_code == 404
    for call in ("complete", "summarize", "observation"):
        body = {"session_id": "none", **({"tool_name": "Edit"} if call == "observation" else {})}
        assert client.post(f"/api/session/{call}", json=body).status_code == 404, call
    assert client.post("/api/session/init", json={"session_id": "../../x", "prompt": "hi"}).status_code == 200
    assert client.post("/api/session/init", json={"session_id": "s", "prompt": "hi", "cwd": "src"}).status_code == 400
    assert client.post("/api/session/summarize", json={"session_id": "s"}).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("is_typed", [False, True], ids=["told afterwards", "typed before"])
def test_what_was_asked_for_is_told_where_no_prompt_was(client: TestClient, desk: Desk, is_typed: bool) -> None:
    if is_typed:
        post(client, "init", session_id="s-9", prompt="登录改用 JWT，因为服务之间要互相验证。", cwd="/src/shop")
    edit = {"tool_name": "Write", "tool_input": {"file_path": "/src/shop/jwt.ts"}}
    post(client, "observation", session_id="s-9", cwd="/src/shop", **edit)
    post(client, "summarize", session_id="s-9", request="Logins of the shop by JWT", completed="Login by JWT.")
    desk.drain()
    note = desk.read("sessions/s-9.md").partition("\n# ")[2]
    assert ("Logins of the shop by JWT" in note, "登录改用 JWT" in note) == (not is_typed, is_typed)


@pytest.mark.slow
def test_names_of_sessions_lead_nowhere(client: TestClient, desk: Desk) -> None:
    post(client, "init", session_id="../../../x", prompt="hi")
    path = heard_path(desk.vault, "../../../x")
    assert path.is_relative_to(desk.vault.state_path / "heard")
    assert json.loads(path.read_text().splitlines()[0])["sessionId"] == "../../../x"


@pytest.mark.slow
def test_what_is_not_to_be_captured_is_not_kept(client: TestClient, desk: Desk) -> None:
    desk.settings = desk.settings._replace(capture=CaptureSettings(exclude=("/private/*",)))
    body = {"session_id": "s-3", "prompt": "秘密", "cwd": "/private/diary"}
    assert client.post("/api/session/init", json=body).json()["status"] == "skipped"
    assert not heard_path(desk.vault, "s-3").exists()


def test_the_turns_of_a_kept_session_are_read_and_found(client: TestClient, desk: Desk) -> None:
    keep(desk, "one", *TURNS)
    follow_sources(place_of(desk.work))
    whole = client.get("/api/session/turns", params={"session_id": "one", "turn": 2}).json()
    assert (whole["turns"], [row["number"] for row in whole["rows"]]) == (2, [2])
    assert "邮件队列改用幂等消费者" in whole["text"]
    listed = client.get("/api/session/turns", params={"session_id": "sessions/2026-02-01-one.md"}).json()
    assert (listed["text"], len(listed["rows"])) == ("", 2)
    assert client.get("/api/session/turns", params={"session_id": "none"}).status_code == 404
    assert client.get("/api/session/turns", params={"session_id": "one", "turn": 3}).status_code == 400
    for asked, kind in (({}, "transcript"), ({"transcripts": "only"}, "transcript"), ({"transcripts": "no"}, None)):
        found = client.post("/search", json={"query": "E4711 IdempotencyKeyFilter", **asked}).json()["memories"]
        assert (found[0]["kind"] if found else None) == kind, asked
        if kind:
            assert (found[0]["session"], found[0]["turn"]) == ("one", 1)
