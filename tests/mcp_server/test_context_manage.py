"""`context_manage`: what there is, by id and version; archived, changed over what was read, and within reach only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from desk import Desk
from mcp_server.agent import Agent, Answer


def listed(agent: Agent, shop: str) -> dict[str, str]:
    """Return the id@version of each entry, by what its line begins to say."""
    answer = agent.call("context_manage", project_path=shop, action="list")
    return {text: name for name, text in re.findall(r"^- (\S+@[0-9a-f]{8}) \([^)]*\) (.*)$", answer.text, re.MULTILINE)}


def manage(agent: Agent, shop: str, action: str, target: str, content: str = "") -> Answer:
    return agent.call("context_manage", project_path=shop, action=action, target=target, content=content)


@pytest.mark.slow
def test_all_of_a_project_is_listed_with_ids_and_nothing_of_others(desk: Desk, agent: Agent, shop: str) -> None:
    desk.remember("The API listens on port 8080.")
    desk.remember("登录用 JWT。", kind="decision")
    desk.remember("limit the rate", kind="todo")
    desk.remember("The bank's key.", project="bank")
    assert set(listed(agent, shop)) == {"The API listens on port 8080.", "登录用 JWT", "limit the rate"}


def test_long_lists_come_in_pages(desk: Desk, agent: Agent, shop: str) -> None:
    folder = desk.vault.root / "areas/projects/shop/knowledge"
    folder.mkdir(parents=True)
    for number in range(25):
        (folder / f"{number:02}.md").write_text(f"# Page number {number}\n\ntext {number}\n")
    first = agent.call("context_manage", project_path=shop, action="list").text
    second = agent.call("context_manage", project_path=shop, action="list", page=2).text
    assert first.endswith("More: page=2")
    assert "More" not in second
    assert (
        len(re.findall(r"Page number \d+", first + second)) == len(set(re.findall(r"number \d+", first + second))) == 25
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "status"), [("fact", '"status": "archived"'), ("decision", "status: archived"), ("todo", "[x] ~~")]
)
def test_what_is_deleted_is_archived_and_found_no_more(
    desk: Desk, agent: Agent, shop: str, kind: str, status: str
) -> None:
    path = desk.remember("The API listens on port 8080", kind=kind).memory.path
    (name,) = listed(agent, shop).values()
    assert manage(agent, shop, "delete", name).text.startswith(f"archived: {name[:-9]}\nUndo: memtool undo ")
    assert status in desk.read(path)
    assert listed(agent, shop) == {}
    assert ("> " in agent.call("context_search", project_path=shop, query="port")) == (kind == "todo")  # struck out
    assert desk.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_a_note_keeps_its_front_matter_when_its_text_is_changed(desk: Desk, agent: Agent, shop: str) -> None:
    ref = desk.remember("# Login\n\nTokens live 24 hours.", kind="decision", tags=("auth",), author="user").memory.path
    answer = manage(agent, shop, "update", listed(agent, shop)["Login"], "# 登录\n\n令牌有效期 15 分钟。")
    text = desk.read(ref)
    assert f"updated: {ref}@" in answer
    assert text.endswith("---\n\n# 登录\n\n令牌有效期 15 分钟。\n")
    assert "tags: [auth]" in text
    assert "title: 登录\n" in text
    assert listed(agent, shop) == {"登录": re.findall(r"updated: (\S+)", answer.text)[0]}


@pytest.mark.slow
def test_a_fact_is_superseded_and_an_open_item_is_changed_or_ticked_off(desk: Desk, agent: Agent, shop: str) -> None:
    old = desk.remember("The API listens on port 8080.", category="configuration").memory.id
    desk.remember("limit the rate", kind="todo")
    manage(agent, shop, "update", listed(agent, shop)["The API listens on port 8080."], "The API listens on port 9090.")
    before, after = desk.facts()
    assert (before.id, before.status, before.superseded_by) == (old, "superseded", after.id)
    assert (after.category, after.author) == ("configuration", "agent")
    manage(agent, shop, "update", listed(agent, shop)["limit the rate"], "限制登录频率")
    assert "- [ ] 限制登录频率\n" in desk.read("areas/projects/shop/todos.md")
    manage(agent, shop, "update", listed(agent, shop)["限制登录频率"], "[x]")
    assert "- [x] 限制登录频率\n" in desk.read("areas/projects/shop/todos.md")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fact", "decision", "todo"])
def test_what_changed_since_it_was_read_is_not_written_over(desk: Desk, agent: Agent, shop: str, kind: str) -> None:
    path = desk.vault.root / desk.remember("The API listens on port 8080", kind=kind).memory.path
    (name,) = listed(agent, shop).values()
    path.write_text(path.read_text().replace("8080", "7070"))
    for action in ("update", "delete"):
        answer = manage(agent, shop, action, name, "The API listens on port 9090.")
        assert answer.is_error
        assert "changed since you read it" in answer
        assert "7070" in path.read_text()
        assert "archived" not in path.read_text()


@pytest.mark.slow
def test_what_belongs_to_another_project_is_out_of_reach(desk: Desk, agent: Agent, shop: str) -> None:
    fact = desk.remember("The bank's key is rotated.", project="bank").memory.id
    note = desk.remember("The bank's ledger is in COBOL.", project="bank", kind="knowledge").memory.path
    for target in (fact, note):
        assert "belongs to the project 'bank'" in manage(agent, shop, "delete", target)
    everyones = desk.remember("Deploy keys are ED25519.", project="").memory.id
    assert "archived" in manage(agent, shop, "delete", everyones)


@pytest.mark.slow
def test_a_project_is_made_once_with_its_overview(desk: Desk, agent: Agent, shop: str) -> None:
    made = agent.call("context_manage", project_path=shop, action="init_project", content="一个网上商店。FastAPI.")
    assert "made: areas/projects/shop/summary.md (project shop)" in made
    assert desk.read("areas/projects/shop/summary.md").endswith("# shop\n\n一个网上商店。FastAPI.\n")
    assert "一个网上商店" in agent.call("context_load", project_path=shop).fields["summary"]
    again = agent.call("context_manage", project_path=shop, action="init_project")
    assert "already exists" in again
    other = agent.call("context_manage", project_path=shop, action="init_project", content="Something else.")
    assert "says something already" in other
    assert other.is_error
    (named,) = re.findall(r"`update`: (\S+@[0-9a-f]{8})", other.text)
    assert "is a page of the vault" in manage(agent, shop, "delete", named)
    assert "updated: areas/projects/shop/summary.md@" in manage(agent, shop, "update", named, "# shop\n\n卖茶。")
    assert desk.read("areas/projects/shop/summary.md").endswith("---\n\n# shop\n\n卖茶。\n")
    assert "changed since you read it" in manage(agent, shop, "update", named, "Late.")
    assert manage(agent, shop, "update", "areas/projects/bank/summary.md@00000000", "Not mine.").is_error


def test_an_unknown_id_is_answered_with_where_ids_come_from(agent: Agent, shop: str) -> None:
    for action in ("delete", "update"):
        answer = manage(agent, shop, action, "没有这个", "text")
        assert answer.is_error
        assert "'没有这个'. Nothing has changed. action=list" in answer


@pytest.mark.slow
def test_a_folder_that_never_was_makes_no_project(desk: Desk, agent: Agent, shop: str) -> None:
    slip = f"{shop}p"
    made = agent.call("context_manage", project_path=slip, action="init_project")
    entries = [{"type": "todo", "content": "limit the rate"}]
    saved = agent.call("context_save", project_path=slip, entries=entries)
    assert made.is_error
    assert saved.is_error
    assert "there is no folder" in saved
    assert not (desk.vault.root / "areas/projects/shopp").exists()
    agent.call("context_save", project_path=shop, entries=entries)
    Path(shop).rmdir()
    agent.call("context_save", project_path=shop, entries=[{"type": "todo", "content": "document the login"}])
    assert "document the login" in desk.read("areas/projects/shop/todos.md")
