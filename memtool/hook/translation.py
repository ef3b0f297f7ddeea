"""The event of another client in the words of Claude Code, and our answer in the words of that client."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memtool.clients import CLIENTS, Client

# Gemini puts what hooks said into the prompt, for hooks that come later.
_SAID_BY_HOOKS = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)


def translated(event: Mapping[str, Any], client: str) -> dict[str, Any]:
    """Return *event* of *client* as Claude Code would have sent it; without a name if memtool has no use for it.

    Raises:
        ValueError: memtool does not know *client*.
    """
    if client not in CLIENTS:
        raise ValueError(f"memtool does not know the client '{client[:40]}'")
    known = CLIENTS[client]
    given = {known.fields.get(name, name): value for name, value in event.items()}
    given["hook_event_name"] = known.events.get(_text(given, "hook_event_name"), "")
    if "prompt" in given:
        given["prompt"] = _SAID_BY_HOOKS.sub("", _text(given, "prompt"))
    if "tool_name" in given:
        given |= _tool(known, _text(given, "tool_name"), given.get("tool_input"), _text(given, "cwd"))
    return given


def name_in(client: str, event: str) -> str:
    """Return the name that *client* has for our *event*."""
    return next((its for its, ours in CLIENTS[client].events.items() if ours == event), event)


def hears(client: str, event: str) -> bool:
    """Return whether text that a hook prints at our *event* reaches the model of *client*."""
    return event in CLIENTS[client].hears


def _tool(known: Client, name: str, given: object, cwd: str) -> dict[str, Any]:
    arguments = (
        {known.arguments.get(key, key): value for key, value in given.items()} if isinstance(given, dict) else {}
    )
    tool = known.tools.get(name, name)
    if tool == "Edit" and "file_path" not in arguments:
        from memtool.capture.patch import files_in_patch

        patch = arguments.get("command")
        files = files_in_patch(patch) if isinstance(patch, str) else []
        arguments = {"files": [_absolute(file, cwd) for file in files]}
    return {"tool_name": tool, "tool_input": arguments}


def _absolute(file: str, cwd: str) -> str:
    from posixpath import isabs, join, normpath

    return file if isabs(file) or not isabs(cwd) else normpath(join(cwd, file))


def _text(event: Mapping[str, Any], field: str) -> str:
    value = event.get(field)
    return value if isinstance(value, str) else ""
