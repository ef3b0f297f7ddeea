"""The real client and the tools of `memtool mcp`: what one session saves through them, the next one finds."""

from __future__ import annotations

import json

import pytest
from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.script import Json, Turn, text_of, use

from memtool.mcp.server import INSTRUCTIONS

SUMMARY = "# Orders have ids\n\n- new_order_id() returns a UUIDv7\n\n## Open\n- document it"
ALLOWED = ("--allowedTools", "mcp__memtool")


@pytest.fixture
def owner(owner: Owner) -> Owner:
    """An owner whose model has the tools."""
    owner.run("install", "claude-code", "--with", "mcp")
    return owner


def call(box: Box, tool: str, **arguments: object) -> Turn:
    return use(f"mcp__memtool__{tool}", project_path=str(box.project), **arguments)


def last_answer(body: Json) -> str:
    """Return what a tool said last, as the model is shown it."""
    results = [block for message in body["messages"] for block in message["content"] if "tool_use_id" in block]
    return text_of(results[-1]) if results else ""


def test_a_session_saves_and_the_next_one_loads_finds_and_corrects(box: Box, api: ScriptedApi, owner: Owner) -> None:
    entries = [
        {"type": "decision", "title": "订单号", "content": "订单号用 UUIDv7，因为它能按时间排序。"},
        {"type": "session_summary", "content": SUMMARY},
    ]
    api.answers([call(box, "context_save", entries=entries), "Saved."])
    box.run(api.url, "Note what we decided.", *ALLOWED)
    assert "1. saved decision areas/projects/project/decisions/" in last_answer(api.asked("main")[-1])
    assert "document it" in "".join(path.read_text() for path in owner.vault.glob("sessions/saved-*.md"))

    api.answers([
        call(box, "context_load"),
        call(box, "context_search", query="订单号", scope="decisions"),
        call(box, "context_manage", action="list"),
        "UUIDv7.",
    ])  # fmt: skip
    before = len(api.asked("main"))
    box.run(api.url, "Which ids do orders have?", *ALLOWED)
    loaded, found, listed = map(last_answer, api.asked("main")[before + 1 :])
    assert '"registered":true' in loaded.replace(" ", "")
    assert "Orders have ids" in loaded
    (result,) = json.loads(found)["results"]  # this client shows the fields in place of the text
    assert "> 订单号用 UUIDv7，因为它能按时间排序。" in result["content"]
    assert result["author"] == "agent"
    assert "Quoted from memory" in json.loads(found)["about"]
    assert "(decision, " in listed


def test_the_model_is_told_of_all_tools_and_of_what_a_call_lacks(box: Box, api: ScriptedApi, owner: Owner) -> None:
    assert not owner.notes()
    api.answers([use("mcp__memtool__context_search", query="x"), "…"])
    box.run(api.url, "Search.", *ALLOWED)
    told = str(api.asked("main")[-1])
    assert all(f"mcp__memtool__context_{name}" in told for name in ("load", "search", "save", "manage"))
    assert INSTRUCTIONS.partition(". ")[2][:200] in told
    assert "project_path" in last_answer(api.asked("main")[-1])
