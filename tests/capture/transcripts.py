"""Records as the client writes them into a transcript, for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from memtool.capture.transcript.reader import read_transcript
from memtool.capture.turns import Conversation

Record = dict[str, Any]

_numbers = count(1)


def user(content: object, **fields: Any) -> Record:
    """A message in the user's name."""
    return _record("user", {"role": "user", "content": content}, fields)


def assistant(*blocks: object, message: str = "", **fields: Any) -> Record:
    """A message of the assistant; a text is a block of text."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    number = next(_numbers)
    body = {"id": message or f"msg_{number}", "role": "assistant", "model": "claude", "content": content}
    return _record("assistant", body, fields)


def call(tool: str, given: object, call_id: str = "toolu_1", **fields: Any) -> Record:
    """The use of a tool."""
    return assistant({"type": "tool_use", "id": call_id, "name": tool, "input": given}, **fields)


def result(content: object, call_id: str = "toolu_1", *, is_error: bool = False, **fields: Any) -> Record:
    """What the tool gave back; of an error the client keeps the text twice."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
    detail = {"toolUseResult": f"Error: {content}"} if is_error else {}
    return user([block], **{**detail, **fields})


def read(
    folder: Path,
    *records: Record | str | bytes,
    redact: Callable[[str], str] = str,
    last_answer: str = "",
    name: str = "session-1",
) -> Conversation:
    """Write *records* (or lines) to a transcript in *folder*, and read it."""
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(_line(record) for record in records))
    return read_transcript(path, redact, last_answer=last_answer)


def _line(record: Record | str | bytes) -> bytes:
    if isinstance(record, bytes):
        return record
    text = record if isinstance(record, str) else json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"  # half a character becomes an escape, as the client does it


def _record(kind: str, message: object, fields: Record) -> Record:
    number = next(_numbers)
    envelope = {
        "parentUuid": f"uuid-{number - 1}",
        "isSidechain": False,
        "type": kind,
        "message": message,
        "uuid": f"uuid-{number}",
        "timestamp": "2026-02-10T06:30:00.000Z",
        "cwd": "/home/ann/shop",
        "sessionId": "session-1",
        "version": "2.1.197",
    }
    return envelope | fields
