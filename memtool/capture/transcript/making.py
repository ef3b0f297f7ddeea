"""Records as Claude Code writes them, made of those of another client."""

from __future__ import annotations

from memtool.capture.transcript.lines import Record

STOPPED = "[Request interrupted by user]"  # the result of a call that the user stopped


def typed(text: str) -> Record:
    """Return what a person typed."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def said(text: str, message: str = "") -> Record:
    """Return what the model said in its *message*."""
    return _assistant({"type": "text", "text": text}, message)


def use(call: str, tool: str, given: Record, message: str = "") -> Record:
    """Return the use of a tool."""
    return _assistant({"type": "tool_use", "id": call, "name": tool, "input": given}, message)


def result(call: str, text: str, *, failed: bool = False, stopped: bool = False) -> Record:
    """Return what a call came to."""
    block = {
        "type": "tool_result",
        "tool_use_id": call,
        "content": STOPPED if stopped else text,
        "is_error": failed or stopped,
    }
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def compaction(text: str) -> Record:
    """Return the client's own summary of all before it; without *text*, that there was one."""
    if not text.strip():
        return {"type": "system", "subtype": "compact_boundary"}
    return {**typed(text), "isCompactSummary": True}


def dict_of(value: object) -> Record:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_of(value: object) -> list[Record]:
    """Return the objects in *value*, if it is a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _assistant(block: Record, message: str) -> Record:
    return {"type": "assistant", "message": {"role": "assistant", "id": message, "content": [block]}}
