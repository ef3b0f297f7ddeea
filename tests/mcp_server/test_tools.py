"""What clients are told of the tools: enough to call them, in few words."""

from __future__ import annotations

import pytest
from desk import Desk
from mcp_server.agent import Agent

from memtool.mcp.server import INSTRUCTIONS, make_server
from memtool.text.lines import tokens_in

CONTEXT = {"context_load", "context_search", "context_turn", "context_save", "context_manage"}
MEMORY = {"memory_store", "memory_search", "memory_timeline", "memory_forget"}
READING = {"context_load", "context_search", "context_turn", "memory_search", "memory_timeline"}
LONGEST = 2_048  # characters, where Claude Code cuts


@pytest.mark.parametrize(("profile", "names"), [("context", CONTEXT), ("memory", MEMORY), ("all", CONTEXT | MEMORY)])
def test_a_profile_has_its_tools(desk: Desk, profile: str, names: set[str]) -> None:
    agent = Agent(make_server(profile, lambda _: desk.work))
    assert {tool.name for tool in agent.do(lambda client: client.list_tools()).tools} == names


def test_each_tool_says_what_it_does_to_the_memory_and_when_to_call_it(agent: Agent) -> None:
    for tool in agent.do(lambda client: client.list_tools()).tools:
        hints = tool.annotations
        assert hints is not None
        assert hints.title
        assert None not in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        assert hints.read_only_hint == (tool.name in READING)
        assert hints.destructive_hint == (tool.name in {"context_manage", "memory_forget"})
        assert "Call it" in (tool.description or "")
        assert len(tool.description or "") <= LONGEST
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description"), f"{tool.name} says nothing of {name}"


def test_the_tools_cost_an_agent_little(desk: Desk) -> None:
    agent = Agent(make_server("context", lambda _: desk.work))
    tools = agent.do(lambda client: client.list_tools()).tools
    shown = [f"{tool.name}{tool.description}{tool.input_schema}" for tool in tools]
    assert tokens_in(INSTRUCTIONS, *shown) < 2_500
    assert len(INSTRUCTIONS) <= LONGEST
