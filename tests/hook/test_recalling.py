"""What a session and its prompts are given, through the hook itself."""

from __future__ import annotations

import re
import shutil
import time

import pytest
from hook.agent import Agent, context_of
from hypothesis import HealthCheck, given, settings as hypothesis_settings, strategies as st

from memtool.redaction import CONTEXT_TAG, make_redactor
from memtool.settings import Settings
from memtool.vault.layout import Vault, state_folder

TOKENS = "How long do access tokens live now?"
FACT, FACT_ID = "Access tokens live 15 minutes", "fact-20260304-27d0b85e11"
CLIENTS = "postgres says: sorry, too many clients already"


def lines_of(block: str) -> list[str]:
    return [line for line in block.splitlines() if line.startswith("- ")]


@pytest.mark.slow
def test_a_prompt_is_given_what_matters_to_it_in_one_framed_block(agent: Agent) -> None:
    block = agent.ask(TOKENS)
    assert block.startswith(f"<{CONTEXT_TAG} ")
    assert block.endswith(f"</{CONTEXT_TAG}>")
    assert len(block) <= 1_500
    (line,) = (line for line in lines_of(block) if FACT_ID in line)
    for part in (FACT, "configuration", "2026-03-04", "areas/projects/shop/facts.json:16-28"):
        assert part in line
    assert make_redactor(Settings().redact)(block).strip() == ""  # capture leaves it out
    assert agent.log() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "prompt",
    [
        "continue", "继续", "run the tests", "修复这个 bug", "What's the capital of France?", "今天天气怎么样",
        "😀" * 100,
        "Write a haiku about autumn leaves", "how do I centre a div", "SELECT * FROM users WHERE id = 1 ORDER BY name",
        "写一个贪吃蛇游戏", "계속해", "commit and push", "\ud800", "\0", "",
        "大阪取引先のCSVの文字コードは？",  # the project `tideline` knows it, which is neither at hand nor named
    ],
)  # fmt: skip
def test_a_prompt_that_nothing_is_known_about_is_given_nothing(agent: Agent, prompt: str) -> None:
    assert agent.fire("UserPromptSubmit", prompt=prompt) == ""
    assert agent.log() == []


def test_nothing_is_given_twice_within_five_turns(agent: Agent) -> None:
    blocks = [agent.ask(TOKENS) for _ in range(8)]
    assert [FACT in block for block in blocks] == [True, False, False, False, False, False, True, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "fields"), [("PreCompact", {"trigger": "auto"}), ("SessionEnd", {"reason": "clear"})]
)
def test_what_was_given_comes_back_when_the_context_was_cleared(
    agent: Agent, event: str, fields: dict[str, str]
) -> None:
    first = agent.ask(TOKENS)
    assert agent.ask(TOKENS) == ""
    agent.fire(event, **fields)
    assert agent.ask(TOKENS) == first


@pytest.mark.slow
@pytest.mark.parametrize("room", [400, 600, 900, 1_500, 20_000])
def test_a_block_fits_into_its_room(agent: Agent, room: int) -> None:
    agent.environ["MEMTOOL_RECALL_PROMPT_CHARACTERS"] = str(room)
    block = agent.ask("the idempotency key of the checkout")
    assert len(block.encode("utf-16-le")) // 2 <= min(room, 9_500)
    agent.environ["MEMTOOL_RECALL_PROMPT_CHARACTERS"] = "0"
    assert agent.ask("getUserById") == ""


def test_a_change_of_topic_brings_one_reminder(agent: Agent) -> None:
    prompts = [TOKENS, "continue", "continue", CLIENTS, "#4573", "支付回调验签失败", "getUserById", "E0308"]
    blocks = [agent.ask(prompt) for prompt in prompts]
    assert ["`memtool remember`" in block for block in blocks] == [False, False, False, True] + [False] * 4


