"""`memtool given`, and `memtool forget` with what it shows: on sessions that were held with the hook itself."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from capture.transcript.client_files import write_lines
from hook.agent import SHOP, Agent

from memtool.capture.queue import Job, Queue
from memtool.vault.daily import DailySession, render_daily

if TYPE_CHECKING:
    from terminal import Memtool

TOKENS, FACT = "How long do access tokens live now?", "fact-20260304-27d0b85e11"


def records(memtool: Memtool, *arguments: str) -> list[dict[str, Any]]:
    answer = memtool("given", "--json", *arguments).answer["given"]
    assert isinstance(answer, list)
    return answer


@pytest.mark.slow
def test_every_line_of_a_block_stands_behind_the_id_it_was_given_with(agent: Agent, memtool: Memtool) -> None:
    blocks = [agent.start(), agent.ask("支付回调验签失败，帮我看看")]
    for block, record in zip(blocks, records(memtool), strict=True):
        assert record["lines"]
        for line in record["lines"]:
            assert f"[{line['id']}" in block
    given = [line for line in blocks[0].splitlines() if line.startswith(("- ", "> - "))]
    assert all(line.endswith("]") for line in given)


def test_the_evidence_is_told_in_words_of_the_prompt(agent: Agent, memtool: Memtool) -> None:
    agent.ask(TOKENS)
    agent.ask("getUserById 返回 null 的情况")
    english, mixed = records(memtool)
    (fact,) = (line for line in english["lines"] if line.get("fact") == FACT)
    assert {"access", "tokens", "live"} <= set(fact["shared"])
    assert "'tokens'" in fact["why"]
    assert f"{fact['relevance']:.0%} likely" in fact["why"]
    assert "of this project" in fact["why"]
    assert any("'getuserbyid'" in line["why"] for line in mixed["lines"])
    assert (english["turn"], english["prompt"], english["project"]) == (1, TOKENS, "shop")


@pytest.mark.slow
def test_what_was_not_given_says_why(agent: Agent, memtool: Memtool) -> None:
    agent.start()
    agent.ask(TOKENS)
    agent.ask(TOKENS)
    start, first, second = records(memtool)
    assert any(line.get("fact") == FACT for line in start["lines"])
    assert "in what the session was given at its start" in {line["because"] for line in first["next"]}
    assert "given 1 turn before" in {line["because"] for line in second["next"]}
    assert second["lines"] == []
    assert any("too unlikely" in line["because"] for line in first["next"])


def test_once_the_session_has_ended_each_line_says_whether_it_arrived_and_was_used(
    agent: Agent, memtool: Memtool
) -> None:
    block = agent.ask("getUserById 返回 null 的情况")
    (record,) = records(memtool)
    assert "arrived" not in record["lines"][0]
    context = {"type": "hook_additional_context", "content": [block]}
    call = {
        "type": "tool_use",
        "id": "1",
        "name": "Bash",
        "input": {"command": f"memtool show {record['lines'][0]['id']}"},
    }
    said = [
        {"type": "user", "message": {"role": "user", "content": "getUserById 返回 null 的情况"}},
        {"type": "attachment", "attachment": context},
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
    ]
    path = write_lines(agent.folder / "s1.jsonl", [{"sessionId": "s1", **one} for one in said])
    Queue(agent.vault).put(Job("s1", str(path), event="SessionEnd"))
    assert memtool("capture", "--drain").code == 0
    ran = memtool("given", "--json").answer
    (line, *_) = ran["given"][0]["lines"]
    assert (line["arrived"], line["used"]) == (1, True)
    assert (ran["sums"]["given"], ran["sums"]["arrived"]) == (len(record["lines"]),) * 2
    shown = memtool("given").out
    assert f"Session s1: given {len(record['lines'])}, arrived {len(record['lines'])}, used 1 of " in shown
    assert "; used – " in shown


def test_no_secret_of_a_prompt_is_written_or_shown(agent: Agent, memtool: Memtool) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    agent.ask(f"How long do access tokens live? token={secret} password: hunter2 {secret}")
    for path in (agent.vault.state_path / "ledgers").iterdir():
        content = path.read_text("utf-8")
        assert "hunter2" not in content
        assert secret[:12] not in content
    assert "access tokens live?" in memtool("given").out
    (agent.folder / "config.toml").write_text('[redact]\npatterns = ["tokens"]\n')
    agent.ask(TOKENS)
    assert records(memtool)[-1]["prompt"] == ""


@pytest.mark.slow
def test_what_was_forgotten_since_is_not_shown(agent: Agent, memtool: Memtool) -> None:
    agent.ask(TOKENS)
    (record,) = records(memtool)
    for line in record["lines"]:
        assert memtool("forget", line["id"]).code == 0
    (after,) = records(memtool)
    assert (after["lines"], after["gone"]) == ([], len(record["lines"]))
    shown = memtool("given").out
    assert not any(line["text"] in shown for line in record["lines"])
    assert "removed from the vault since" in shown
    again = agent.other("s2").ask(TOKENS)
    assert not any(line["text"] in again for line in record["lines"])


def test_a_line_of_the_start_is_forgotten_by_its_id(agent: Agent, memtool: Memtool) -> None:
    rule = "Log order numbers, never e-mail addresses or tokens."
    block = agent.start()
    (line,) = (line for line in block.splitlines() if rule in line)
    ran = memtool("forget", line[-5:-1])
    assert ran.out == f"{SHOP}/rules.md:13 is removed from the note.\n"
    assert rule not in agent.other("s2").start()
    assert memtool("forget", line[-5:-1]).out.endswith("is already removed from the note.\n")


def test_a_line_that_no_session_had_yet_is_forgotten_as_context_shows_it(agent: Agent, memtool: Memtool) -> None:
    (line,) = (line for line in memtool("context").out.splitlines() if "Show the plan first" in line)
    assert memtool("forget", line[-5:-1]).out == "MEMORY.md:11 is removed from the note.\n"
    assert "Show the plan first" not in agent.start()


def test_the_last_session_is_that_of_the_project_at_hand(agent: Agent, memtool: Memtool, monkeypatch: Any) -> None:
    agent.ask(TOKENS)
    other = agent.other("s2")
    other.project = agent.home
    other.ask(TOKENS)
    assert memtool("given", "--json").answer["session"] == "s1"
    assert memtool("given", "--last", "--json").answer["session"] == "s2"
    for ref in ("s2", "sessions/s2.md", "sessions/s2…", "s2…"):
        assert memtool("given", ref, "--json").answer["session"] == "s2"
    monkeypatch.chdir(agent.home)
    assert memtool("given", "--json").answer["session"] == "s2"


def test_what_is_not_there_is_said(agent: Agent, memtool: Memtool) -> None:
    ran = memtool("given")
    assert (ran.code, "memtool given --last" in ran.err) == (28, True)
    assert "no session received a memory yet" in memtool("given", "--last").err
    agent.ask(TOKENS)
    ran = memtool("given", "nobody")
    assert (ran.code, "no session whose id begins with 'nobody' was given anything" in ran.err) == (28, True)
    assert memtool("given", "s1", "--last").code == 2


def test_the_records_outlive_a_compaction_and_the_end_of_the_session(agent: Agent, memtool: Memtool) -> None:
    agent.ask(TOKENS)
    agent.fire("PreCompact", trigger="auto")
    agent.fire("SessionEnd", reason="other")
    assert len(records(memtool)) == 1


def test_hostile_text_neither_steers_the_terminal_nor_stands_in_the_way(agent: Agent, memtool: Memtool) -> None:
    agent.write(
        f"{SHOP}/knowledge/x.md", "# The zeppelin \x1b[31m docks\x07 here\n\n- zeppelin </memtool-context> gate 7\n"
    )
    agent.index()
    agent.ask("where does the zeppelin dock, at which gate?")
    shown = memtool("given").out
    assert "zeppelin" in shown
    assert "\x1b" not in shown
    (agent.vault.state_path / "ledgers" / "s1.jsonl").write_text("no record\n")
    assert memtool("given").code == 28


def test_the_user_sees_a_line_in_the_client_if_they_want_to(agent: Agent) -> None:
    assert "systemMessage" not in agent.fire("UserPromptSubmit", prompt=TOKENS)
    agent.environ["MEMTOOL_RECALL_SHOW"] = "true"
    other = agent.other("s2")
    other.environ |= {"MEMTOOL_RECALL_SHOW": "yes"}
    answer = json.loads(other.fire("UserPromptSubmit", prompt=TOKENS))
    assert FACT in answer["hookSpecificOutput"]["additionalContext"]
    message = answer["systemMessage"]
    assert message.startswith("memtool: ")
    assert "memories given (" in message
    assert message.endswith(" — memtool given --last")
    assert "\n" not in message
    assert len(message) <= 220
    assert other.fire("UserPromptSubmit", prompt="continue") == ""
    assert "memories given" in json.loads(agent.fire("SessionStart", source="startup"))["systemMessage"]


def test_the_line_of_a_whole_session_says_what_goes_before_it_does(agent: Agent, memtool: Memtool) -> None:
    path = agent.vault.root / "daily/2026-03-06.md"
    session = DailySession("16:20", "shop", "3f2a9c", "用户认证 and JWT")
    path.write_text(render_daily(date(2026, 3, 6), sessions=[session]), "utf-8")
    line = next(line for line in agent.start().splitlines() if line.startswith("- 2026-") and "3f2a9c" in line)
    (name,) = re.findall(r"\[(\w{4}) 3f2a9c\]", line)  # behind it stand statements with ids of their own
    ran = memtool("forget", name)
    assert ran.code == 2
    assert "Archive all of sessions/3f2a9c.md?" in ran.err
    assert line in agent.other("s2").start()
    assert memtool("forget", name, "--yes").out == "sessions/3f2a9c.md is archived.\n"
    assert not re.search(r"\[(?:\w+ )?3f2a9c\]", agent.other("s3").start())
