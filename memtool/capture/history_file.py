"""The client's list of typed prompts (`history.jsonl`): all that is left of sessions whose transcripts are gone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtool.capture.conversation import Conversation, Step

_LONGEST_LINE = 1_048_576  # characters
_LONGEST_PROMPT = 4_000  # characters
_MOST_PROMPTS = 200  # of one session


def read_history(path: Path, redact: Callable[[str], str]) -> list[Conversation]:
    """Return the sessions in the list at *path*, each with its prompts, oldest first.

    Lines that cannot be read are passed over, as are slash commands. A list that is missing is empty.
    """
    sessions: dict[str, Conversation] = {}
    for entry in _entries(path):
        name, prompt, at = entry.get("sessionId"), entry.get("display"), _time(entry.get("timestamp"))
        if not (isinstance(name, str) and name and isinstance(prompt, str) and at):
            continue
        folder = entry.get("project")
        known = sessions.setdefault(name, Conversation(name, folder if isinstance(folder, str) else "", started_at=at))
        sessions[name] = _with_prompt(known, prompt, at, redact)
    return sorted((one for one in sessions.values() if one.steps), key=lambda one: (one.ended_at, one.session_id))


def _with_prompt(known: Conversation, prompt: str, at: datetime, redact: Callable[[str], str]) -> Conversation:
    text = prompt.strip()
    if not text or text.startswith(("/", "!")) or len(known.steps) >= _MOST_PROMPTS:
        return known._replace(ended_at=at)
    step = Step("prompt", redact(text)[:_LONGEST_PROMPT], at)
    return known._replace(steps=(*known.steps, step), ended_at=at, size=known.size + len(text))


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as lines:
        while line := lines.readline(_LONGEST_LINE):
            with suppress(ValueError, RecursionError):
                entry = json.loads(line)
                if isinstance(entry, dict):
                    yield entry


def _time(milliseconds: object) -> datetime | None:
    with suppress(ValueError, OverflowError, OSError):
        if isinstance(milliseconds, int | float) and milliseconds > 0:
            return datetime.fromtimestamp(milliseconds / 1000, UTC)
    return None
