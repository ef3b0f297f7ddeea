"""The server as clients meet it: over stdin and stdout, in both protocols, with calls of every sort."""

from __future__ import annotations

import pytest
from desk import Desk
from mcp.client.client import Client
from mcp_server.agent import LEGACY, MODERN, Agent, answer_of, with_server

FACTS = "areas/projects/shop/facts.json"


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("context_turn", {}, "session: Field required"),
        ("context_search", {"limit": 21}, "limit: Input should be less than or equal to 20 (got 21)"),
        ("context_search", {"limit": "many"}, "limit: Input should be a valid integer"),
        ("context_search", {"query": "x" * 10_000_000}, "query: String should have at most 20000 characters"),
        ("context_search", {"project_path": "shop"}, "project_path is not absolute"),
        ("context_search", {"project_path": "~nobody-of-that-name"}, "project_path is not absolute"),
        ("context_search", {"project_path": "/shop\0"}, "project_path is not absolute"),
        ("context_search", {"querry": "x"}, "takes no 'querry'; it takes project_path, query"),
        ("context_save", {"entries": []}, "entries: List should have at least 1 item"),
        ("context_save", {"entries": [{"type": "note", "content": "x"}]}, "entries.0.type: Input should be"),
        (
            "context_save",
            {"entries": [{"type": "todo", "content": "x", "due": "now"}]},
            "Extra inputs are not permitted",
        ),
        ("context_save", {"entries": [{"type": "todo", "content": "x" * 10**7}]}, "at most 100000 characters"),
        ("context_manage", {"action": "delete"}, "delete needs a target"),
        ("context_manage", {"action": "update", "target": "MEMORY.md"}, "update needs content"),
        ("context_manage", {"action": "update", "target": FACTS, "content": "x"}, "holds 1 facts"),
        ("context_manage", {"action": "delete", "target": "../../etc/passwd"}, "no note matches"),
        ("context_manage", {"action": "update", "target": "../secret.md@12345678", "content": "x"}, "no note matches"),
        ("context_manage", {"action": "delete", "target": "/etc/hosts.md"}, "no note matches"),
        ("context_manage", {"action": "delete", "target": ".git/config"}, "no note matches"),
        ("context_manage", {"action": "delete", "target": ".memtool/queue@12345678"}, "no note matches"),
        ("context_manage", {"action": "delete", "target": "MEMORY.md"}, "is a page of the vault"),
        ("context_manage", {"action": "delete", "target": "a\0b"}, "no note matches"),
        ("context_manage", {"action": "erase", "target": "x"}, "action: Input should be 'list', 'delete'"),
        ("memory_store", {"text": "x", "category": "secret"}, "category: Input should be 'identity', 'preference'"),
        ("memory_store", {"text": " \n", "category": "fact"}, "there is nothing to remember"),
        ("memory_store", {"text": "a\0b", "category": "fact"}, "holds a NUL character"),
        ("memory_forget", {"id": 5}, "id: Input should be a valid string"),
        ("memory_forget", {"id": "MEMORY.md"}, "is a page of the vault"),
    ],
)
def test_a_malformed_call_gets_a_short_sentence_and_changes_nothing(
    desk: Desk, agent: Agent, shop: str, tool: str, arguments: dict[str, object], words: str
) -> None:
    desk.remember("The API listens on port 8080.")
    (desk.home / "secret.md").write_text("# Secret\n")
    before = desk.git("log", "--format=%h")
    answer = agent.call(tool, **({"project_path": shop, **arguments} if tool.startswith("context") else arguments))
    assert answer.is_error
    assert words in answer
    assert len(answer.text) < 400
    assert (desk.git("log", "--format=%h"), desk.git("status", "--porcelain")) == (before, "")
