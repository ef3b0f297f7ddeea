"""A transcript of our own, for clients that keep none which memtool reads: what their hooks tell, redacted.

It is written in the form of Claude Code's, so that it is captured as those are. It lies in `.memtool/heard/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtool.capture.conversation import EDITING_TOOLS
from memtool.capture.transcript import forms
from memtool.hook.occasion import Occasion
from memtool.vault.layout import Vault, session_name
from memtool.vault.state import append_state, make_state_folder

READING_TOOL = "Read"

_LONGEST = 65_536  # characters of one text
_KEPT = 30 * 86_400.0  # seconds


def heard_folder(vault: Vault) -> Path:
    """Return the folder of the transcripts that hooks keep."""
    return vault.state_path / "heard"


def heard_path(vault: Vault, session_id: str) -> Path:
    """Return the path of the transcript that hooks keep of a session."""
    return heard_folder(vault) / f"{session_name(session_id)}.jsonl"


def keep(occasion: Occasion) -> None:
    """Add what the event tells to the transcript; at the start of a session, forget those of long ago."""
    work, session_id = occasion.work, occasion.text("session_id")
    if occasion.name == "SessionStart":
        _forget_old(heard_folder(work.vault), work.now().timestamp())
    if session_id:
        for record in _records(occasion):
            keep_record(occasion, record)


def keep_record(occasion: Occasion, record: dict[str, Any]) -> None:
    """Add *record* to the transcript of the session."""
    work, session_id = occasion.work, occasion.text("session_id")
    envelope = {
        "sessionId": session_id,
        "client": occasion.options.client,
        "cwd": occasion.text("cwd"),
        "timestamp": work.now().isoformat(),
    }
    path = heard_path(work.vault, session_id)
    make_state_folder(path.parent)
    append_state(path, json.dumps({**envelope, **record}, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _records(occasion: Occasion) -> Iterator[dict[str, Any]]:
    if occasion.name == "UserPromptSubmit" and (prompt := _text(occasion, occasion.event.get("prompt"))):
        yield forms.typed(prompt)
    elif occasion.name == "Stop" and (answer := _text(occasion, occasion.event.get("last_assistant_message"))):
        yield forms.said(answer)
    elif occasion.name == "PostToolUse":
        yield from _tool(occasion)


def _tool(occasion: Occasion) -> Iterator[dict[str, Any]]:
    tool = occasion.text("tool_name")
    given = forms.dict_of(occasion.event.get("tool_input"))
    if tool in EDITING_TOOLS:
        used = [{"file_path": occasion.work.redact(file)} for file in occasion.edited_files()]
    elif tool == "Bash":
        used = [{"command": command} for command in [_text(occasion, given.get("command"))] if command]
    elif tool == READING_TOOL:
        used = [{"file_path": file} for file in [_text(occasion, given.get("file_path"))] if file]
    else:
        return
    for number, one in enumerate(used):
        call = f"{occasion.work.now().timestamp()}#{number}"
        yield forms.use(call, tool, one)
        code = occasion.event.get("exit_code")
        output = _text(occasion, occasion.event.get("tool_response")) if tool == "Bash" else ""
        yield forms.result(call, output, failed=isinstance(code, int) and code != 0)


def _text(occasion: Occasion, value: object) -> str:
    return occasion.work.redact(value[:_LONGEST]).strip() if isinstance(value, str) else ""


def _forget_old(folder: Path, now: float) -> None:
    for path in folder.glob("*.jsonl"):
        with suppress(OSError):
            if now - path.lstat().st_mtime > _KEPT:
                path.unlink()
