"""`memory_store`, `memory_search` and `memory_forget`: once each, in one ranking, and gone when they are forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from desk import Desk
from mcp_server.agent import Agent

from memtool.memory.search import search_memories
from memtool.recall.answers.likelihood import weighed
from memtool.recall.ledger import key_of
from memtool.recall.uses import count_uses


@pytest.fixture(autouse=True)
def at_work(desk: Desk, shop: str) -> None:
    desk.folder = Path(shop)


def typed(desk: Desk, *prompts: tuple[str, str]) -> None:
    """Write what the user typed, with the folder, into the client's list."""
    path = desk.home / ".claude" / "history.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = [
        json.dumps({"display": text, "timestamp": 1_770_000_000_000, "project": folder}) for folder, text in prompts
    ]
    path.write_text("\n".join(["{broken", '{"display": 5}', *lines]))


@pytest.mark.slow
def test_a_memory_is_stored_once_for_its_text_and_category(desk: Desk, agent: Agent) -> None:
    text = "订单号用 UUIDv7，因为它能按时间排序。"
    first = agent.call("memory_store", text=text, category="decision").fields
    assert first["status"] == "stored"
    assert agent.call("memory_store", text=text, category="decision").fields == {
        "status": "duplicate",
        "id": first["id"],
    }
    other = agent.call("memory_store", text=text, category="other").fields
    assert (other["status"], other["id"] != first["id"]) == ("stored", True)
    similar = agent.call("memory_store", text=f"{text}！", category="decision").fields
    assert similar["status"] == "stored"
    assert [(fact.category, fact.author) for fact in desk.facts()] == [
        ("decision", "agent"), ("general", "agent"), ("decision", "agent"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_long_text_becomes_a_note_and_is_stored_once(agent: Agent) -> None:
    text = "The scheduler retries a failed job after 60 seconds. " * 50
    stored = agent.call("memory_store", text=text, category="research").fields
    assert stored["id"].startswith("areas/projects/shop/knowledge/")
    assert agent.call("memory_store", text=text, category="research").fields["status"] == "duplicate"


@pytest.mark.slow
def test_what_may_contradict_is_named(desk: Desk, agent: Agent) -> None:
    old = desk.remember("The API listens on port 8080.", category="configuration").memory.id
    stored = agent.call("memory_store", text="The API listens on port 9090.", category="configuration").fields
    assert stored["may_contradict"] == [old]


@pytest.mark.slow
def test_facts_notes_and_prompts_stand_in_one_ranking(desk: Desk, agent: Agent, shop: str, tmp_path: Path) -> None:
    agent.call("memory_store", text="Payments run through Stripe.", category="decision")
    desk.remember("# Webhooks\n\nWebhooks of payments are verified with the Stripe signature.", kind="knowledge")
    typed(
        desk,
        (shop, "why does the payments webhook of Stripe fail since friday?"),
        (shop, "/clear payments stripe"),
        (str(tmp_path / "bank"), "the stripe payments of the bank"),
    )
    text = agent.call("memory_search", query="stripe payments", limit=10).text
    places = [text.index(said) for said in ("Payments run through", "verified with the Stripe", "fail since friday")]
    assert places == sorted(places)
    assert "history · conversation · 2026-02-0" in text
    assert "fact · decision · 2026-02-10 · shop · by agent · score 0." in text
    assert "bank" not in text
    assert "/clear" not in text


def test_a_prompt_s_secrets_are_removed(desk: Desk, agent: Agent, shop: str) -> None:
    key = "AKIA" + "IOSFODNN7QWERTYU"
    typed(desk, (shop, f"部署密钥是 {key}，请部署"))
    text = agent.call("memory_search", query="部署密钥").text
    assert "部署密钥是" in text
    assert key not in text


@pytest.mark.slow
def test_forgotten_is_forgotten(agent: Agent) -> None:
    memory = {"text": "The API listens on port 8080.", "category": "fact"}
    stored = agent.call("memory_store", **memory).fields["id"]
    assert agent.call("memory_forget", id=stored).fields == {"deleted": True, "archived": True}
    assert agent.call("memory_forget", id=stored).fields == {"deleted": False, "archived": False}
    assert agent.call("memory_forget", id="fact-20200101-0000000000").fields == {"deleted": False, "archived": False}
    assert "8080" not in agent.call("memory_search", query="port")
    assert (
        agent.call("memory_store", text="The API listens on port 8080.", category="fact").fields["status"] == "stored"
    )


@pytest.mark.slow
def test_what_happened_around_a_memory_is_told_in_order_and_within_reach(desk: Desk, agent: Agent) -> None:
    desk.remember("登录用 JWT。", kind="decision", author="user")
    desk.pass_time(86_400)
    fact = agent.call("memory_store", text="The API listens on port 8080.", category="fact").fields["id"]
    desk.pass_time(86_400)
    desk.remember("The login is documented.", kind="change")
    desk.remember("The bank's ledger moved.", kind="change", project="bank")
    lines = agent.call("memory_timeline", around=fact).text.splitlines()[1:]
    assert [line[:13] for line in lines] == ["- 2026-02-10 ", ">> 2026-02-11", "- 2026-02-12 "]
    assert "decision · shop · by user" in lines[0]
    assert f'"The API listens on port 8080." [{fact}]' in lines[1]
    assert "documented" in agent.call("memory_timeline", around="login documented", before=0)
    assert agent.call("memory_timeline", around="nothing of that sort").is_error


def test_memory_search_scores_by_the_table_of_prompts_and_the_service(desk: Desk) -> None:
    done = desk.remember("我喜欢用 tabs 缩进", project="", category="preference", author="user")
    desk.pass_time(200 * 86_400)
    count_uses(desk.work.index_folder, [key_of(done.memory.path, done.memory.id)] * 3)
    found = search_memories(desk.work, "tabs 缩进", limit=1).found[0]
    assert found.score == round(weighed(found.why["relevance"], "preference", age_days=200, uses=3), 4)
