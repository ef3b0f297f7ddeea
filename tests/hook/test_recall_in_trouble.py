"""Recall while its vault is locked, gone or being rebuilt, while clocks jump, and for prompts that are none."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing

import pytest
from hook.agent import SHOP, Agent

from memtool.index import generations, schema

TOKENS, FACT = "How long do access tokens live now?", "Access tokens live 15 minutes"
USER, USER_FACT = "getUserById 返回 null 的情况", "getUserById returns null"
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


def test_a_writer_in_the_middle_of_its_work_does_not_hold_up_a_prompt(agent: Agent) -> None:
    path = generations.current(agent.state() / "index")
    assert path
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("DELETE FROM chunk")
        assert FACT in agent.ask(TOKENS)
        writer.execute("ROLLBACK")


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


# Prompts

TRACE = '  File "/srv/app/main.py", line 3, in <module>\n'


@pytest.mark.slow
@pytest.mark.parametrize("filler", [TRACE, "这个那个，" * 10])
def test_a_question_at_either_end_of_a_megabyte_is_heard(agent: Agent, filler: str) -> None:
    assert FACT in agent.ask(f"{TOKENS}\n\n{filler * (MEGABYTE // len(filler))}")
    assert USER_FACT in agent.other("s2").ask(f"{filler * (MEGABYTE // len(filler))}\n\n{USER}")
