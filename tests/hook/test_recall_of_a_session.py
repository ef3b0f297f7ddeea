"""What a session is given from its first prompt to its end, beyond single prompts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from desk import Desk
from hook.agent import SHOP, Agent

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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("source", ["startup", "clear", "compact"])
def test_what_stands_in_the_block_of_the_start_is_not_given_to_a_prompt(agent: Agent, source: str) -> None:
    assert FACT_ID in agent.ask(TOKENS)
    agent.fire("PreCompact", trigger="auto")
    assert FACT in agent.start(source)
    assert FACT_ID not in agent.ask(TOKENS)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [("JWT rather than server sessions", "Services authenticate each other"), ("订单号为什么不用自增主键", "随机后缀")],
)
def test_a_decision_of_the_block_of_the_start_is_not_given_to_a_prompt(agent: Agent, prompt: str, said: str) -> None:
    assert said in agent.ask(prompt)
    assert said in agent.other("s2").start()
    assert said not in agent.other("s2").ask(prompt)


def test_a_decision_without_a_summary_is_given_once(agent: Agent) -> None:
    text = "# Zeppelins are grounded at night\n\nThe pilots asked for it. The mast has no lamp.\n"
    agent.write(f"{SHOP}/decisions/2026-03-11-night.md", text)
    agent.index()
    assert "The pilots asked" in agent.ask("are zeppelins grounded at night?")
    assert "The pilots asked" in agent.other("s2").start()
    assert agent.other("s2").ask("are zeppelins grounded at night?") == ""


# Older indexes


@pytest.mark.parametrize("purge", [False, True])
def test_what_was_forgotten_is_not_given_to_the_very_next_prompt(agent: Agent, *, purge: bool) -> None:
    (fact_id,) = re.findall("fact-[0-9]+-[0-9a-f]+", agent.ask(TOKENS))
    Desk(agent.vault).forget(fact_id, purge=purge)
    assert fact_id not in agent.other("s2").ask(TOKENS)


def test_what_was_edited_away_by_hand_is_not_given(agent: Agent) -> None:
    (agent.vault.root / SHOP / "facts.json").unlink()
    assert FACT_ID not in agent.ask(TOKENS)


# The client's own memory


@pytest.fixture
def client_memory(agent: Agent) -> Path:
    """A file of the client's own memory, and the index of such files, which the client gives by itself."""
    agent.ask(WHEN)  # from here on it is known where the project lies
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


def test_the_clients_memory_is_left_out_from_the_prompt_on_at_which_it_is_switched_off(
    agent: Agent, client_memory: Path
) -> None:
    assert str(client_memory) in agent.ask(WHEN)
    agent.write("memtool.toml", '[index]\nclient_memory = "no"\n')
    assert agent.other("s2").ask(WHEN) == ""


# Uses


def test_deleting_what_is_derived_loses_only_counts(agent: Agent) -> None:
    first = agent.ask(TOKENS)
    shutil.rmtree(agent.vault.state_path)
    shutil.rmtree(agent.cache)
    assert agent.ask(TOKENS) == ""
    agent.index()
    assert agent.other("s2").ask(TOKENS) == first


# Resuming


@pytest.mark.slow
@pytest.mark.parametrize("reason", ["other", "prompt_input_exit", "logout"])
def test_the_end_of_a_session_clears_its_ledger(agent: Agent, reason: str) -> None:
    assert FACT_ID in agent.ask(TOKENS)
    agent.fire("SessionEnd", reason=reason)
    assert FACT_ID in agent.ask(TOKENS)


@pytest.mark.slow
@pytest.mark.parametrize("reason", ["other", "prompt_input_exit", "logout", "resume"])
def test_a_resumed_session_is_not_given_again_what_its_context_still_holds(agent: Agent, reason: str) -> None:
    """`claude -p … --resume ID` ends and resumes the session at every prompt."""
    agent.environ["MEMTOOL_RECALL_SESSION_TOKENS"] = "0"
    blocks = []
    for _ in range(7):
        blocks.append(agent.ask(TOKENS))
        agent.fire("SessionEnd", reason=reason)
        agent.start("resume")
    assert [FACT in block for block in blocks] == [True, False, False, False, False, False, True]


def test_a_note_that_the_session_wrote_with_its_own_tools_is_no_news_to_it(agent: Agent) -> None:
    ref = f"{SHOP}/knowledge/2026-03-12-ballast.md"
    agent.write(ref, "# Ballast\n\nThe ballast of the zeppelin is sand. 压舱物是沙子。\n")
    agent.index()
    prompt = "what is the ballast of the zeppelin?"
    assert "sand" in agent.other("s9").ask(prompt)
    agent.fire("PostToolUse", tool_name="Write", tool_input={"file_path": str(agent.vault.root / ref)})
    assert agent.ask(prompt) == ""


# What the user took back


OLD, NEW = (
    "For the ids of invoices we take ULIDs, because they sort by time.",
    "use UUIDv7 instead of ULIDs for invoices",
)
OLD_ZH, NEW_ZH = "对账任务每天凌晨三点跑就行，那会儿没什么流量", "三点和备份撞上了，对账任务挪到五点"


def write_session(agent: Agent, day: str, number: int, typed: str, came: str) -> str:
    """Write the note of a session that began with *typed* and list it in the daily note; return its path."""
    name = f"{number:08d}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
    agent.write(f"sessions/{name}.md", f"---\ntype: session\ndate: {day}\nproject: shop\n---\n\n# {typed} → {came}\n")
    agent.write(f"daily/{day}.md", f"# {day}\n\n## Sessions\n\n- 14:30 **shop**: [{came}](../sessions/{name}.md)\n")
    agent.index()
    return f"sessions/{name}.md"


@pytest.mark.parametrize(
    ("old", "new", "prompt"),
    [(OLD, NEW, "which ids do invoices have, ULIDs?"), (OLD_ZH, NEW_ZH, "对账任务几点跑？")],
)
def test_what_the_user_took_back_is_not_given_to_a_prompt(agent: Agent, old: str, new: str, prompt: str) -> None:
    before = write_session(agent, "2026-03-12", 1, old, "invoice_model.py is written")
    assert before in agent.ask(prompt)
    write_session(agent, "2026-03-13", 2, new, "invoice_model.py is changed")
    later = agent.other("s2")
    assert new in later.start()
    assert before not in later.ask(prompt)