def test_without_an_index_there_is_silence_a_line_in_the_log_and_a_worker(agent: Agent, workers: list[Vault]) -> None:
    folder = state_folder(agent.vault, lambda: agent.cache)
    shutil.rmtree(folder / "index")
    assert agent.ask(TOKENS) == ""
    assert (len(agent.log()), workers) == (1, [agent.vault])
    assert not (folder / "index").exists()


def test_a_damaged_index_is_left_alone(agent: Agent, workers: list[Vault]) -> None:
    (path,) = (state_folder(agent.vault, lambda: agent.cache) / "index").glob("*.sqlite")
    path.write_bytes(b"no database " * 1_000)
    assert agent.ask(TOKENS) == ""
    assert (len(agent.log()), len(workers), path.read_bytes()[:11]) == (1, 1, b"no database")


def test_a_locked_vault_does_not_hold_up_a_prompt(agent: Agent) -> None:
    with agent.vault.lock(), agent.vault.lock("worker"), agent.vault.lock("queue"):
        started = time.monotonic()
        assert FACT in agent.ask(TOKENS)
    assert time.monotonic() - started < 5  # no lock is waited for, and each would be for longer


@pytest.mark.slow
@pytest.mark.parametrize("field", ["session_id", "cwd", "prompt", "source", "reason"])
@pytest.mark.parametrize("value", [None, 3, [], "\ud800", "\0", "x" * 5_000])
def test_a_strange_field_never_escapes(agent: Agent, field: str, value: object) -> None:
    for event in ("UserPromptSubmit", "SessionStart", "PreCompact", "SessionEnd"):
        agent.fire(event, **{"prompt": TOKENS, "source": "startup", field: value})


@pytest.mark.slow
@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200))
def test_no_prompt_is_an_error(agent: Agent, prompt: str) -> None:
    agent.ask(prompt)
    assert agent.log() == []


def test_a_session_is_given_its_project_at_the_start_and_its_prompts_no_line_of_it_again(agent: Agent) -> None:
    block = context_of(agent.fire("SessionStart", source="startup"), "SessionStart")
    assert block.startswith(f"<{CONTEXT_TAG} ")
    assert agent.ledger().start == re.sub(r" \[[2-9b-z]{4}\]\n", "\n", block)  # so that an item of two lines goes on
    assert FACT in block
    assert FACT_ID not in agent.ask(TOKENS)
    assert agent.log() == []


def test_a_resumed_session_is_given_what_is_new(agent: Agent) -> None:
    agent.fire("SessionStart", source="startup")
    agent.fire("SessionEnd", reason="other")
    assert agent.fire("SessionStart", source="resume") == ""
    decision = agent.vault.root / "areas/projects/shop/decisions/2026-03-10-gate.md"
    decision.write_text(
        "---\ntype: decision\ndate: 2026-03-10\n---\n\n# The zeppelin docks at gate 7\n", encoding="utf-8"
    )
    block = context_of(agent.fire("SessionStart", source="resume"), "SessionStart")
    assert "zeppelin" in block
    assert FACT not in block


def test_the_summariser_is_told_what_must_survive(agent: Agent) -> None:
    agent.session_id = "3f2a9c"  # whose note is in the vault
    said = agent.fire("PreCompact", trigger="manual", custom_instructions=None)
    assert said.startswith(f"<{CONTEXT_TAG} ")  # plain text: JSON fails here
    for part in ("JWT rather than server sessions", "rate limiting of the login route", "middleware/jwt.ts"):
        assert part in said
    assert len(said) < 3_000


def test_a_chinese_vault_has_its_frames_in_chinese(agent: Agent) -> None:
    settings = agent.vault.settings_path
    settings.write_text('format = 1\nlanguage = "zh"\n', encoding="utf-8")
    assert "摘自用户自己的笔记（" in agent.start()
    assert "摘自用户自己的笔记（" in agent.other("s2").ask("what did we decide about JWT and server sessions?")
    agent.session_id = "3f2a9c"
    assert "供摘要保留" in agent.fire("PreCompact", trigger="manual", custom_instructions=None)
