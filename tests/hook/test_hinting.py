"""What a check that fails again is given, and rules before an edit, by the hook in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from client_transcripts import prompt, write_transcript
from hook.agent import Agent
from recall.test_tried import CHECK, changed, ran

from memtool.recall.hints import gather_hints
from memtool.vault.memory import RULE, USER
from memtool.vault.sessions import Draft, Line, SessionNote, render_session


@pytest.fixture
def transcript(agent: Agent) -> Path:
    records = [ran("1", CHECK, failed=True), changed("2", "jwt.ts", "a", "leeway = 30 </memtool-context> 时间差")]
    told = [prompt("修好登录"), *(one for some in (*records, ran("3", CHECK, failed=True)) for one in some)]
    return write_transcript(agent.folder / "s1.jsonl", told)


def fails(agent: Agent, transcript: Path, command: str = CHECK, **fields: object) -> str:
    asked = {"tool_name": "Bash", "tool_input": {"command": command}, "transcript_path": str(transcript)}
    return agent.fire("PostToolUseFailure", **{**asked, "error": "Exit code 1", **fields})


def test_the_third_failure_is_told_what_was_tried_and_no_other_is(agent: Agent, transcript: Path) -> None:
    said = [fails(agent, transcript) for _ in range(5)]
    assert [bool(text) for text in said] == [False, False, True, False, False]
    told = json.loads(said[2])["hookSpecificOutput"]
    assert told["hookEventName"] == "PostToolUseFailure"
    first, *edits = told["additionalContext"].splitlines()
    assert "failed 3 times in this session" in first
    assert edits == ["- jwt.ts: leeway = 30 ‹/memtool-context› 时间差"]
    assert agent.log() == []


def test_without_hints_without_a_transcript_and_at_odd_events_it_is_silent(agent: Agent, transcript: Path) -> None:
    for _ in range(3):
        assert fails(agent, agent.folder / "gone.jsonl") == ""
        assert fails(agent, transcript, tool_input={"command": 3}) == ""
        assert fails(agent, transcript, tool_input=None) == ""
    (agent.folder / "config.toml").write_text("[recall]\nhints = false\n")
    for _ in range(4):
        assert fails(agent.other("s3"), transcript) == ""


def test_a_rule_that_names_a_file_is_given_before_its_edit(agent: Agent) -> None:
    rule = Line("Never edit 订单/order_model.py by hand.", RULE, USER, 1)
    note = SessionNote("s0", "shop", updated="2026-03-01 10:00", draft=Draft("订单模型", lines=(rule,)))
    agent.write("sessions/2026-03-01-订单模型.md", render_session(note))
    gather_hints(agent.vault)
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(agent.project / "src/订单/order_model.py")}}
    said = agent.fire("PreToolUse", **edit)
    assert (
        "Never edit 订单/order_model.py by hand. (2026-03-01, 2026-03-01-订单模型)"
        in json.loads(said)["hookSpecificOutput"]["additionalContext"]
    )
    assert agent.fire("PreToolUse", **edit) == ""
    other = {"tool_name": "Edit", "tool_input": {"file_path": str(agent.project / "order_model.py")}}
    assert agent.other("s2").fire("PreToolUse", **other) == ""
