"""The hooks of other clients: their own events, as their real programs sent them, and answers in their form."""

from __future__ import annotations

import io
import json
import os
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


@pytest.mark.slow
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
    monkeypatch.setattr("memtool.capture.limits.RECENT_SECONDS", float("inf"))
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


ANSWERS = (
    "The order model is in 订单.py; its ids come from new_order_id().",
    "The tests are one table-driven test now.",
)


def told_by_cursor(file: str) -> list[dict[str, Any]]:
    return [
        {"hook_event_name": "beforeSubmitPrompt", "prompt": PROMPTS[0], "attachments": []},
        {"hook_event_name": "afterShellExecution", "command": "pytest -q", "output": "1 passed", "duration": 3},
        {"hook_event_name": "afterFileEdit", "file_path": file, "edits": [{"old_string": "", "new_string": "x"}]},
        {"hook_event_name": "afterAgentResponse", "text": ANSWERS[0]},
        {"hook_event_name": "beforeSubmitPrompt", "prompt": PROMPTS[1]},
        {"hook_event_name": "afterAgentResponse", "text": ANSWERS[1]},
        {"hook_event_name": "sessionEnd", "reason": "completed"},
    ]


def told_by_copilot(file: str) -> list[dict[str, Any]]:
    return [
        {"hook_event_name": "SessionStart", "source": "new"},
        {"hook_event_name": "UserPromptSubmit", "prompt": PROMPTS[0]},
        {"hook_event_name": "PostToolUse", "tool_name": "create", "tool_input": json.dumps({"path": file})},
        {"hook_event_name": "Stop", "stop_reason": "end_turn"},
        {"hook_event_name": "UserPromptSubmit", "prompt": PROMPTS[1]},
        {"hook_event_name": "SessionEnd", "reason": "complete"},
    ]


def told_by_windsurf(file: str) -> list[dict[str, Any]]:
    return [
        {"agent_action_name": "pre_user_prompt", "tool_info": {"user_prompt": PROMPTS[0]}},
        {"agent_action_name": "post_run_command", "tool_info": {"command_line": "pytest -q", "cwd": "/x"}},
        {"agent_action_name": "post_write_code", "tool_info": {"file_path": file, "edits": []}},
        {"agent_action_name": "post_cascade_response", "tool_info": {"response": ANSWERS[0]}},
        {"agent_action_name": "pre_user_prompt", "tool_info": {"user_prompt": PROMPTS[1]}},
        {"agent_action_name": "post_cascade_response", "tool_info": {"response": ANSWERS[1]}},
    ]


SAID = {
    "cursor": (told_by_cursor, {"conversation_id": "c-1", "workspace_roots": ["FOLDER"]}),
    "copilot": (told_by_copilot, {"session_id": "c-1", "cwd": "FOLDER"}),
    "windsurf": (told_by_windsurf, {"trajectory_id": "c-1"}),
}


@pytest.mark.parametrize("client", SAID)
def test_a_client_without_a_transcript_is_captured_from_what_its_hooks_tell(
    agent: Agent, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(agent.project)  # where Windsurf runs its hooks
    told, common = SAID[client]
    for fields in told(str(agent.project / "订单.py")):
        event = {**fields, **json.loads(json.dumps(common).replace("FOLDER", str(agent.project)))}
        assert run(("--client", client), agent.environ, io.BytesIO(json.dumps(event).encode())) == ""
    assert agent.log() == []
    drained, problems = work_off(_work(agent))
    assert ("c-1" in drained.captured, problems) == (True, [])
    note = (agent.vault.root / "sessions" / "c-1.md").read_text("utf-8")
    assert f"\nclient: {client}\nproject: shop\n" in note or f"\nproject: shop\nclient: {client}\n" in note
    assert "because they sort by time" in note
    assert "always table-driven tests" in note
    assert "订单.py" in note


def test_cursor_is_given_the_memory_of_the_project_at_its_start(agent: Agent) -> None:
    event = {"hook_event_name": "sessionStart", "conversation_id": "c-1", "workspace_roots": [str(agent.project)]}
    answer = json.loads(run(("--client", "cursor"), agent.environ, io.BytesIO(json.dumps(event).encode())))
    assert answer.keys() == {"additional_context"}
    assert "shop" in answer["additional_context"]


def test_what_hooks_keep_is_redacted_and_forgotten_after_a_month(agent: Agent) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    event = {"session_id": "c-1", "cwd": str(agent.project), "prompt": f"The token is {secret}, 请记住。"}
    fire(agent, "copilot", "UserPromptSubmit", **event)
    (kept,) = (agent.vault.state_path / "heard").iterdir()
    assert secret not in kept.read_text("utf-8")
    assert "请记住" in kept.read_text("utf-8")
    os.utime(kept, (1, 1))
    fire(agent, "copilot", "SessionStart", source="new")
    assert not kept.exists()


def test_nothing_is_kept_of_a_session_that_is_not_to_be_captured(agent: Agent) -> None:
    agent.environ["MEMTOOL_CAPTURE"] = "off"
    fire(agent, "copilot", "UserPromptSubmit", prompt="my secret plan")
    assert not (agent.vault.state_path / "heard").exists()
