"""The share that hooks have in a client's settings.

It stands apart from `memtool.integrations.hooks`, with which the plugin reads settings at each event: what a plan needs
takes as long to import as all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from memtool.integrations.hooks import Hook, Program, find_handlers, program_of, with_hooks, without_hooks
from memtool.integrations.plans import Share


@dataclass(frozen=True)
class HookShare(Share):
    """The handlers of *hooks*, which run *program*; those of the events *spared* belong to another part."""

    program: Program
    hooks: tuple[Hook, ...]
    spared: frozenset[str] = frozenset()

    def put(self, text: str | None) -> str:
        """Return *text* with the handlers: see `with_hooks`."""
        return with_hooks(text or "", self.program, self.hooks, self.spared)

    def take(self, text: str | None, original: str | None) -> str | None:
        """Return *text* without the handlers: see `without_hooks`."""
        return None if text is None else without_hooks(text, original, self.spared)

    def programs(self) -> list[Program]:
        """Return the programs that the file's handlers run, each once."""
        found = (handler.program for handler in find_handlers(self.read() or "{}"))
        return list(dict.fromkeys(each if each.args else program_of(each.command) for each in found))
