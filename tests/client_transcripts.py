"""Transcripts as the client writes them, made of a few records."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 2, 10, 6, 0, tzinfo=UTC)


def prompt(text: str) -> dict[str, Any]:
    """Return what was typed."""
    return {"type": "user", "message": {"role": "user", "content": text}, "promptSource": "typed"}


def answer(text: str) -> dict[str, Any]:
    """Return what was answered."""
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}


def edit(file: str, name: str = "edit-1") -> list[dict[str, Any]]:
    """Return an edit of *file* and its result."""
    call = {"type": "tool_use", "id": name, "name": "Edit", "input": {"file_path": file}}
    result = {"type": "tool_result", "tool_use_id": name, "content": "done"}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {}},
    ]


def write_transcript(
    path: Path, records: list[dict[str, Any]], *, cwd: str = "/src/shop", start: datetime = START
) -> Path:
    """Write *records* to *path*, a minute after another, and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for number, record in enumerate(records):
            at = (start + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")
            name = f"{path.stem}-{path.stat().st_size}-{number}"
            common = {"sessionId": path.stem, "cwd": cwd, "timestamp": at, "uuid": name, "isSidechain": False}
            file.write(json.dumps({**common, **record}, ensure_ascii=False) + "\n")
    return path
