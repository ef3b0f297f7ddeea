"""Coding agents other than Claude Code: where each keeps its MCP servers, hooks and instructions. Data only.

docs/other-agents.md says which were run for real (Codex, Gemini CLI, OpenCode); all others follow their documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from memtool.integrations.hooks import Hook

JSON, TOML, YAML = "json", "toml", "yaml"  # formats of the file with the MCP servers
GROUPED, FLAT, SCRIPT = (
    "grouped",
    "flat",
    "script",
)  # forms of hooks: as in Claude Code, a list for each event, a plugin
# How a client writes the program of a server: `command` and `args`; the same with the type `stdio`; one list.
PLAIN, TYPED, LISTED, GOOSE = "plain", "typed", "listed", "goose"


class Mcp(NamedTuple):
    """The entry for the MCP server.

    Args:
        path: of the file, in the client's folder; *project* is that in the folder of a project, empty for none.
        keys: below which the entry `memtool` stands.
        shape: how the program is written.
        file_format: of the file.
        others: names that the file may have instead; the first one that is there is taken.
    """

    path: str
    keys: tuple[str, ...] = ("mcpServers",)
    shape: str = PLAIN
    file_format: str = JSON
    project: str = ""
    others: tuple[str, ...] = ()


class Hooks(NamedTuple):
    """The hooks.

    Args:
        path: of the file, in the client's folder; *project* is that in the folder of a project, empty for none.
        events: those that memtool listens to.
        hints: those that a part of their own adds.
        form: of the file.
        head: the members with which a file of ours begins.
        handler: the members of a handler beside its command, in flat form.
    """

    path: str
    events: tuple[Hook, ...]
    hints: tuple[Hook, ...] = ()
    form: str = GROUPED
    project: str = ""
    head: Mapping[str, Any] = MappingProxyType({})
    handler: Mapping[str, Any] = MappingProxyType({})


class Agent(NamedTuple):
    """One agent.

    Args:
        title: its name for people.
        folder: its folder, in the user's home; *variable* of the environment may name another one.
        instructions: its file of instructions, in its folder, and in that of a project; empty for none.
        owns_instructions: whether the file is one of many, so that memtool writes one of its own.
        reads_skills: whether it reads the shared folder `~/.agents/skills`.
        mac, windows: its folder on these systems, where it is another one.
        remark: what its user has to do or to know after the installation.
    """

    title: str
    folder: str
    mcp: Mcp
    hooks: Hooks | None = None
    instructions: str = ""
    project_instructions: str = "AGENTS.md"
    owns_instructions: bool = False
    reads_skills: bool = True
    variable: str = ""
    mac: str = ""
    windows: str = ""
    remark: str = ""


_CODEX = (
    Hook("SessionStart", "gives the session the memory of its project", status="memtool: recalling this project"),
    Hook("UserPromptSubmit", "gives the prompt its memories", status="memtool: recalling"),
    Hook("PostToolUse", "writes edited files into the daily note", "apply_patch|Edit|Write"),
    Hook("PreCompact", "captures the session before it is compacted"),
    Hook("Stop", "captures the session after each answer"),
    Hook("SessionEnd", "captures the session when it ends", timeout=3),  # more is cut, with a warning
)
_CODEX_HINTS = (Hook("PreToolUse", "gives what held before", "Bash|apply_patch"),)
_MILLISECONDS = 10_000
_GEMINI = (
    Hook("SessionStart", "gives the session the memory of its project", timeout=_MILLISECONDS),
    Hook("BeforeAgent", "gives the prompt its memories", timeout=_MILLISECONDS),
    Hook("AfterTool", "writes edited files into the daily note", "write_file|replace", timeout=_MILLISECONDS),
    Hook("AfterAgent", "captures the session after each answer", timeout=_MILLISECONDS),
    Hook("SessionEnd", "captures the session when it ends", timeout=_MILLISECONDS),
)

AGENTS: Mapping[str, Agent] = MappingProxyType({
    "codex": Agent(
        "Codex",
        ".codex",
        Mcp("config.toml", ("mcp_servers",), file_format=TOML, project=".codex/config.toml"),
        Hooks("hooks.json", _CODEX, _CODEX_HINTS, project=".codex/hooks.json"),
        "AGENTS.md",
        variable="CODEX_HOME",
        remark="Codex skips hooks until you trust them: open `codex`, and look through them with `/hooks`",
    ),
    "gemini": Agent(
        "Gemini CLI",
        ".gemini",
        Mcp("settings.json", project=".gemini/settings.json"),
        Hooks("settings.json", _GEMINI, project=".gemini/settings.json"),
        "GEMINI.md",
        "GEMINI.md",
    ),
})  # fmt: skip
