"""What a session is given from its first prompt to its end, beyond single prompts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from hook.agent import SHOP, Agent

from memtool.recall.uses import count_uses, uses_path

TOKENS, FACT, FACT_ID = "How long do access tokens live now?", "Access tokens live 15 minutes", "27d0b85e11"
WHEN = "when is the zeppelin inspected?"


def lines_of(block: str) -> list[str]:
    return [line for line in block.splitlines() if line.startswith("- ")]


def write_facts(agent: Agent, *texts: str) -> None:
    facts = [{"id": f"f-{number}", "fact": text, "evidence": "e", "timestamp": "2026-03-10", "status": "active",
              "category": "code"} for number, text in enumerate(texts)]  # fmt: skip
    agent.write(f"{SHOP}/facts.json", json.dumps({"facts": facts}, ensure_ascii=False, indent=1))
    agent.index()


PARTS = ("hull", "fins", "nose cone", "gondola", "rudder", "ballast tanks", "mooring mast", "radio", "winch", "engines",
         "gas cells", "valves", "fuel lines", "anchor", "cabin")  # fmt: skip


# Compaction


@pytest.mark.parametrize("event", ["PreCompact", "clear"])
def test_the_first_prompt_after_a_compaction_gets_the_full_set_again(agent: Agent, event: str) -> None:
    write_facts(agent, *(f"The zeppelin's {part}: inspected on day {day}." for day, part in enumerate(PARTS)))
    agent.environ |= {"MEMTOOL_RECALL_PROMPT_CHARACTERS": "9000", "MEMTOOL_RECALL_SESSION_TOKENS": "0"}
    assert [len(lines_of(agent.ask(WHEN))) for _ in range(3)] == [10, 5, 0]
    if event == "clear":
        agent.fire("SessionEnd", reason="clear")
        agent.start("clear")
    else:
        agent.fire("PreCompact", trigger="auto")
        agent.start("compact")
    assert len(lines_of(agent.ask(WHEN))) == 10


@pytest.mark.parametrize("source", ["startup", "clear", "compact"])
def test_what_stands_in_the_block_of_the_start_is_not_given_to_a_prompt(agent: Agent, source: str) -> None:
    assert FACT_ID in agent.ask(TOKENS)
    agent.fire("PreCompact", trigger="auto")
    assert FACT in agent.start(source)
    assert FACT_ID not in agent.ask(TOKENS)


def test_what_had_no_room_in_the_block_of_the_start_is_given_to_a_prompt(agent: Agent) -> None:
    agent.environ["MEMTOOL_RECALL_SESSION_TOKENS"] = "200"
    assert FACT not in agent.start()
    assert FACT_ID in agent.ask(TOKENS)


# The client's own memory


@pytest.fixture
def client_memory(agent: Agent) -> Path:
    """A file of the client's own memory, and the index of such files, which the client gives by itself."""
    agent.ask("continue")  # from here on it is known where the project lies
    folder = agent.home / ".claude" / "projects" / re.sub("[^A-Za-z0-9]", "-", str(agent.project)) / "memory"
    said = "The zeppelin is inspected every Monday. 飞艇的气囊每周一检查。"
    agent.write(str(folder / "MEMORY.md"), f"- [inspection](inspection.md) {said}\n")
    matter = "---\nname: inspection\nmetadata:\n  originSessionId: s7\n---\n"
    path = agent.write(str(folder / "inspection.md"), f"{matter}\n{said}\n")
    agent.index()
    return path


@pytest.mark.parametrize("prompt", [WHEN, "飞艇的气囊什么时候检查？"])
def test_the_clients_memory_is_given_with_its_path_and_its_index_is_not(
    agent: Agent, client_memory: Path, prompt: str
) -> None:
    (line,) = lines_of(agent.ask(prompt))
    assert f"{client_memory}:" in line
    assert "every Monday" in line or "每周一" in line
    assert agent.ask(prompt) == ""


def test_the_clients_memory_is_no_news_to_the_session_that_wrote_it(agent: Agent, client_memory: Path) -> None:
    assert client_memory.exists()
    assert agent.other("s7").ask(WHEN) == ""
    assert agent.other("s8").ask(WHEN) != ""


# Uses


def test_what_is_used_often_comes_before_what_is_as_relevant(agent: Agent) -> None:
    write_facts(agent, "The zeppelin's hull: inspected on Monday.", "The zeppelin's fins: inspected on Friday.")
    first, second = (re.search("f-[01]", line) for line in lines_of(agent.ask(WHEN)))
    assert first
    assert second
    for _ in range(10):
        count_uses(uses_path(agent.state()), [f"{SHOP}/facts.json#{second[0]}"])
    again = agent.other("s2").ask(WHEN)
    assert [name in line for name, line in zip((second[0], first[0]), lines_of(again), strict=True)] == [True, True]


def test_deleting_what_is_derived_loses_only_counts(agent: Agent) -> None:
    first = agent.ask(TOKENS)
    shutil.rmtree(agent.vault.state_path)
    shutil.rmtree(agent.cache)
    assert agent.ask(TOKENS) == ""
    agent.index()
    assert agent.other("s2").ask(TOKENS) == first
