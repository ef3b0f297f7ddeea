"""Coding agents other than Claude Code: where each keeps its MCP servers, hooks and instructions. Data only.

docs/other-agents.md says which were run for real (Codex, Gemini CLI, OpenCode); all others follow their documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from memtool.install.hooks import Hook

JSON, TOML, YAML = "json", "toml", "yaml"  # formats of the file with the MCP servers
GROUPED, FLAT, SCRIPT = (
    "grouped",
    "flat",
    "script",
)  # forms of hooks: as in Claude Code, a list for each event, a plugin
# How a client writes the program of a server: `command` and `args`; the same with the type `stdio`; one list.
PLAIN, TYPED, LISTED, GOOSE, COPILOT = "plain", "typed", "listed", "goose", "copilot"


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
        command: the member of a handler that holds its command, and *handler* its others, in flat form.
    """

    path: str
    events: tuple[Hook, ...]
    hints: tuple[Hook, ...] = ()
    form: str = GROUPED
    project: str = ""
    head: Mapping[str, Any] = MappingProxyType({})
    command: str = "command"
    handler: Mapping[str, Any] = MappingProxyType({})


class Agent(NamedTuple):
    """One agent.

    Args:
        title: its name for people.
        folder: its folder, in the user's home; *variable* of the environment may name another one.
        instructions: its file of instructions, in its folder, and in that of a project; empty for none.
        adds_to_instructions: whether only a file that is there is added to: a new one would take another text's place.
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
    reads_skills: bool = True
    variable: str = ""
    mac: str = ""
    windows: str = ""
    remark: str = ""
    adds_to_instructions: bool = False


_CODEX = (
    Hook("SessionStart", "gives the session the memory of its project", status="memtool: recalling this project"),
    Hook("UserPromptSubmit", "gives the prompt its memories", status="memtool: recalling"),
    Hook("PostToolUse", "writes edited files into the daily note", "apply_patch|Edit|Write"),
    Hook("PreCompact", "captures the session before it is compacted"),
    Hook("Stop", "captures the session after each answer"),
    Hook("SessionEnd", "captures the session when it ends", timeout=3),  # more is cut, with a warning
)
_CODEX_HINTS = (Hook("PreToolUse", "gives the rules that name a file", "apply_patch|Edit|Write"),)
_MILLISECONDS = 10_000
_GEMINI = (
    Hook("SessionStart", "gives the session the memory of its project", timeout=_MILLISECONDS),
    Hook("BeforeAgent", "gives the prompt its memories", timeout=_MILLISECONDS),
    Hook("AfterTool", "writes edited files into the daily note", "write_file|replace", timeout=_MILLISECONDS),
    Hook("AfterAgent", "captures the session after each answer", timeout=_MILLISECONDS),
    Hook("SessionEnd", "captures the session when it ends", timeout=_MILLISECONDS),
)
_CURSOR = tuple(
    Hook(event, deed)
    for event, deed in {
        "sessionStart": "gives the session the memory of its project",
        "beforeSubmitPrompt": "keeps the prompt",
        "afterFileEdit": "writes edited files into the daily note",
        "afterShellExecution": "keeps what a command came to",
        "afterAgentResponse": "captures the session after each answer",
        "sessionEnd": "captures the session when it ends",
    }.items()
)
_COPILOT = (
    Hook("SessionStart", "finds sessions that were not captured"),
    Hook("UserPromptSubmit", "keeps the prompt"),
    Hook("PostToolUse", "writes edited files into the daily note"),
    Hook("Stop", "captures the session after each answer"),
    Hook("SessionEnd", "captures the session when it ends"),
)
_WINDSURF = (
    Hook("pre_user_prompt", "keeps the prompt"),
    Hook("post_write_code", "writes edited files into the daily note"),
    Hook("post_run_command", "keeps the command"),
    Hook("post_cascade_response", "captures the session after each answer"),
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
    "opencode": Agent(
        "OpenCode",
        ".config/opencode",
        Mcp("opencode.json", ("mcp",), LISTED, project="opencode.json", others=("opencode.jsonc", "opencode.json")),
        Hooks("plugins/memtool.js", (), form=SCRIPT, project=".opencode/plugins/memtool.js"),
        "AGENTS.md",
        variable="OPENCODE_CONFIG_DIR",
    ),
    # From here on: by their documentation of November 2026, and never run with memtool.
    "cursor": Agent(
        "Cursor",
        ".cursor",
        Mcp("mcp.json", project=".cursor/mcp.json"),
        Hooks("hooks.json", _CURSOR, form=FLAT, project=".cursor/hooks.json", head={"version": 1}),
    ),
    "copilot": Agent(
        "GitHub Copilot",
        ".copilot",
        Mcp("mcp-config.json", shape=COPILOT),
        Hooks(
            "hooks/memtool.json", _COPILOT, form=FLAT, project=".github/hooks/memtool.json", head={"version": 1},
            command="bash", handler={"type": "command", "timeoutSec": 10},
        ),
        project_instructions=".github/copilot-instructions.md",
        variable="COPILOT_HOME",
    ),
    "vscode": Agent(
        "VS Code",
        ".config/Code/User",
        Mcp("mcp.json", ("servers",), TYPED, project=".vscode/mcp.json"),
        project_instructions=".github/copilot-instructions.md",
        mac="Library/Application Support/Code/User",
        windows="AppData/Roaming/Code/User",
        remark="VS Code runs the hooks of GitHub Copilot: `memtool install copilot` brings them",
    ),
    "windsurf": Agent(
        "Windsurf",
        ".codeium/windsurf",
        Mcp("mcp_config.json"),
        Hooks("hooks.json", _WINDSURF, form=FLAT, project=".windsurf/hooks.json", handler={"show_output": False}),
        "memories/global_rules.md",
        reads_skills=False,
    ),
    "zed": Agent(
        "Zed",
        ".config/zed",
        Mcp("settings.json", ("context_servers",), project=".zed/settings.json"),
        reads_skills=False,
    ),
    "amp": Agent(
        "Amp",
        ".config/amp",
        Mcp("settings.json", ("amp.mcpServers",), project=".amp/settings.json"),
        instructions="AGENTS.md",
    ),
    "crush": Agent(
        "Crush",
        ".config/crush",
        Mcp("crush.json", ("mcp",), TYPED, project="crush.json"),
        reads_skills=False,
    ),
    "goose": Agent(
        "Goose",
        ".config/goose",
        Mcp("config.yaml", ("extensions",), GOOSE, YAML),
        instructions=".goosehints",
        project_instructions=".goosehints",
        windows="AppData/Roaming/Block/goose/config",
    ),
    "hermes": Agent(
        "Hermes",
        ".hermes",
        Mcp("config.yaml", ("mcp_servers",), file_format=YAML),
        instructions="SOUL.md",
        project_instructions=".hermes.md",
        reads_skills=False,
        adds_to_instructions=True,
        variable="HERMES_HOME",
        remark="Hermes writes its SOUL.md when it is first run: run `memtool install hermes` after that",
    ),
    "openclaw": Agent(
        "OpenClaw",
        ".openclaw",
        Mcp("openclaw.json", ("mcp", "servers")),
        instructions="workspace/AGENTS.md",
        reads_skills=False,
    ),
    "pi": Agent(
        "pi",
        ".pi/agent",
        Mcp("mcp.json", project=".pi/mcp.json"),
        instructions="AGENTS.md",
        remark="pi reads MCP servers by an extension only: `pi install npm:pi-mcp-adapter`",
    ),
    "antigravity": Agent(
        "Antigravity",
        ".gemini",
        Mcp("config/mcp_config.json", project=".agents/mcp_config.json"),
        instructions="GEMINI.md",
        reads_skills=False,
    ),
})  # fmt: skip
