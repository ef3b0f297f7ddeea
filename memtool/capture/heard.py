"""Our own transcript of a session, for clients that keep none: what their events report, redacted.

It has the form of Claude Code's, so that it is captured as those are, and lies in `.memtool/heard/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtool.capture import limits
from memtool.capture.client_event import ClientEvent
from memtool.capture.transcript import EDITING_TOOLS, forms
from memtool.capture.transcript.record_fields import dict_of
from memtool.vault.layout import Vault, session_name
from memtool.vault.state import append_state, make_state_folder

READING_TOOL = "Read"


def heard_folder(vault: Vault) -> Path:
    """Return the folder of our own transcripts."""
    return vault.state_path / "heard"


def heard_path(vault: Vault, session_id: str) -> Path:
    """Return the path of our own transcript of a session."""
    return heard_folder(vault) / f"{session_name(session_id)}.jsonl"


def keep(event: ClientEvent) -> None:
    """Add what the event reports to the transcript; at the start of a session, delete transcripts of long ago."""
    if event.name == "SessionStart":
        _delete_old(heard_folder(event.work.vault), event.work.now().timestamp())
    if event.text("session_id"):
        for record in _records(event):
            keep_record(event, record)


def keep_record(event: ClientEvent, record: dict[str, Any]) -> None:
    """Add *record* to the transcript of the session."""
    work, session_id = event.work, event.text("session_id")
    envelope = {
        "sessionId": session_id,
        "client": event.client,
        "cwd": event.text("cwd"),
        "timestamp": work.now().isoformat(),
    }
    path = heard_path(work.vault, session_id)
    make_state_folder(path.parent)
    append_state(path, json.dumps({**envelope, **record}, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _records(event: ClientEvent) -> Iterator[dict[str, Any]]:
    if event.name == "UserPromptSubmit" and (prompt := _redacted(event, event.text("prompt"))):
        yield forms.typed(prompt)
    elif event.name == "Stop" and (answer := _redacted(event, event.text("last_assistant_message"))):
        yield forms.said(answer)
    elif event.name == "PostToolUse":
        yield from _tool_records(event)


def _tool_records(event: ClientEvent) -> Iterator[dict[str, Any]]:
    tool = event.text("tool_name")
    arguments = dict_of(event.fields.get("tool_input"))
    if tool in EDITING_TOOLS:
        used = [{"file_path": event.work.redact(file)} for file in event.edited_files()]
    elif tool in ("Bash", READING_TOOL):
        name = "command" if tool == "Bash" else "file_path"
        text = _redacted(event, arguments.get(name))
        used = [{name: text}] if text else []
    else:
        return
    for number, one in enumerate(used):
        call = f"{event.work.now().timestamp()}#{number}"
        yield forms.use(call, tool, one)
        code = event.fields.get("exit_code")
        output = _redacted(event, event.fields.get("tool_response")) if tool == "Bash" else ""
        yield forms.result(call, output, failed=isinstance(code, int) and code != 0)


def _redacted(event: ClientEvent, value: object) -> str:
    return event.work.redact(value[: limits.TEXT]).strip() if isinstance(value, str) else ""


def _delete_old(folder: Path, now: float) -> None:
    for path in folder.glob("*.jsonl"):
        with suppress(OSError):
            if now - path.lstat().st_mtime > limits.HEARD_SECONDS:
                path.unlink()
