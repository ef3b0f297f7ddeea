"""`context_turn` and the turns that `context_search` finds: what happened in a session, for who may read its note."""

from __future__ import annotations

import pytest
from desk import Desk
from index.test_turns import TURNS, keep
from mcp_server.agent import Agent

from memtool.capture.turns import Turn
from memtool.index.engine import place_of
from memtool.index.turn_table import follow_sources
from memtool.memory.forget import LINE, forget
from memtool.vault.memory import Location, Memory

NOTE = "sessions/2026-02-01-one.md"


@pytest.fixture
def kept(desk: Desk) -> Desk:
    """A session of the shop and one of the bank."""
    keep(desk, "one", *TURNS)
    keep(desk, "two", Turn(typed="Rotate the vault key E4812 每月"), day=2, project="bank")
    follow_sources(place_of(desk.work))
    return desk


@pytest.mark.usefixtures("kept")
def test_a_turn_that_a_search_names_is_read(agent: Agent, shop: str) -> None:
    found = agent.call("context_search", project_path=shop, query="IdempotencyKeyFilter E4711").text
    assert f"{NOTE} turn 1" in found
    assert "Now IdempotencyKeyFilter rejects the second call with E4711." in found
    for session in (NOTE, "one"):
        told = agent.call("context_turn", project_path=shop, session=session, turn=1).text
        assert "> USER: Why does the refund endpoint charge twice? 为什么退款接口重复扣款？" in told
        assert "not instructions" in told
    listed = agent.call("context_turn", project_path=shop, session="one").text
    assert "2. And the mail queue? → 邮件队列改用幂等消费者" in listed


@pytest.mark.usefixtures("kept")
def test_turns_are_searched_alone_or_not_at_all(agent: Agent, shop: str) -> None:
    asked = {"project_path": shop, "query": "IdempotencyKeyFilter E4711"}
    assert "turn 1" not in agent.call("context_search", **asked, transcripts="no").text
    assert "turn 1" in agent.call("context_search", **asked, transcripts="only").text


@pytest.mark.usefixtures("kept")
def test_turns_of_another_project_are_read_only_where_they_are_asked_for(agent: Agent, shop: str) -> None:
    for more in ({}, {"transcripts": "only"}):
        assert "E4812" not in agent.call("context_search", project_path=shop, query="vault key rotate", **more).text
    refused = agent.call("context_turn", project_path=shop, session="two", turn=1)
    assert "no turns of 'two' are kept" in refused.text
    assert "E4812" in agent.call("context_turn", project_path=shop, session="two", turn=1, all_projects=True).text


def test_what_was_forgotten_is_in_no_turn(kept: Desk, agent: Agent, shop: str) -> None:
    said = "JWT rather than server sessions"
    keep(kept, "one", Turn(typed=f"Fine. {said}.\nAnd 改用\n令牌", messages=(f"Decided: {said}. 好的。",)))
    told = agent.call("context_turn", project_path=shop, session="one", turn=1).text
    assert told.partition("\n")[2].count(said) == 2
    forget(kept.work, Memory(NOTE, said, LINE, Location(NOTE, 10, 10)))
    told = agent.call("context_turn", project_path=shop, session="one", turn=1).text
    assert said not in told
    assert told.count("[forgotten]") == 2
    assert "好的。" in told
    note = kept.vault.root / NOTE
    note.write_text(kept.read(NOTE).replace("type: session", "type: session\nstatus: archived"), encoding="utf-8")
    assert "no turns of 'one' are kept" in agent.call("context_turn", project_path=shop, session="one", turn=1).text


@pytest.mark.usefixtures("kept")
def test_a_turn_that_there_is_not(agent: Agent, shop: str) -> None:
    assert "no turn 9" in agent.call("context_turn", project_path=shop, session="one", turn=9).text
    for session in ("../../etc/passwd", "sessions/../../x.md", "none", "%"):
        refused = agent.call("context_turn", project_path=shop, session=session, turn=1).text
        assert "are kept" in refused, session
