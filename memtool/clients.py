"""The coding agents that memtool works with, one row each. Data only.

A row says where the agent keeps its files, which of them `memtool install` changes, and how the agent names its hook
events, fields and tools; everything else in memtool speaks Claude Code's language. docs/agents.md says which agents are
tested with the real client (Codex, Gemini CLI, OpenCode); the others follow their documentation of November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memtool.named_tuple import NamedTuple

CLAUDE_CODE = "claude-code"
HTTP = "http"
_DATA = ".local/share/"
_NONE: Mapping[str, Any] = MappingProxyType({})

# Forms of hooks: groups of handlers as in Claude Code, one list of handlers for each event, a plugin in JavaScript.
GROUPED, FLAT, SCRIPT = "grouped", "flat", "script"
# How a client writes the program of a server: `command` and `args`; the same with the type `stdio`; one list.
PLAIN, TYPED, LISTED, GOOSE, COPILOT = "plain", "typed", "listed", "goose", "copilot"
HOOKS, HINTS, KNOWN = "hooks", "hints", ""  # the part that installs a handler for an event; none does for a known one


class Event(NamedTuple):
    """An event of a client: *means* is Claude Code's name for it; the rest describes the handler that we install.

    Args:
        name: the client's name for it.
        means: Claude Code's name; empty for the same.
        matcher: the tools for which the handler runs.
        timeout: seconds, or what the client counts in. Claude Code's own is 600, and 1.5 for SessionEnd.
        status: what the client shows while somebody waits for the handler.
        part: the part of the installation that brings the handler.
    """

    name: str
    means: str = ""
    matcher: str = ""
    timeout: int = 10
    status: str = ""
    part: str = HOOKS


class Mcp(NamedTuple):
    """The entry for the MCP server, in a file whose suffix says whether it is JSON, TOML or YAML.

    Args:
        path: of the file, in the client's folder; *project* is that in the folder of a project, empty for none.
        keys: the objects that hold the entry `memtool`.
        shape: how the program is written.
        others: names that the file may have instead; the first one that exists is taken.
    """

    path: str
    keys: tuple[str, ...] = ("mcpServers",)
    shape: str = PLAIN
    project: str = ""
    others: tuple[str, ...] = ()


class Hooks(NamedTuple):
    """The hooks.

    Args:
        path: of the file, in the client's folder; *project* is that in the folder of a project, empty for none.
        events: those that memtool understands.
        form: of the file.
        head: the members with which a file of ours begins.
        command: the member of a handler that holds its command, and *handler* its others, in flat form.
    """

    path: str
    events: tuple[Event, ...]
    form: str = GROUPED
    project: str = ""
    head: Mapping[str, Any] = _NONE
    command: str = "command"
    handler: Mapping[str, Any] = _NONE


class Transcripts(NamedTuple):
    """The transcripts of a client, which the module of its name in `memtool.capture.transcript` reads.

    Args:
        folder: of them, in the user's home.
        mark: a pattern of the first bytes of such a file; empty for Claude Code's, which any other file may be.
    """

    folder: str
    mark: bytes = b""


class Client(NamedTuple):
    """One agent.

    Args:
        title: its name for people.
        folder: of its settings, in the user's home; *variable* of the environment may name another one. Without it,
            memtool installs nothing.
        transcripts: those that memtool reads. Without them, the hooks keep a transcript of what they hear.
        mac, windows: its folder on these systems, where it is another one.
        instructions: its file of instructions, in its folder, and in that of a project; empty for none.
        adds_to_instructions: whether only an existing file is added to: a new one would replace the client's own text.
        reads_skills: whether it reads the shared folder `~/.agents/skills`.
        remark: what its user has to do or to know after the installation.
        hears: the events, in Claude Code's words, at which text that a hook prints reaches the model.
        fields: the fields of its events that have another name, and ours.
        tools: its tools, and ours.
        arguments: the arguments of its tools that have another name, and ours.
        tool_events: its events for one tool each, and that tool; then the event itself holds the arguments.
        answer: the member of a hook's answer that holds the text; empty for the form of Claude Code.
    """

    title: str
    folder: str = ""
    variable: str = ""
    transcripts: Transcripts | None = None
    mac: str = ""
    windows: str = ""
    mcp: Mcp | None = None
    hooks: Hooks | None = None
    instructions: str = ""
    project_instructions: str = "AGENTS.md"
    adds_to_instructions: bool = False
    reads_skills: bool = True
    remark: str = ""
    hears: frozenset[str] = frozenset({"SessionStart", "UserPromptSubmit"})
    fields: Mapping[str, str] = _NONE
    tools: Mapping[str, str] = _NONE
    arguments: Mapping[str, str] = _NONE
    tool_events: Mapping[str, str] = _NONE
    answer: str = ""

    @property
    def events(self) -> dict[str, str]:
        """Its events, and those of Claude Code that they are."""
        return {event.name: event.means or event.name for event in self.hooks.events} if self.hooks else {}

    @property
    def recalls(self) -> bool:
        """Whether what its hooks print when a session starts reaches the model."""
        return self.hooks is not None and "SessionStart" in self.hears


_RECALLING = "memtool: recalling"
_EDITS = "Write|Edit|MultiEdit|NotebookEdit"
_PATCHES = "apply_patch|Edit|Write"
_SAME = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "PostCompact",
         "SessionEnd")  # fmt: skip

CLAUDE_HOOKS = Hooks("settings.json", (
    Event("SessionStart", status="memtool: recalling this project"),
    Event("UserPromptSubmit", status=_RECALLING),
    Event("PostToolUse", matcher=_EDITS),
    Event("PreCompact", status="memtool: keeping what matters"),
    Event("PostCompact"),
    Event("Stop"),
    Event("SessionEnd"),
    # On request: they cost a process before every edit and after every command that failed.
    Event("PreToolUse", matcher=_EDITS, part=HINTS),
    Event("PostToolUseFailure", matcher="Bash", part=HINTS),
))  # fmt: skip

CLIENTS: Mapping[str, Client] = MappingProxyType({
    # Its other files have a module of their own: `memtool.install.claude_code`.
    CLAUDE_CODE: Client(
        "Claude Code",
        ".claude",
        "CLAUDE_CONFIG_DIR",
        transcripts=Transcripts(".claude"),
        hooks=CLAUDE_HOOKS,
        tools={"Write": "Write"},
    ),
    "codex": Client(
        "Codex",
        ".codex",
        "CODEX_HOME",
        transcripts=Transcripts(".codex", rb'\A\{[^{}]{0,200}"type":\s*"session_meta"|\A\x28\xb5\x2f\xfd'),
        mcp=Mcp("config.toml", ("mcp_servers",), project=".codex/config.toml"),
        hooks=Hooks("hooks.json", (
            Event("SessionStart", status="memtool: recalling this project"),
            Event("UserPromptSubmit", status=_RECALLING),
            Event("PostToolUse", matcher=_PATCHES),
            Event("PreCompact"),
            Event("PostCompact", part=KNOWN),
            Event("Stop"),
            Event("SessionEnd", timeout=3),  # it cuts more, with a warning
            Event("PreToolUse", matcher=_PATCHES, part=HINTS),
        ), project=".codex/hooks.json"),
        instructions="AGENTS.md",
        remark="Codex skips hooks until you trust them: open `codex`, and look through them with `/hooks`",
        hears=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse"}),
        tools={"apply_patch": "Edit"},
    ),
    # Its BeforeTool takes no text, and its PreCompress comes before every request, compressed or not. It counts in
    # milliseconds.
    "gemini": Client(
        "Gemini CLI",
        ".gemini",
        transcripts=Transcripts(".gemini", rb'\A\s*\{\s*"sessionId":\s*"[^"]*",\s*"projectHash":'),
        mcp=Mcp("settings.json", project=".gemini/settings.json"),
        hooks=Hooks("settings.json", (
            Event("SessionStart", timeout=10_000),
            Event("BeforeAgent", "UserPromptSubmit", timeout=10_000),
            Event("AfterTool", "PostToolUse", "write_file|replace", 10_000),
            Event("AfterAgent", "Stop", timeout=10_000),
            Event("SessionEnd", timeout=10_000),
        ), project=".gemini/settings.json"),
        instructions="GEMINI.md",
        project_instructions="GEMINI.md",
        tools={"write_file": "Write", "replace": "Edit", "run_shell_command": "Bash"},
    ),
    # hooks/opencode/memtool.js names the events as Claude Code does.
    "opencode": Client(
        "OpenCode",
        ".config/opencode",
        "OPENCODE_CONFIG_DIR",
        transcripts=Transcripts(".local/share/opencode", rb"\ASQLite format 3\0"),
        mcp=Mcp("opencode.json", ("mcp",), LISTED, "opencode.json", ("opencode.jsonc", "opencode.json")),
        hooks=Hooks("plugins/memtool.js", tuple(map(Event, _SAME)), SCRIPT, ".opencode/plugins/memtool.js"),
        instructions="AGENTS.md",
        tools={"write": "Write", "edit": "Edit", "multiedit": "Edit", "apply_patch": "Edit", "bash": "Bash"},
        arguments={"filePath": "file_path", "patchText": "command"},
    ),
    "cursor": Client(
        "Cursor",
        ".cursor",
        mcp=Mcp("mcp.json", project=".cursor/mcp.json"),
        hooks=Hooks("hooks.json", (
            Event("sessionStart", "SessionStart"),
            Event("beforeSubmitPrompt", "UserPromptSubmit"),
            Event("afterFileEdit", "PostToolUse"),
            Event("afterShellExecution", "PostToolUse"),
            Event("afterAgentResponse", "Stop"),
            Event("sessionEnd", "SessionEnd"),
        ), FLAT, ".cursor/hooks.json", {"version": 1}),
        hears=frozenset({"SessionStart"}),
        fields={"conversation_id": "session_id", "text": "last_assistant_message", "output": "tool_response"},
        tool_events={"afterFileEdit": "Edit", "afterShellExecution": "Bash"},
        answer="additional_context",
    ),
    # Named as in Claude Code, its events come with the fields of Claude Code; what hooks print is dropped.
    "copilot": Client(
        "GitHub Copilot",
        ".copilot",
        "COPILOT_HOME",
        mcp=Mcp("mcp-config.json", shape=COPILOT),
        hooks=Hooks(
            "hooks/memtool.json",
            tuple(map(Event, ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"))),
            FLAT, ".github/hooks/memtool.json", {"version": 1}, "bash", {"type": "command", "timeoutSec": 10},
        ),
        project_instructions=".github/copilot-instructions.md",
        hears=frozenset(),
        tools={"create": "Write", "edit": "Edit", "str_replace_editor": "Edit", "bash": "Bash", "powershell": "Bash"},
        arguments={"path": "file_path", "filePath": "file_path"},
    ),
    "vscode": Client(
        "VS Code",
        ".config/Code/User",
        mac="Library/Application Support/Code/User",
        windows="AppData/Roaming/Code/User",
        mcp=Mcp("mcp.json", ("servers",), TYPED, ".vscode/mcp.json"),
        project_instructions=".github/copilot-instructions.md",
        remark="VS Code runs the hooks of GitHub Copilot: `memtool install copilot` brings them",
    ),
    "windsurf": Client(
        "Windsurf",
        ".codeium/windsurf",
        mcp=Mcp("mcp_config.json"),
        hooks=Hooks("hooks.json", (
            Event("pre_user_prompt", "UserPromptSubmit"),
            Event("post_write_code", "PostToolUse"),
            Event("post_run_command", "PostToolUse"),
            Event("post_cascade_response", "Stop"),
        ), FLAT, ".windsurf/hooks.json", handler={"show_output": False}),
        instructions="memories/global_rules.md",
        reads_skills=False,
        hears=frozenset(),
        fields={
            "agent_action_name": "hook_event_name",
            "trajectory_id": "session_id",
            "user_prompt": "prompt",
            "response": "last_assistant_message",
            "command_line": "command",
        },
        tool_events={"post_write_code": "Edit", "post_run_command": "Bash"},
    ),
    "zed": Client(
        "Zed", ".config/zed", mcp=Mcp("settings.json", ("context_servers",), project=".zed/settings.json"),
        reads_skills=False,
    ),
    "amp": Client(
        "Amp", ".config/amp", mcp=Mcp("settings.json", ("amp.mcpServers",), project=".amp/settings.json"),
        instructions="AGENTS.md",
    ),
    "crush": Client(
        "Crush", ".config/crush", mcp=Mcp("crush.json", ("mcp",), TYPED, "crush.json"), reads_skills=False
    ),
    "goose": Client(
        "Goose", ".config/goose", windows="AppData/Roaming/Block/goose/config",
        mcp=Mcp("config.yaml", ("extensions",), GOOSE),
        instructions=".goosehints", project_instructions=".goosehints",
    ),
    "hermes": Client(
        "Hermes", ".hermes", "HERMES_HOME", mcp=Mcp("config.yaml", ("mcp_servers",)),
        instructions="SOUL.md", project_instructions=".hermes.md", adds_to_instructions=True, reads_skills=False,
        remark="Hermes writes its SOUL.md when it is first run: run `memtool install hermes` after that",
    ),
    "openclaw": Client(
        "OpenClaw", ".openclaw", mcp=Mcp("openclaw.json", ("mcp", "servers")),
        instructions="workspace/AGENTS.md", reads_skills=False,
    ),
    "pi": Client(
        "pi", ".pi/agent", mcp=Mcp("mcp.json", project=".pi/mcp.json"), instructions="AGENTS.md",
        remark="pi reads MCP servers by an extension only: `pi install npm:pi-mcp-adapter`",
    ),
    "antigravity": Client(
        "Antigravity", ".gemini", mcp=Mcp("config/mcp_config.json", project=".agents/mcp_config.json"),
        instructions="GEMINI.md", reads_skills=False,
    ),
    # Programs that send their sessions to `memtool serve`.
    HTTP: Client("HTTP", hears=frozenset()),
})  # fmt: skip


def history_folder(name: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder in which the client *name* keeps its transcripts."""
    client = CLIENTS[name]
    folder = client.transcripts.folder if client.transcripts else client.folder
    if folder.startswith(_DATA) and environ.get("XDG_DATA_HOME"):
        return Path(environ["XDG_DATA_HOME"]) / folder.removeprefix(_DATA)
    if folder == client.folder and environ.get(client.variable):
        return Path(environ[client.variable])
    return home / folder


def title_of(name: str) -> str:
    """Return the name for people of the client *name*, Claude Code by default; without a row, *name* itself."""
    name = name or CLAUDE_CODE
    return CLIENTS[name].title if name in CLIENTS else name
