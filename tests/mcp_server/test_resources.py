"""Resources and prompts: what a user attaches and picks by name."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from desk import Desk
from mcp.shared.exceptions import MCPError
from mcp_server.agent import Agent
from mcp_types import INVALID_PARAMS, TextContent, TextResourceContents


def read(agent: Agent, uri: str) -> str:
    (content,) = agent.do(lambda client: client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "text/markdown"
    return content.text


@pytest.mark.slow
def test_memory_and_the_overview_of_each_project_are_listed_and_read(desk: Desk, agent: Agent, shop: str) -> None:
    for folder, overview in (("shop", "A shop in FastAPI."), ("商店", "一个网上商店。")):
        (desk.home / folder).mkdir(exist_ok=True)
        path = shop.replace("shop", folder) if folder != "shop" else shop
        agent.call("context_manage", project_path=path, action="init_project", content=overview)
    listed = {each.name: each.uri for each in agent.do(lambda client: client.list_resources()).resources}
    assert set(listed) == {"memory", "shop", "商店"}
    assert "A shop in FastAPI." in read(agent, listed["shop"])
    assert "一个网上商店。" in read(agent, listed["商店"])
    assert read(agent, listed["memory"]) == desk.read("MEMORY.md")


def test_each_note_is_read_by_its_path(desk: Desk, agent: Agent) -> None:
    ref = desk.remember("登录用 JWT，因为服务之间要互相认证。", kind="decision").memory.path
    assert read(agent, f"memtool://notes/{quote(ref)}") == desk.read(ref)
    templates = agent.do(lambda client: client.list_resource_templates()).resource_templates
    assert {each.uri_template for each in templates} == {"memtool://projects/{name}", "memtool://notes/{+path}"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "uri",
    [
        "memtool://notes/../secret.md",
        "memtool://notes/%2e%2e/secret.md",
        "memtool://notes//etc/hosts",
        "memtool://notes/.git/config",
        "memtool://notes/.memtool/x.md",
        "memtool://notes/memtool.toml",
        "memtool://notes/no-such.md",
        "memtool://projects/..%2F..%2Fx",
        "memtool://projects/none",
        "memtool://nothing",
        "file:///etc/hosts",
    ],
)
def test_nothing_else_can_be_read(desk: Desk, agent: Agent, uri: str) -> None:
    (desk.home / "secret.md").write_text("# Secret\n")
    with pytest.raises(MCPError) as refused:
        agent.do(lambda client: client.read_resource(uri))
    assert "Secret" not in str(refused.value)


def test_a_symlink_does_not_lead_out(desk: Desk, agent: Agent) -> None:
    (desk.home / "secret.md").write_text("# Secret\n")
    (desk.vault.root / "link.md").symlink_to(desk.home / "secret.md")
    with pytest.raises(MCPError, match="outside"):
        agent.do(lambda client: client.read_resource("memtool://notes/link.md"))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("remember", {"what": "订单号用 UUIDv7"}), ("recall", {"about": "UUIDv7"}), ("handover", {})],
)
def test_a_prompt_says_what_to_do_with_what_the_user_gave(agent: Agent, name: str, arguments: dict[str, str]) -> None:
    listed = agent.do(lambda client: client.list_prompts()).prompts
    assert {each.name for each in listed} == {"remember", "recall", "handover"}
    (message,) = agent.do(lambda client: client.get_prompt(name, arguments)).messages
    assert isinstance(message.content, TextContent)
    assert "context_" in message.content.text
    assert all(value in message.content.text for value in arguments.values())


def test_a_prompt_that_is_unknown_or_lacks_what_it_needs_is_a_sentence(agent: Agent) -> None:
    with pytest.raises(MCPError, match="there is no prompt 'rememer'; there are remember, recall, handover"):
        agent.do(lambda client: client.get_prompt("rememer", {"what": "x"}))
    with pytest.raises(MCPError, match="remember needs what: What to remember") as refused:
        agent.do(lambda client: client.get_prompt("remember", {}))
    assert refused.value.code == INVALID_PARAMS
