"""Recall while its vault is locked, gone or being rebuilt, while clocks jump, and for prompts that are none."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from hook.agent import SHOP, Agent

from memtool.index import generations, schema
from memtool.redaction import CONTEXT_TAG
from memtool.vault.layout import Vault

TOKENS, FACT = "How long do access tokens live now?", "Access tokens live 15 minutes"
USER, USER_FACT = "getUserById 返回 null 的情况", "getUserById returns null"
HOOK = (sys.executable, "-c", "from memtool.hook.main import main; main()")
YEAR = 365 * 86_400
MEGABYTE = 1_000_000


# The vault


@pytest.mark.slow
def test_a_vault_that_goes_in_the_middle_of_a_session_is_silence_and_comes_back_with_its_ledger(agent: Agent) -> None:
    assert FACT in agent.ask(TOKENS)
    away = agent.vault.root.rename(agent.folder / "away")
    told = [agent.ask(USER), agent.fire("SessionStart", source="startup"), agent.fire("PreCompact", trigger="auto")]
    assert (told[0], told[2]) == ("", "")
    assert json.loads(told[1]).keys() == {"systemMessage"}  # for the owner, not for the model
    assert not agent.vault.root.exists()
    assert len(agent.log()) == 3
    away.rename(agent.vault.root)
    assert (agent.ask(TOKENS), USER_FACT in agent.ask(USER)) == ("", True)


def test_a_vault_that_goes_while_it_is_read_is_silence(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    def misfit(_: sqlite3.Connection, _daily: str = "") -> str:
        agent.vault.root.rename(agent.folder / "away")
        return ""

    monkeypatch.setattr(schema, "misfit", misfit)
    assert agent.ask(TOKENS) == ""
    assert not agent.vault.root.exists()


@pytest.mark.slow
def test_a_generation_that_is_swapped_in_the_middle_of_a_session_is_used_from_then_on(agent: Agent) -> None:
    assert FACT in agent.ask(TOKENS)
    agent.write(f"{SHOP}/knowledge/2026-03-10-gate.md", "# Zeppelin\n\nThe zeppelin docks at gate 7.\n")
    agent.index(rebuild=True)
    assert "gate 7" in agent.ask("where does the zeppelin dock?")
    assert agent.ask(TOKENS) == ""
    assert agent.log() == []


def test_a_pointer_to_a_generation_that_is_gone_is_silence(agent: Agent, workers: list[Vault]) -> None:
    (agent.state() / "index" / "current").write_text("0a0b0c0d.sqlite\n")
    assert agent.ask(TOKENS) == ""
    assert (len(agent.log()), len(workers)) == (1, 1)


def test_a_writer_in_the_middle_of_its_work_does_not_hold_up_a_prompt(agent: Agent) -> None:
    path = generations.current(agent.state() / "index")
    assert path
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("DELETE FROM chunk")
        assert FACT in agent.ask(TOKENS)
        writer.execute("ROLLBACK")


@pytest.mark.slow
def test_files_that_are_gone_since_they_were_indexed_do_no_harm(agent: Agent) -> None:
    for path in [*agent.vault.root.rglob("*.md"), *agent.vault.root.rglob("facts.json")]:
        path.unlink()
    for prompt in (TOKENS, USER):
        agent.ask(prompt)
    assert agent.start() == ""
    assert agent.log() == []


# Clocks


def jump(agent: Agent, seconds: float) -> None:
    """Let all that memtool wrote so far be as old as it is after the clock has jumped by *seconds*."""
    for path in [*agent.vault.root.rglob("*"), *agent.cache.rglob("*")]:
        os.utime(path, (time.time() - seconds, time.time() - seconds))
    folders = agent.vault.state_path / "projects.json"
    entries = json.loads(folders.read_bytes())
    shifted = {folder: [name, root, at - seconds, known] for folder, (name, root, at, known) in entries.items()}
    folders.write_text(json.dumps(shifted))


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [YEAR, -YEAR])
def test_a_clock_that_jumps_in_the_middle_of_a_session_repeats_and_loses_nothing(agent: Agent, seconds: int) -> None:
    assert FACT in agent.ask(TOKENS)
    jump(agent, seconds)
    assert [agent.ask(TOKENS) for _ in range(5)] == [""] * 5
    assert FACT in agent.ask(TOKENS)
    assert agent.log() == []


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [YEAR, -YEAR])
def test_the_project_of_a_folder_is_known_after_a_clock_has_jumped(agent: Agent, seconds: int) -> None:
    before = agent.start()
    jump(agent, seconds)
    assert [line for line in agent.start().splitlines() if line.startswith("- ")] == [
        line for line in before.splitlines() if line.startswith("- ")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("year", ["0001", "1969", "2099", "9999"])
def test_a_memory_from_another_time_is_found(agent: Agent, year: str) -> None:
    note = f"---\ndate: {year}-01-01\n---\n# Zeppelin\n\nThe zeppelin docks at gate 7.\n"
    agent.write(f"{SHOP}/knowledge/{year}-01-01-gate.md", note)
    agent.index()
    assert "gate 7" in agent.ask("where does the zeppelin dock?")
    agent.write(f"daily/{year}-01-01.md", "---\ntype: daily\n---\n\n- 10:00 **shop**: [Gate 7](../sessions/z.md)\n")
    assert "Rules of shop" in agent.start()
    assert agent.log() == []


# Prompts

TRACE = '  File "/srv/app/main.py", line 3, in <module>\n'
SQL = "SELECT altitude FROM flights WHERE departed_at > now() - interval '1 day' ORDER BY altitude DESC;\n"
HUGE = {
    "emoji": "😀👍🏽🧑‍💻" * (MEGABYTE // 20),
    "SQL": SQL * (MEGABYTE // len(SQL)),
    "one word": "a" * MEGABYTE,
    "one Chinese word": "的" * MEGABYTE,
    "backticks": "`" * MEGABYTE,
    "pastes": '<pasted_content id="1">' * (MEGABYTE // 23),
    "unseen": "\u200b\u202e" * (MEGABYTE // 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("prompt", HUGE.values(), ids=HUGE)
def test_a_megabyte_that_asks_nothing_is_given_nothing(agent: Agent, prompt: str) -> None:
    assert agent.ask(prompt) == ""
    assert (agent.ledger().turn, agent.log()) == (1, [])


@pytest.mark.slow
@pytest.mark.parametrize("filler", [TRACE, "这个那个，" * 10])
def test_a_question_at_either_end_of_a_megabyte_is_heard(agent: Agent, filler: str) -> None:
    assert FACT in agent.ask(f"{TOKENS}\n\n{filler * (MEGABYTE // len(filler))}")
    assert USER_FACT in agent.other("s2").ask(f"{filler * (MEGABYTE // len(filler))}\n\n{USER}")


@pytest.mark.slow
def test_the_program_answers_a_megabyte_in_one_json_text(agent: Agent) -> None:
    content = agent.event("UserPromptSubmit", prompt=f"{TOKENS}\n{TRACE * (MEGABYTE // len(TRACE))}")
    ran = subprocess.run(HOOK, input=content, capture_output=True, env=agent.environ, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert f"</{CONTEXT_TAG}>" in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]
