"""Text from the `claude` command in headless mode, so that a user needs no key beside the login of Claude Code.

Nothing of the user's reaches the call, and nothing of the call reaches the user: no hooks, plugins, MCP servers,
CLAUDE.md, memory, tools or session files. A switch that an old client does not know makes the call fail, as it should.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from memtool.llm import Request, tokens_used
from memtool.llm.command import (
    ClientCommand,
    CommandReply,
    Start,
    as_cost,
    empty_folder,
    find_program,
    json_lines,
    write_system,
)
from memtool.settings import INTERNAL, Keys, environment
from memtool.settings.sections import ModelSettings

ARGUMENTS = (
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
SETTINGS = {"disableAllHooks": True, "outputStyle": "default", "effortLevel": "low"}
VARIABLES = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",  # or `@~/.ssh/config` in the transcript would send that file
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # `memtool.llm.chain` does that
    "DISABLE_AUTOUPDATER": "1",
}


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
        variables = {INTERNAL: "1", **VARIABLES, **limits}
        # Variables stand here as well: those of the user's own settings would win over the process's.
        (folder / "settings.json").write_text(json.dumps({**SETTINGS, "env": variables}), encoding="utf-8")
        write_system(folder, request)
        model = ("--model", self._model) if self._model else ()
        return Start((*ARGUMENTS, *model), empty_folder(folder), variables)

    def reply(self, said: str) -> CommandReply:
        """Return the client's result: the last line that is one."""
        results = [value for value in json_lines(said) if value.get("type") == "result"]
        result: Mapping[str, object] = results[-1] if results else {}
        usage, models, text = result.get("usage"), result.get("modelUsage"), result.get("result")
        text = text if isinstance(text, str) else ""
        return CommandReply(
            text,
            result.get("is_error") is False,
            tokens_used(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
            tokens_used(usage, "output_tokens"),
            as_cost(result.get("total_cost_usd")),
            next(iter(models), "") if isinstance(models, dict) else "",
            _may_pass(result.get("api_error_status"), text),
        )


def _may_pass(status: object, why: str) -> bool:
    """Return whether the service was busy; or, where it gave no *status*, could not be reached."""
    if isinstance(status, int):
        return status in (408, 429) or status >= 500
    return why.startswith("API Error: ")
