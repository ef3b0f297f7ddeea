"""What a scripted model says: turns, handed out lane by lane."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

Json: TypeAlias = dict[str, Any]
# `main` is the conversation, `subagent` what the Agent tool asks, `compact` the request for the client's own summary,
# `plain` whatever is asked without tools, such as memtool's own summaries.
Lane: TypeAlias = Literal["main", "subagent", "compact", "plain"]

_COMPACTION = "Your task is to create a detailed summary"  # stands in the client's request for one


class Use(NamedTuple):
    """A tool that the model wants to use."""

    tool: str
    given: Json


@dataclass(frozen=True)
class Turn:
    """One answer: a text, then tools. The client waits for it until it is *ready*."""

    text: str = ""
    uses: tuple[Use, ...] = ()
    ready: Callable[[], bool] = lambda: True


NEVER = Turn(ready=lambda: False)  # for a client that is to be killed


def use(tool: str, /, **given: Any) -> Turn:
    """Return a turn that uses one tool."""
    return Turn(uses=(Use(tool, given),))


class Script:
    """Turns in the order in which they are given out. A text is a turn that says it."""

    def __init__(self, lanes: Mapping[Lane, Sequence[Turn | str]]) -> None:
        self._lanes = {lane: iter(turns) for lane, turns in lanes.items()}
        self._lock = threading.Lock()

    def next_turn(self, lane: Lane) -> Turn:
        """Return the next turn of *lane*; a lane that is used up goes on talking."""
        with self._lock:
            turn = next(self._lanes.get(lane, iter(())), "The script holds no more.")
        return Turn(turn) if isinstance(turn, str) else turn


def lane_of(body: Json, headers: Mapping[str, str]) -> Lane:
    """Return the lane of a request."""
    # What hooks say may follow the user's message as a "system" message of its own.
    asked = [text_of(message) for message in body.get("messages", []) if message["role"] == "user"]
    if asked and _COMPACTION in asked[-1]:
        return "compact"
    if any(name.lower() == "x-claude-code-agent-id" for name in headers):
        return "subagent"
    return "main" if body.get("tools") else "plain"


def text_of(message: Json) -> str:
    """Return all text of a message, that of tool results included."""
    return "\n".join(_texts(message.get("content") or ""))


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        yield from _texts(block.get("text") or block.get("content") or "")
