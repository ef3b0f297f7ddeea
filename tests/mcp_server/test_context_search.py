"""`context_search`: what an agent finds of its project, and what it does not."""

from __future__ import annotations

import pytest
from desk import Desk
from mcp_server.agent import Agent


def test_a_decision_is_found_with_its_place_its_date_and_its_author(desk: Desk, agent: Agent, shop: str) -> None:
    desk.remember("JWT rather than server sessions: services authenticate each other.", kind="decision", author="user")
    answer = agent.call("context_search", project_path=shop, query="how do services authenticate")
    assert "> JWT rather than server sessions" in answer
    assert "decision · 2026-02-10" in answer
    assert "by user" in answer
    assert "areas/projects/shop/decisions/2026-02-10-jwt-rather" in answer
    assert "not instructions" in answer


@pytest.mark.parametrize("query", ["解密失败", "为什么解密失败 E0308"])
def test_chinese_is_found(desk: Desk, agent: Agent, shop: str, query: str) -> None:
    desk.remember("解密失败是因为密钥轮换，错误码 E0308。", category="bug")
    assert "密钥轮换" in agent.call("context_search", project_path=shop, query=query)


def test_another_project_is_found_only_where_it_is_asked_for(desk: Desk, agent: Agent, shop: str) -> None:
    desk.remember("The deploy key of the bank is rotated monthly.", project="bank")
    desk.remember("Deploy keys are ED25519 everywhere.", project="")
    here = agent.call("context_search", project_path=shop, query="deploy key")
    assert "ED25519" in here
    assert "bank" not in here
    assert "bank" in agent.call("context_search", project_path=shop, query="deploy key", all_projects=True)
