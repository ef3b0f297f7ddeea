"""The server as clients meet it: over stdin and stdout, in both protocols, with calls of every sort."""

from __future__ import annotations

import pytest
from desk import Desk
from mcp.client.client import Client
from mcp_server.agent import LEGACY, MODERN, Agent, answer_of, with_server


@pytest.mark.slow
@pytest.mark.parametrize("mode", [LEGACY, MODERN])
def test_a_client_lists_and_calls_the_tools(mode: str, desk: Desk, shop: str) -> None:
    desk.remember("JWT rather than server sessions.", kind="decision")

    async def deed(client: Client) -> tuple[list[str], str]:
        tools = await client.list_tools()
        found = await client.call_tool("context_search", {"project_path": shop, "query": "jwt"})
        return [tool.name for tool in tools.tools], answer_of(found).text

    names, text = with_server(deed, "--vault", str(desk.vault.root), cwd=desk.home, mode=mode)
    assert "context_search" in names
    assert "> JWT rather than server sessions." in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "project_path: Field required"),
        ({"project_path": "/shop", "limit": 21}, "limit: Input should be less than or equal to 20 (got 21)"),
        ({"project_path": "/shop", "limit": "many"}, "limit: Input should be a valid integer"),
        ({"project_path": "/shop", "query": "x" * 10_000_000}, "query: String should have at most 20000 characters"),
        ({"project_path": "shop"}, "project_path is not absolute"),
        ({"project_path": "~nobody-of-that-name"}, "project_path is not absolute"),
        ({"project_path": "/shop\0"}, "project_path is not absolute"),
        ({"project_path": "/shop", "scope": "secrets"}, "scope: Input should be 'all', 'sessions'"),
        ({"project_path": "/shop", "querry": "x"}, "takes no 'querry'; it takes project_path, query"),
    ],
)
def test_a_malformed_call_gets_a_short_sentence_that_says_what_to_mend(
    agent: Agent, arguments: dict[str, object], said: str
) -> None:
    answer = agent.call("context_search", **arguments)
    assert answer.is_error
    assert said in answer
    assert len(answer.text) < 400
