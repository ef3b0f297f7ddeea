"""The coding agents beside Claude Code whose hooks memtool answers: how each names its events, fields and tools.

Data only. Everything else in memtool speaks Claude Code's language; `memtool.hook.translation` reads this table.
docs/other-agents.md says which of them were run for real.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

CLAUDE_CODE = "claude-code"
HTTP = "http"
_DATA = ".local/share/"

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
        tool_events: its events that tell of one tool each, and ours; then the event itself holds its arguments.
        answer: the member of its answer that holds the text; empty for the form of Claude Code.
        history: the folder, in the user's home, in which it keeps the transcripts that memtool reads; *variable* of the
            environment may name another one. Without it, the hooks keep a transcript of what they are told.
    """

    title: str
    events: Mapping[str, str]
    fields: Mapping[str, str] = MappingProxyType({})
    tools: Mapping[str, str] = MappingProxyType({})
    arguments: Mapping[str, str] = MappingProxyType({})
    hears: frozenset[str] = frozenset({"SessionStart", "UserPromptSubmit"})
    tool_events: Mapping[str, str] = MappingProxyType({})
    answer: str = ""
    history: str = ""
    variable: str = ""


CLIENTS: Mapping[str, Client] = MappingProxyType({
    "codex": Client(
        title="Codex",
        events={name: name for name in _SAME},
        tools={"apply_patch": "Edit"},
        hears=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse"}),
        history=".codex",
        variable="CODEX_HOME",
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
        history=".gemini",
    ),
    # hooks/opencode/memtool.js names the events as Claude Code does.
    "opencode": Client(
        title="OpenCode",
        events={name: name for name in _SAME},
        tools={"write": "Write", "edit": "Edit", "multiedit": "Edit", "apply_patch": "Edit", "bash": "Bash"},
        arguments={"filePath": "file_path", "patchText": "command"},
        history=".local/share/opencode",
    ),
    "cursor": Client(
        title="Cursor",
        events={
            "sessionStart": "SessionStart",
            "beforeSubmitPrompt": "UserPromptSubmit",
            "afterFileEdit": "PostToolUse",
            "afterShellExecution": "PostToolUse",
            "afterAgentResponse": "Stop",
            "sessionEnd": "SessionEnd",
        },
        fields={"conversation_id": "session_id", "text": "last_assistant_message", "output": "tool_response"},
        tool_events={"afterFileEdit": "Edit", "afterShellExecution": "Bash"},
        answer="additional_context",
        hears=frozenset({"SessionStart"}),
    ),
    # Named as in Claude Code, its events come with the fields of Claude Code; what hooks say is dropped.
    "copilot": Client(
        title="GitHub Copilot",
        events={name: name for name in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd")},
        tools={"create": "Write", "edit": "Edit", "str_replace_editor": "Edit", "bash": "Bash", "powershell": "Bash"},
        arguments={"path": "file_path", "filePath": "file_path"},
        hears=frozenset(),
    ),
    "windsurf": Client(
        title="Windsurf",
        events={
            "pre_user_prompt": "UserPromptSubmit",
            "post_write_code": "PostToolUse",
            "post_run_command": "PostToolUse",
            "post_cascade_response": "Stop",
        },
        fields={
            "agent_action_name": "hook_event_name",
            "trajectory_id": "session_id",
            "user_prompt": "prompt",
            "response": "last_assistant_message",
            "command_line": "command",
        },
        tool_events={"post_write_code": "Edit", "post_run_command": "Bash"},
        hears=frozenset(),
    ),
    # Whatever tells of its sessions over HTTP (`memtool serve`): it has no hooks.
    HTTP: Client(title="HTTP", events={}, hears=frozenset()),
})  # fmt: skip


def history_folder(name: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder in which the client *name* keeps its transcripts."""
    client = CLIENTS[name]
    if client.variable and environ.get(client.variable):
        return Path(environ[client.variable])
    if client.history.startswith(_DATA) and environ.get("XDG_DATA_HOME"):
        return Path(environ["XDG_DATA_HOME"]) / client.history.removeprefix(_DATA)
    return home / client.history


def title_of(name: str) -> str:
    """Return the name for people of the client *name*; of one that is not in the table, *name* itself."""
    return "Claude Code" if name in ("", CLAUDE_CODE) else CLIENTS[name].title if name in CLIENTS else name
