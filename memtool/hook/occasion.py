"""An event, what acting on it needs, and what the client is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from memtool.hook.options import Options
from memtool.workspace import Workspace


class Occasion(NamedTuple):
    """An event, and what acting on it needs."""

    name: str
    event: Mapping[str, Any]
    work: Workspace
    options: Options

    def text(self, field: str) -> str:
        """Return a field of the event; empty if it is missing or no text."""
        value = self.event.get(field)
        return value if isinstance(value, str) else ""


class Reply(NamedTuple):
    """What the client is told.

    Args:
        text: for the model.
        notice: a line for the user.
    """

    text: str = ""
    notice: str = ""


Action: TypeAlias = Callable[[Occasion], Reply | None]
