"""How often a memory was read or found: counted by `show` and `search`, shown by `show` and `search --explain`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hook.agent import Agent
from terminal import on_a_terminal

if TYPE_CHECKING:
    from terminal import Memtool

TOKENS, FACT = "How long do access tokens live now?", "fact-20260304-27d0b85e11"


def explained(memtool: Memtool) -> int:
    """Return how often the fact was used, as a search explains it."""
    hits = memtool("search", "access tokens live 15 minutes", "--explain", "--json", "--kind", "fact").answer["hits"]
    return next(int(hit["why"]["uses"]) for hit in hits if hit["fact_id"] == FACT)


@pytest.mark.slow
def test_what_a_prompt_was_given_does_not_count_and_what_is_read_does(agent: Agent, memtool: Memtool) -> None:
    assert explained(memtool) == 0
    assert FACT in agent.ask(TOKENS)
    assert FACT in agent.other("s2").ask(TOKENS)
    assert explained(memtool) == 0
    assert "used 0 times" in on_a_terminal("show", FACT).out
    assert memtool("show", FACT, "--json").answer["uses"] == 1
    assert explained(memtool) == 2


@pytest.mark.usefixtures("agent")
def test_what_a_search_finds_counts(memtool: Memtool) -> None:
    assert explained(memtool) == 0
    memtool("search", "access tokens")
    memtool("search", "访问令牌 access tokens", "--json")
    assert explained(memtool) == 2


@pytest.mark.slow
def test_counts_are_not_in_what_git_sees_and_may_be_deleted(agent: Agent, memtool: Memtool) -> None:
    memtool("init", str(agent.vault.root))
    agent.ask(TOKENS)
    assert not [path for path in agent.vault.root.rglob("uses*") if ".memtool" not in path.parts]
    assert (agent.vault.state_path / ".gitignore").read_text() == "*\n"
    shutil.rmtree(agent.vault.state_path)
    assert explained(memtool) == 0
    assert memtool("show", FACT, "--json").answer["uses"] == 0
