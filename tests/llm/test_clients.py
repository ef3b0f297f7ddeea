"""What the commands of Codex, Gemini CLI and OpenCode print. `tests/other_agents` runs the real ones."""

from __future__ import annotations

import json

import pytest

from memtool.errors import ProviderMissing
from memtool.llm import open_provider
from memtool.llm.clients import CodexCommand, GeminiCommand, OpenCodeCommand
from memtool.llm.command import ClientCommand, CommandReply
from memtool.settings import Keys
from memtool.settings.sections import ModelSettings


def lines(*events: object) -> str:
    return "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events)


CODEX = (
    {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "想一想"}},
    {"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": "The note 笔记."}},
    {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 5}},
)
GEMINI = {
    "response": "The note 笔记.",
    "stats": {"models": {
        "flash-lite": {"tokens": {"prompt": 10, "candidates": 1, "thoughts": 0, "tool": 0}},
        "flash": {"tokens": {"prompt": 100, "candidates": 4, "thoughts": 7, "tool": 0}},
    }},
}  # fmt: skip
TOKENS = {"input": 60, "output": 4, "reasoning": 1, "cache": {"write": 30, "read": 10}}
OPENCODE = (
    {"type": "step_start", "part": {"type": "step-start"}},
    {"type": "text", "part": {"type": "text", "text": "The note "}},
    {"type": "text", "part": {"type": "text", "text": "笔记."}},
    {"type": "step_finish", "part": {"type": "step-finish", "tokens": TOKENS, "cost": 0.002}},
)
NOTE = "The note 笔记."


@pytest.mark.parametrize(
    ("kind", "said", "reply"),
    [
        (CodexCommand, lines(*CODEX), CommandReply(NOTE, True, 100, 5, model="m")),
        (
            CodexCommand,
            lines({"type": "turn.failed", "error": {"message": "401 无权"}}),
            CommandReply("401 无权", model="m"),
        ),
        (CodexCommand, lines(CODEX[1], {"type": "error", "message": "lost"}), CommandReply("lost", model="m")),
        (CodexCommand, "WARNING\n[1]\n{", CommandReply(model="m")),
        (GeminiCommand, f"Loaded.\n{json.dumps(GEMINI)}", CommandReply(NOTE, True, 110, 12, model="flash-lite")),
        (GeminiCommand, '{"error": {"type": "Error", "message": "no key", "code": 41}}', CommandReply("no key")),
        (GeminiCommand, '{"response": 7, "stats": [1]}', CommandReply("", True)),
        (GeminiCommand, "quota", CommandReply()),
        (OpenCodeCommand, lines(*OPENCODE), CommandReply(NOTE, True, 100, 5, 0.002, "m")),
        (
            OpenCodeCommand,
            lines({"type": "error", "error": {"name": "E", "data": {"message": "无"}}}),
            CommandReply("无"),
        ),
        (
            OpenCodeCommand,
            lines({"type": "text", "part": "x"}, {"type": "step_finish"}),
            CommandReply("", True, model="m"),
        ),
    ],
)
def test_what_a_command_printed_is_its_answer_or_why_there_is_none(
    kind: type[ClientCommand], said: str, reply: CommandReply
) -> None:
    assert kind("/bin/false", "m", {}).reply(said) == reply


@pytest.mark.parametrize("name", ["codex", "gemini-cli", "opencode"])
def test_a_command_that_is_not_there_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ProviderMissing, match="there is no command") as caught:
        open_provider(name, ModelSettings(), Keys())
    assert "in a terminal" in caught.value.hint
