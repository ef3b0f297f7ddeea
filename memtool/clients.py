"""The coding agents beside Claude Code whose hooks memtool answers: how each names its events, fields and tools.

Data only. Everything else in memtool speaks Claude Code's language; `memtool.hook.translation` reads this table.
docs/other-agents.md says which of them were run for real.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

CLAUDE_CODE = "claude-code"

_SAME = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "PostCompact",
         "SessionEnd")  # fmt: skip


class Client(NamedTuple):
    """One agent, in the words of Claude Code.

    Args:
        title: its name for people.
        events: its events, and those of Claude Code that they are.
        fields: the fields of its events that have another name, and ours.
        tools: its tools, and ours.
        arguments: the arguments of its tools that have another name, and ours.
        hears: our events at which text that a hook prints reaches the model.
        keeps: whether it keeps a transcript that memtool reads; else the hooks keep one of what they are told.
    """

    title: str
    events: Mapping[str, str]
    fields: Mapping[str, str] = MappingProxyType({})
    tools: Mapping[str, str] = MappingProxyType({})
    arguments: Mapping[str, str] = MappingProxyType({})
    hears: frozenset[str] = frozenset({"SessionStart", "UserPromptSubmit"})
    keeps: bool = True


CLIENTS: Mapping[str, Client] = MappingProxyType({
    "codex": Client(
        title="Codex",
        events={name: name for name in _SAME},
        tools={"apply_patch": "Edit"},
        hears=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse"}),
    ),
    # Its BeforeTool takes no text, and its PreCompress comes before every request, compressed or not.
    "gemini": Client(
        title="Gemini CLI",
        events={
            "SessionStart": "SessionStart",
            "BeforeAgent": "UserPromptSubmit",
            "AfterTool": "PostToolUse",
            "AfterAgent": "Stop",
            "SessionEnd": "SessionEnd",
        },
        tools={"write_file": "Write", "replace": "Edit", "run_shell_command": "Bash"},
    ),
    # hooks/opencode/memtool.js names the events as Claude Code does.
    "opencode": Client(
        title="OpenCode",
        events={name: name for name in _SAME},
        tools={"write": "Write", "edit": "Edit", "multiedit": "Edit", "apply_patch": "Edit", "bash": "Bash"},
        arguments={"filePath": "file_path", "patchText": "command"},
    ),
})  # fmt: skip


def title_of(name: str) -> str:
    """Return the name for people of the client *name*; of one that is not in the table, *name* itself."""
    return "Claude Code" if name in ("", CLAUDE_CODE) else CLIENTS[name].title if name in CLIENTS else name
