"""The event of another client in the words of Claude Code, and our answer in the words of that client."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtool.clients import CLIENTS, Client

_SAID_BY_HOOKS = "<hook_context>"  # Gemini puts that into the prompt, for hooks that come later


def translated(event: Mapping[str, Any], client: str) -> dict[str, Any]:
    """Return *event* of *client* as Claude Code would have sent it; without a name if memtool has no use for it.

    Raises:
        ValueError: memtool does not know *client*.
    """
    if client not in CLIENTS:
        raise ValueError(f"memtool does not know the client '{client[:40]}'")
    known = CLIENTS[client]
    told = event.get("tool_info")  # Windsurf's own fields lie in there
    flat = {**event, **told} if isinstance(told, dict) else event
    given = {known.fields.get(name, name): value for name, value in flat.items()}
    its = _text(given, "hook_event_name")
    given["hook_event_name"] = known.events.get(its, "")
    given["cwd"] = _text(given, "cwd") or _workspace(given)
    if _SAID_BY_HOOKS in _text(given, "prompt"):
        from memtool.capture.transcript.text import without_injected

        given["prompt"] = without_injected(given["prompt"]).lstrip()
    if its in known.tool_events:
        given |= {"tool_name": known.tool_events[its], "tool_input": given}
    elif "tool_name" in given:
        given |= _tool(known, _text(given, "tool_name"), given.get("tool_input"), _text(given, "cwd"))
    return given


def answered(client: str, event: str, text: str, notice: str) -> str:
    """Return what *client* is to be told at our *event*, in its form: nothing where it would not reach its model."""
    known = CLIENTS[client]
    if event not in known.hears or not (text or notice):
        return ""
    import json

    if known.answer:
        return json.dumps({known.answer: text}) if text else ""
    name = next((its for its, ours in known.events.items() if ours == event), event)
    context = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}} if text else {}
    return json.dumps({**({"systemMessage": notice} if notice else {}), **context})


def _workspace(event: Mapping[str, Any]) -> str:
    """Return the folder of a client that names its workspaces, or lets a hook run there."""
    roots = event.get("workspace_roots")
    named = [root for root in roots if isinstance(root, str)] if isinstance(roots, list) else []
    with suppress(OSError):
        return named[0] if named else str(Path.cwd())
    return ""


def _tool(known: Client, name: str, given: object, cwd: str) -> dict[str, Any]:
    arguments = {known.arguments.get(key, key): value for key, value in _arguments(given).items()}
    tool = known.tools.get(name, name)
    if tool == "Edit" and "file_path" not in arguments:
        from memtool.capture.transcript.text import files_in_patch

        patch = arguments.get("command")
        files = files_in_patch(patch) if isinstance(patch, str) else []
        arguments = {"files": [_absolute(file, cwd) for file in files]}
    return {"tool_name": tool, "tool_input": arguments}


def _arguments(given: object) -> dict[str, Any]:
    if isinstance(given, str):  # JSON in a text
        import json

        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    return given if isinstance(given, dict) else {}


def _absolute(file: str, cwd: str) -> str:
    from posixpath import isabs, join, normpath

    return file if isabs(file) or not isabs(cwd) else normpath(join(cwd, file))


def _text(event: Mapping[str, Any], field: str) -> str:
    value = event.get(field)
    return value if isinstance(value, str) else ""
