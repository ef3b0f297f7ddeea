"""`context_load`: the state of a project, and what is said where there is none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from desk import Desk
from mcp_server.agent import LEGACY, MODERN, Agent
from trees import write

from memtool.mcp.server import make_server

CAPTURED = """---
type: session
session: s-2
date: 2026-02-11
updated: 2026-02-11 09:00
project: shop
---

# Login by JWT: 41 tests pass

Asked: “把登录改成 JWT”

## Done
- The clock was skewed.
"""


@pytest.mark.slow
def test_the_state_of_a_project_is_told_in_fields(desk: Desk, agent: Agent, shop: str) -> None:
    desk.remember("JWT rather than server sessions: services authenticate each other.", kind="decision", author="user")
    desk.remember("订单号用 UUIDv7，因为它能按时间排序。", category="decision", author="user")
    desk.remember("The API listens on port 8080.", category="configuration")
    desk.remember("limit the rate of logins", kind="todo", due="2026-02-01")
    fields = agent.call("context_load", project_path=shop).fields
    assert (fields["registered"], fields["project"]) == (True, "shop")
    assert len(fields["project_id"]) == 12
    assert int(fields["project_id"], 16)
    decided = {each["text"]: each for each in fields["active_decisions"]}
    assert set(decided) == {
        "JWT rather than server sessions: services authenticate each other.", "订单号用 UUIDv7，因为它能按时间排序。",
    }  # fmt: skip
    about = decided["订单号用 UUIDv7，因为它能按时间排序。"]
    assert (about["date"], about["author"]) == ("2026-02-10", "user")
    assert fields["pending_items"] == [
        {
            "text": "limit the rate of logins (due 2026-02-01)",
            "path": "areas/projects/shop/todos.md:8",
            "note": "overdue",
        }
    ]
    assert (fields["last_session"], fields["recent_sessions"]) == (None, [])


def test_a_project_that_memory_does_not_know_is_not_registered(agent: Agent, shop: str) -> None:
    answer = agent.call("context_load", project_path=shop)
    assert answer.fields["registered"] is False
    assert "context_save" in answer.fields["hint"]
    assert not answer.is_error


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
def test_a_vault_that_is_gone_is_not_available_and_may_come_back(desk: Desk, shop: str, mode: str) -> None:
    from memtool.vault.layout import open_vault

    agent = Agent(make_server("context", lambda folder: desk.work._replace(vault=open_vault(desk.vault.root))), mode)
    away = desk.home / "away"
    shutil.move(desk.vault.root, away)
    answer = agent.call("context_load", project_path=shop)
    assert answer.fields["available"] is False
    assert "there is no vault at" in answer.fields["reason"]
    assert agent.call("context_search", project_path=shop, query="x").is_error
    shutil.move(away, desk.vault.root)
    assert "available" not in agent.call("context_load", project_path=shop).fields


@pytest.mark.slow
def test_what_a_session_s_start_gives_is_told_rules_and_decisions_first(
    desk: Desk, agent: Agent, shop: str, tmp_path: Path
) -> None:
    write(desk, "MEMORY.md", desk.read("MEMORY.md") + "\n## Ways\n\n- 一律用制表符缩进。\n")
    write(desk, "areas/projects/shop/rules.md", "# Rules\n\n- Never push on Fridays.\n")
    desk.remember("I prefer short answers.", project="", category="preference", author="user")
    desk.remember("JWT rather than sessions.", kind="decision", author="user")
    desk.remember("The API listens on port 8080.", category="configuration")
    agent.call(
        "context_save", project_path=shop,
        entries=[{"type": "session_summary", "content": "# Login by JWT → 41 tests pass\n\n- The clock was skewed."}],
    )  # fmt: skip
    answer = agent.call("context_load", project_path=shop)
    assert [rule["text"] for rule in answer.fields["rules"]] == [
        "一律用制表符缩进。", "I prefer short answers.", "Never push on Fridays.",
    ]  # fmt: skip
    last = answer.fields["last_session"]
    assert (last["topic"], last["points"]) == ("Login by JWT → 41 tests pass", ["The clock was skewed."])
    assert [fact["text"] for fact in answer.fields["facts"]] == ["The API listens on port 8080."]
    names = [name for name in answer.fields if name not in ("project_id", "project", "registered", "about")]
    assert names[:4] == ["rules", "active_decisions", "pending_items", "last_session"]
    assert json.loads(answer.text) == answer.fields
    write(desk, "sessions/2026-02-11-登录.md", CAPTURED)
    last = agent.call("context_load", project_path=shop).fields["last_session"]
    assert (last["topic"], last["outcome"]) == ("把登录改成 JWT", "Login by JWT: 41 tests pass")
    unknown = tmp_path / "unknown"
    unknown.mkdir()
    elsewhere = agent.call("context_load", project_path=str(unknown)).fields
    assert (elsewhere["registered"], len(elsewhere["rules"])) == (False, 2)
