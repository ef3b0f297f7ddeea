"""Events of other clients in the words of Claude Code, and our answers in the words of the client."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtool.clients import CLIENTS, Client
from memtool.hook.main import json_answer

_OF_HOOKS = "<hook_context>"  # Gemini puts it into the prompt, for the hooks that follow


def translated(event: Mapping[str, Any], client: str) -> dict[str, Any]:
    """Return *event* of *client* as Claude Code would send it; without a name if memtool does not use it.

    Raises:
        ValueError: memtool does not know *client*.
    """
    if client not in CLIENTS:
        raise ValueError(f"memtool does not know the client '{client[:40]}'")
    known = CLIENTS[client]
    info = event.get("tool_info")  # Windsurf's own fields
    flat = {**event, **info} if isinstance(info, dict) else event
    fields = {known.fields.get(name, name): value for name, value in flat.items()}
    its = _text(fields, "hook_event_name")
    fields["hook_event_name"] = known.events.get(its, "")
    fields["cwd"] = _text(fields, "cwd") or _workspace(fields)
    if _OF_HOOKS in _text(fields, "prompt"):
        from memtool.capture.transcript.text import without_injected

        fields["prompt"] = without_injected(fields["prompt"]).lstrip()
    if its in known.tool_events:
        fields |= {"tool_name": known.tool_events[its], "tool_input": fields}
    elif "tool_name" in fields:
        fields |= _tool(known, _text(fields, "tool_name"), fields.get("tool_input"), _text(fields, "cwd"))
    return fields


def answered(client: str, event: str, text: str, notice: str) -> str:
    """Return our answer at *event* in the form of *client*; empty if it would not reach the model."""
    known = CLIENTS[client]
    if event not in known.hears or not (text or notice):
        return ""
    if known.answer:
        import json

        return json.dumps({known.answer: text}) if text else ""
    name = next((its for its, ours in known.events.items() if ours == event), event)
    return json_answer(name, text, notice)


def _workspace(event: Mapping[str, Any]) -> str:
    """Return the folder of the session: the first workspace that the client names, or the working folder."""
    roots = event.get("workspace_roots")
    named = [root for root in roots if isinstance(root, str)] if isinstance(roots, list) else []
    with suppress(OSError):
        return named[0] if named else str(Path.cwd())
    return ""


def _tool(known: Client, name: str, arguments: object, cwd: str) -> dict[str, Any]:
    named = {known.arguments.get(key, key): value for key, value in _arguments(arguments).items()}
    tool = known.tools.get(name, name)
    if tool == "Edit" and "file_path" not in named:
        from posixpath import isabs, join, normpath

        from memtool.capture.transcript.text import files_in_patch

        patch = named.get("command")
        files = files_in_patch(patch) if isinstance(patch, str) else []
        named = {"files": [file if isabs(file) or not isabs(cwd) else normpath(join(cwd, file)) for file in files]}
    return {"tool_name": tool, "tool_input": named}


def _arguments(value: object) -> dict[str, Any]:
    if isinstance(value, str):  # JSON in a text
        import json

        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return value if isinstance(value, dict) else {}


def _text(event: Mapping[str, Any], field: str) -> str:
    value = event.get(field)
    return value if isinstance(value, str) else ""
