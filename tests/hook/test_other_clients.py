"""The hooks of other clients: their own events, as their real programs sent them, and answers in their form."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from capture.transcript.client_files import IDS, PROMPTS, put
from hook.agent import Agent, context_of

from memtool.capture.queue import SWEEP, Queue
from memtool.clients import CLIENTS
from memtool.hook.main import run
from memtool.hook.translation import translated
from memtool.recall.given import read_givings
from memtool.worker import work_off
from memtool.workspace import Workspace

PATCH = "*** Begin Patch\n*** Update File: api/refunds.ts\n@@\n-a\n+b\n*** Add File: 文档/订单.md\n+x\n*** End Patch\n"


def fire(agent: Agent, client: str, name: str, **fields: Any) -> str:
    event = {"hook_event_name": name, "session_id": agent.session_id, "cwd": str(agent.project), **fields}
    return run(("--client", client), agent.environ, io.BytesIO(json.dumps(event).encode()))


@pytest.mark.parametrize(
    ("client", "start", "prompt"),
    [("codex", "SessionStart", "UserPromptSubmit"), ("gemini", "SessionStart", "BeforeAgent"),
     ("opencode", "SessionStart", "UserPromptSubmit")],
)  # fmt: skip
def test_memory_is_given_at_the_start_and_with_a_prompt(agent: Agent, client: str, start: str, prompt: str) -> None:
    assert "shop" in context_of(fire(agent, client, start, source="startup"), start)
    said = "<hook_context>said before</hook_context>\n\n" if client == "gemini" else ""
    question = f"{said}How long do access tokens live now?"
    answer = fire(agent.other("s2"), client, prompt, prompt=question)
    assert "Access tokens live 15 minutes" in context_of(answer, prompt)
    givings = read_givings(agent.vault.state_path / "ledgers", "s2")
    assert [giving.client for giving in givings] == [client]
    assert "said before" not in givings[0].prompt
    assert agent.log() == []


@pytest.mark.parametrize(
    ("client", "event", "fields", "files"),
    [
        ("codex", "PostToolUse", {"tool_name": "apply_patch", "tool_input": {"command": PATCH}},
         ["api/refunds.ts", "文档/订单.md"]),
        ("gemini", "AfterTool", {"tool_name": "write_file", "tool_input": {"file_path": "{}/订单.py"}}, ["订单.py"]),
        ("gemini", "AfterTool", {"tool_name": "replace", "tool_input": {"file_path": "{}/a.py"}}, ["a.py"]),
        ("opencode", "PostToolUse", {"tool_name": "edit", "tool_input": {"filePath": "{}/a.py"}}, ["a.py"]),
        ("opencode", "PostToolUse", {"tool_name": "apply_patch", "tool_input": {"patchText": PATCH}},
         ["api/refunds.ts", "文档/订单.md"]),
        ("gemini", "AfterTool", {"tool_name": "read_file", "tool_input": {"file_path": "{}/a.py"}}, []),
    ],
)  # fmt: skip
def test_edits_stand_in_the_daily_note(
    agent: Agent, client: str, event: str, fields: dict[str, Any], files: list[str]
) -> None:
    fields["tool_input"] = {key: value.replace("{}", str(agent.project)) for key, value in fields["tool_input"].items()}
    assert fire(agent, client, event, **fields) == ""
    daily = "\n".join(path.read_text("utf-8") for path in (agent.vault.root / "daily").glob("*.md"))
    assert [file for file in ("api/refunds.ts", "文档/订单.md", "订单.py", "a.py") if f"`{file}`" in daily] == files


@pytest.mark.parametrize(("client", "stop"), [("codex", "Stop"), ("gemini", "AfterAgent"), ("opencode", "Stop")])
def test_a_session_becomes_a_note_that_names_its_client(agent: Agent, client: str, stop: str) -> None:
    agent.session_id = IDS[client]
    path = put(agent.home, client)
    fire(agent, client, stop, transcript_path=str(path), last_assistant_message="")
    fire(agent, client, "SessionEnd", transcript_path=str(path), reason="exit")
    (job,) = Queue(agent.vault).waiting()
    assert (job.session_id, job.client) == (IDS[client], client)
    drained, problems = work_off(_work(agent))
    assert (drained.captured, problems) == ((IDS[client],), [])
    (note,) = [
        path.read_text("utf-8")
        for path in (agent.vault.root / "sessions").glob("*.md")
        if "UUIDv7" in path.read_text("utf-8")
    ]
    assert f"\nclient: {client}\n" in note
    assert PROMPTS[2] in note
    assert "always table-driven tests" in note


@pytest.mark.parametrize("client", ["codex", "gemini", "opencode"])
def test_a_session_that_nobody_captured_is_found_at_the_next_start(
    agent: Agent, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(agent.home, client)
    own = path if client == "opencode" else path.with_name(f"new-{path.name}")
    fire(agent, client, "SessionStart", transcript_path=str(own), source="startup")
    (job,) = Queue(agent.vault).waiting()
    assert (job.session_id, job.client) == (SWEEP, client)
    monkeypatch.setattr("memtool.capture.records.RECENT", float("inf"))
    drained, problems = work_off(_work(agent))
    assert (drained.captured, problems) == ((IDS[client],), [])


def test_what_a_client_cannot_hear_is_not_said(agent: Agent) -> None:
    agent.write("sessions/s1.md", "---\ntype: session\n---\n\n# A\n\n1. **Decisions**: ULIDs (user)\n")
    assert fire(agent, "codex", "PreCompact", trigger="auto") == ""
    assert agent.fire("PreCompact", trigger="auto") != ""


def test_events_that_say_nothing_to_memtool_are_passed_over(agent: Agent) -> None:
    assert fire(agent, "gemini", "PreCompress", trigger="auto") == ""
    assert fire(agent, "gemini", "Notification") == ""
    assert agent.log() == []


def test_a_client_that_memtool_does_not_know_is_named_in_the_log(agent: Agent) -> None:
    assert fire(agent, "other", "SessionStart") == ""
    assert "memtool does not know the client 'other'" in agent.log()[0]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("odd", [None, 1, "x", [], {"command": 1}, {"files": ["relative", 1]}])
def test_any_field_of_an_event_may_be_of_any_type(client: str, odd: object) -> None:
    for name in CLIENTS[client].events:
        for tool in (*CLIENTS[client].tools, "other", None):
            event = {"hook_event_name": name, "tool_name": tool, "tool_input": odd, "prompt": odd, "cwd": odd}
            assert translated(event, client)["hook_event_name"]


def _work(agent: Agent) -> Workspace:
    from memtool import settings

    loaded = settings.load(agent.vault.settings_path, agent.environ)
    return Workspace(agent.vault, loaded, agent.environ, agent.home, agent.project)
