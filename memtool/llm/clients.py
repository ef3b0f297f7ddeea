"""Text from the commands of Claude Code, Codex, Gemini CLI and OpenCode, with the login that the user has there.

The call has no hooks, no plugins and no tools of the user's, and leaves no session behind. An option that an old client
does not know makes the call fail, as it should. Codex, Gemini CLI and OpenCode always read the user's own AGENTS.md or
GEMINI.md. Tried with Codex 0.169.0, Gemini CLI 0.61.0 and
OpenCode 1.18.33 (`tests/other_agents/test_writers.py`).
"""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from memtool.llm import Request, tokens_used
from memtool.llm.command import (
    SYSTEM,
    ClientCommand,
    CommandReply,
    Start,
    as_cost,
    find_program,
    json_lines,
)
from memtool.settings import INTERNAL, Keys, environment, user_cache_path
from memtool.settings.sections import ModelSettings
from memtool.text.json_places import object_in
from memtool.vault.files import make_folder


class ClaudeCommand(ClientCommand):
    """The model of Claude Code."""

    name = "claude"
    command = "claude"
    hint = "Try `claude -p hello` in a terminal; `claude update` brings the options that memtool needs."

    @classmethod
    def open(cls, _: str, settings: ModelSettings, __: Keys) -> Self:
        """Return the command that *settings* name; see `memtool.llm.open_provider`."""
        hint = "Install Claude Code, or name it with llm.claude_command."
        return cls(find_program(settings.claude_command, hint), settings.claude_model, environment())

    def start(self, folder: Path, request: Request) -> Start:
        """Return how to start it; see `ClientCommand`."""
        limits = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(request.max_tokens), "CLAUDE_CODE_TMPDIR": str(folder)}
        variables = {INTERNAL: "1", **_CLAUDE_VARIABLES, **limits}
        # Variables stand here as well: those of the user's own settings would win over the process's.
        (folder / "settings.json").write_text(json.dumps({**_CLAUDE_SETTINGS, "env": variables}), encoding="utf-8")
        return Start((*_CLAUDE_ARGUMENTS, *self.model_options), variables)

    def reply(self, said: str) -> CommandReply:
        """Return the client's result: the last line that is one."""
        results = [value for value in json_lines(said) if value.get("type") == "result"]
        result: Mapping[str, object] = results[-1] if results else {}
        usage, models, text = result.get("usage"), result.get("modelUsage"), result.get("result")
        text, status = _text(text), result.get("api_error_status")
        # The service was busy; or, where it gave no status, could not be reached.
        is_busy = status in (408, 429) or status >= 500 if isinstance(status, int) else text.startswith("API Error: ")
        return CommandReply(
            text,
            result.get("is_error") is False,
            tokens_used(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
            tokens_used(usage, "output_tokens"),
            as_cost(result.get("total_cost_usd")),
            next(iter(models), "") if isinstance(models, dict) else "",
            is_busy,
        )


class CodexCommand(ClientCommand):
    """The model of Codex. It keeps one tool, which edits files, and a sandbox in which nothing can be written."""

    name = "codex"
    command = "codex"
    hint = "Try `codex exec hello` in a terminal, or install Codex."

    def start(self, folder: Path, request: Request) -> Start:  # noqa: ARG002
        """Return how to start it; see `ClientCommand`."""
        home, servers = Path(self._environ.get("CODEX_HOME") or Path.home() / ".codex"), list[str]()
        with suppress(OSError, ValueError):  # the user's MCP servers can be switched off one by one only
            named = tomllib.loads((home / "config.toml").read_text(encoding="utf-8")).get("mcp_servers", {})
            servers = [name for name in named if re.fullmatch(r"[\w-]+", name)]
        settings = {
            **{f"features.{name}": False for name in _CODEX_FEATURES},
            **{f"mcp_servers.{name}.enabled": False for name in servers},
            **_CODEX_SETTINGS,
            "model_instructions_file": str(folder / SYSTEM),
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}")]
        return Start((*_CODEX_ARGUMENTS, *options, *self.model_options, "-"))

    def reply(self, said: str) -> CommandReply:
        """Return the last message of the agent."""
        reply = CommandReply(model=self._model)
        for event in json_lines(said):
            item, kind = event.get("item"), event.get("type")
            if kind == "turn.completed":
                usage = event.get("usage")
                made = tokens_used(usage, "output_tokens")
                reply = reply._replace(input_tokens=tokens_used(usage, "input_tokens"), output_tokens=made)
            elif kind == "item.completed" and isinstance(item, dict) and item.get("type") == "agent_message":
                reply = reply._replace(text=_text(item.get("text")), is_good=True)
            elif kind in ("turn.failed", "error"):
                reply = reply._replace(text=_reason(event), is_good=False)
        return reply


class GeminiCommand(ClientCommand):
    """The model of Gemini CLI."""

    name = "gemini-cli"
    command = "gemini"
    hint = "Try `gemini -p hello` in a terminal, or install Gemini CLI."

    _session = ""

    def start(self, folder: Path, request: Request) -> Start:  # noqa: ARG002
        """Return how to start it; see `ClientCommand`."""
        # It keeps a list of all folders that it worked in, so it is always the same one.
        work = user_cache_path(self._environ) / "gemini-cli"
        make_folder(work / ".gemini")
        (work / ".gemini" / "settings.json").write_text(json.dumps(_GEMINI_SETTINGS), encoding="utf-8")
        self._session = str(uuid.uuid4())
        arguments = (*_GEMINI_ARGUMENTS, "--session-id", self._session, *self.model_options, "--prompt", " ")
        # Only in a folder that is trusted does it read the settings there.
        variables = {"GEMINI_SYSTEM_MD": str(folder / SYSTEM), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        return Start(arguments, variables, work)

    def clean_up(self) -> None:
        """Remove the session, which it keeps whatever it is told."""
        home = Path(self._environ.get("GEMINI_CLI_HOME") or Path.home())
        if self._session:
            for path in (home / ".gemini" / "tmp").glob(f"*/chats/session-*{self._session[:8]}*"):
                with suppress(OSError):
                    path.unlink()

    def reply(self, said: str) -> CommandReply:
        """Return the response, and the tokens of all models that took part in it."""
        answer = object_in(said[max(said.find("{"), 0) :])
        if "response" not in answer:
            return CommandReply(_reason(answer))
        stats = answer.get("stats")
        models = stats.get("models") if isinstance(stats, dict) else None
        usages = {
            name: model.get("tokens") for name, model in (models or {}).items() if isinstance(model, dict)
        }  # fmt: skip
        return CommandReply(
            _text(answer["response"]),
            is_good=True,
            input_tokens=sum(tokens_used(usage, "prompt", "tool") for usage in usages.values()),
            output_tokens=sum(tokens_used(usage, "candidates", "thoughts") for usage in usages.values()),
            model=next(iter(usages), ""),
        )


class OpenCodeCommand(ClientCommand):
    """The model of OpenCode."""

    name = "opencode"
    command = "opencode"
    hint = "Try `opencode run hello` in a terminal, or install OpenCode."

    def start(self, folder: Path, request: Request) -> Start:  # noqa: ARG002
        """Return how to start it; see `ClientCommand`."""
        agent = {"mode": "primary", "prompt": request.system, "permission": {"*": "deny"}}
        settings = {**_OPENCODE_SETTINGS, "agent": {"memtool": agent}}
        variables = {"OPENCODE_CONFIG_CONTENT": json.dumps(settings), **_OPENCODE_VARIABLES}
        return Start((*_OPENCODE_ARGUMENTS, *self.model_options), variables)

    def reply(self, said: str) -> CommandReply:
        """Return the texts of the answer."""
        reply = CommandReply(model=self._model)
        for event in json_lines(said):
            part = event.get("part")
            part = part if isinstance(part, dict) else {}
            if event.get("type") == "text":
                reply = reply._replace(text=reply.text + _text(part.get("text")), is_good=True)
            elif event.get("type") == "step_finish":
                tokens = part.get("tokens")
                cache = tokens.get("cache") if isinstance(tokens, dict) else None
                reply = reply._replace(
                    input_tokens=tokens_used(tokens, "input") + tokens_used(cache, "write", "read"),
                    output_tokens=tokens_used(tokens, "output", "reasoning"),
                    cost_usd=as_cost(part.get("cost")) or None,
                )
            elif event.get("type") == "error":
                return CommandReply(_reason(event))
        return reply


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _reason(event: dict[str, Any]) -> str:
    """Return why a client failed, as its last message has it."""
    error = event.get("error", event)
    data = error.get("data", error) if isinstance(error, dict) else error
    return _text(data.get("message") if isinstance(data, dict) else data)


_CLAUDE_ARGUMENTS = (
    "-p",
    "--safe-mode",  # no hooks, plugins, MCP servers, CLAUDE.md; the login works. `--bare` would want an API key
    "--strict-mcp-config",
    "--no-session-persistence",
    "--disable-slash-commands",
    "--tools", "",
    "--max-turns", "1",
    "--output-format", "json",
    "--settings", "../settings.json",
    "--system-prompt-file", "../system.md",
)  # fmt: skip
_CLAUDE_SETTINGS = {"disableAllHooks": True, "outputStyle": "default", "effortLevel": "low"}
_CLAUDE_VARIABLES = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",  # or `@~/.ssh/config` in the transcript would send that file
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # `memtool.llm.chain` does that
    "DISABLE_AUTOUPDATER": "1",
}
_CODEX_ARGUMENTS = (
    "exec", "--ephemeral", "--ignore-rules", "--skip-git-repo-check", "--sandbox", "read-only", "--json",
    "--color", "never",
)  # fmt: skip
_CODEX_FEATURES = (
    "apps", "browser_use", "computer_use", "goals", "hooks", "image_generation", "in_app_browser", "memories",
    "multi_agent", "plugins", "remote_plugin", "shell_tool", "skill_search", "sleep_tool", "tool_suggest",
    "unified_exec", "view_image", "workspace_dependencies",
)  # fmt: skip
_CODEX_SETTINGS: dict[str, object] = {
    "project_doc_max_bytes": 0,
    "web_search": "disabled",
    "model_reasoning_effort": "low",
    "include_environment_context": False,
    "include_permissions_instructions": False,
    "include_apps_instructions": False,
    "include_collaboration_mode_instructions": False,
    "skills.include_instructions": False,
    "skills.bundled.enabled": False,
    "tools.experimental_request_user_input.enabled": False,
}
_GEMINI_ARGUMENTS = ("--skip-trust", "--output-format", "json", "-e", "none", "--allowed-mcp-server-names", "none")
_GEMINI_SETTINGS = {
    "hooksConfig": {"enabled": False},
    "tools": {"core": ["none"]},
    "skills": {"enabled": False},
    "experimental": {"enableAgents": False},
    "context": {"includeDirectoryTree": False},
    "general": {"enableAutoUpdate": False},
}
_OPENCODE_ARGUMENTS = ("run", "--format", "json", "--pure", "--agent", "memtool", "--title", "memtool")
_OPENCODE_SETTINGS = {"share": "disabled", "autoupdate": False, "snapshot": False, "permission": {"*": "deny"}}
_OPENCODE_VARIABLES = {
    "OPENCODE_DB": ":memory:",  # where it keeps sessions
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE": "1",
    "OPENCODE_DISABLE_SHARE": "1",
}
