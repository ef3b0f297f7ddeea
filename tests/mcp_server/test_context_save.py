"""`context_save`: each entry as the right file, redacted, once; and what stands where one is refused."""

from __future__ import annotations

from typing import Any

import pytest
from desk import Desk
from mcp_server.agent import Agent

from memtool.settings.sections import ModelSettings

SUMMARY = """# Login moved to JWT

- tokens live 24 hours
- `pytest tests/auth` failed: clock skew → leeway of 30 s

## Decisions
- JWT rather than sessions (user)
- 订单号用 UUIDv7
**待办：**
- limit the rate

## Open
1. document it
"""


def entry(type: str, content: str, **more: Any) -> dict[str, Any]:
    return {"type": type, "content": content, **more}


@pytest.mark.slow
def test_each_entry_becomes_a_file_of_its_sort_and_a_commit(desk: Desk, agent: Agent, shop: str) -> None:
    answer = agent.call(
        "context_save",
        project_path=shop,
        entries=[
            entry("decision", "JWT 而不是会话：服务之间要互相认证。", title="登录用 JWT", tags=["auth"]),
            entry("change", "The login route moved to api/login.py."),
            entry("knowledge", "Run `make seed` before the tests."),
            entry("todo", "limit the rate of logins"),
        ],
    )
    assert answer.text.startswith(
        "All saved:\n1. saved decision areas/projects/shop/decisions/2026-02-10-登录用-jwt.md"
    )
    decision = desk.read("areas/projects/shop/decisions/2026-02-10-登录用-jwt.md")
    assert "title: 登录用 JWT\n" in decision
    assert "author: agent" in decision
    assert "tags: [auth]" in decision
    assert decision.endswith("# 登录用 JWT\n\nJWT 而不是会话：服务之间要互相认证。\n")
    assert "- [ ] limit the rate of logins" in desk.read("areas/projects/shop/todos.md")
    assert desk.git("log", "--format=%s").count("remember: shop") == 4
    assert desk.git("status", "--porcelain") == ""
    assert "互相认证" in agent.call("context_search", project_path=shop, query="认证", scope="decisions")


@pytest.mark.slow
def test_what_stands_already_is_not_written_twice(desk: Desk, agent: Agent, shop: str) -> None:
    entries = [entry("knowledge", "The deploy key is rotated monthly."), entry("session_summary", "Moved the login.")]
    agent.call("context_save", project_path=shop, entries=entries)
    before = desk.git("log", "--format=%h")
    answer = agent.call("context_save", project_path=shop, entries=entries)
    assert "1. known already: knowledge areas/projects/shop/knowledge/2026-02-10-the-deploy-key" in answer
    assert "2. known already: session_summary sessions/saved-" in answer
    assert desk.git("log", "--format=%h") == before


@pytest.mark.slow
def test_a_summary_becomes_a_session_that_the_next_one_begins_with(desk: Desk, agent: Agent, shop: str) -> None:
    agent.call("context_save", project_path=shop, entries=[entry("session_summary", SUMMARY, tags=["auth"])])
    (ref,) = (path.relative_to(desk.vault.root).as_posix() for path in desk.vault.root.glob("sessions/saved-*.md"))
    note = desk.read(ref)
    assert "# Login moved to JWT\n" in note
    assert "## Decisions\n- JWT rather than sessions\n- 订单号用 UUIDv7 (agent)\n" in note
    assert "## Open\n- [ ] limit the rate\n- [ ] document it\n" in note
    assert "## Done\n- tokens live 24 hours\n" in note
    assert f"[Login moved to JWT](../{ref})" in desk.read("daily/2026-02-10.md")
    fields = agent.call("context_load", project_path=shop).fields
    assert fields["last_session"]["topic"] == "Login moved to JWT"
    assert fields["last_session"]["date"] == "2026-02-10 14:30"
    assert "tokens live 24 hours" in fields["last_session"]["points"]
    assert {"JWT rather than sessions", "订单号用 UUIDv7"} == {each["text"] for each in fields["active_decisions"]}
    assert {"limit the rate", "document it"} == {each["text"] for each in fields["pending_items"]}


@pytest.mark.slow
def test_secrets_are_removed_and_that_is_said(desk: Desk, agent: Agent, shop: str) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE".replace("EXAMPLE", "QWERTYU")
    entries = [entry(sort, f"The key of the build is {key}, {sort}.") for sort in ("knowledge", "session_summary")]
    answer = agent.call("context_save", project_path=shop, entries=entries)
    assert answer.text.count("removed before writing") == 2
    assert key.encode() not in desk.everything()


def test_where_one_entry_is_refused_the_others_stand_and_are_named(agent: Agent, shop: str) -> None:
    entries = [entry("knowledge", "Run `make seed` first."), entry("todo", "x" * 600), entry("decision", "!?")]
    answer = agent.call("context_save", project_path=shop, entries=entries)
    assert answer.text.startswith("2 of 3 not saved; the others are saved:\n1. saved knowledge areas/")
    assert "2. NOT saved: todo (a todo is one line of 500 characters" in answer
    assert "3. NOT saved: decision (no word is left" in answer
    assert not answer.is_error
    assert agent.call("context_save", project_path=shop, entries=entries[1:]).is_error


@pytest.mark.slow
def test_a_long_note_waits_for_a_model_where_one_is_set_up(
    desk: Desk, agent: Agent, shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtool.memory.saving.start_worker", lambda *_: True)
    long = "The scheduler retries a failed job after 60 and after 600 seconds. " * 20
    agent.call("context_save", project_path=shop, entries=[entry("knowledge", long)])
    assert desk.queue.waiting() == []
    desk.settings = desk.settings._replace(llm=ModelSettings(providers=("openai", "extractive")))
    agent.call(
        "context_save",
        project_path=shop,
        entries=[entry("knowledge", "任务失败后重试两次。" * 80), entry("todo", "short")],
    )
    (job,) = desk.queue.waiting()
    assert (job.event, job.transcript.rpartition("/")[0]) == ("note", "areas/projects/shop/knowledge")
