"""The shares that hooks have in a client's settings: in groups, as in Claude Code, or in one flat list for each event.

They stand apart from `memtool.install.hooks`, with which the plugin reads settings at each event: what a plan
needs takes as long to import as all the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtool.install import json_text
from memtool.install.hooks import Hook, Program, find_handlers, is_ours, program_of, with_hooks, without_hooks
from memtool.install.json_text import Node
from memtool.install.plans import Share


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


@dataclass(frozen=True)
class FlatHooks(Share):
    """A *handler* of ours in the list of each of *events*; a file of ours begins with the members *head*."""

    events: tuple[str, ...]
    handler: Mapping[str, Any]
    head: Mapping[str, Any]
    command: str = "command"
    """The member of a handler that holds the command."""

    def put(self, text: str | None) -> str:
        """Return *text* with a handler for each event; one that is there already is brought up to date."""
        if not (text and text.strip("\ufeff \t\r\n")):
            text = "{}\n"
        for name, value in self.head.items():
            root = _object(json_text.parse(text), "it")
            if root.get(name) is None:
                text = json_text.added(text, root, value, name)
        for event in self.events:
            text = self._with_event(text, event)
        return text

    def take(self, text: str | None, original: str | None) -> str | None:
        """Return *text* without our handlers, nor the lists and objects that they leave empty and nobody else made."""
        if text is None or not text.strip("\ufeff \t\r\n"):
            return text
        before = json_text.parse(original or "{}").value
        before = before if isinstance(before, dict) else {}
        taken = False
        while ours := self._ours(json_text.parse(text)):
            hooks, event, at = ours[0]
            taken = True
            handlers = hooks.members[event].node
            root = json_text.parse(text)
            if len(handlers.members) > 1 or hooks.members[event].name in dict(before.get("hooks") or {}):
                text = json_text.removed(text, handlers, at)
            elif len(hooks.members) > 1 or "hooks" in before:
                text = json_text.removed(text, hooks, event)
            else:
                text = json_text.removed(text, root, [member.name for member in root.members].index("hooks"))
        for name, value in self.head.items() if taken else ():
            root = json_text.parse(text)
            if name not in before and "hooks" not in root.value and root.value.get(name) == value:
                text = json_text.removed(text, root, [member.name for member in root.members].index(name))
        return text

    def programs(self) -> list[Program]:
        """Return the programs that the file's handlers run, each once."""
        found = self._ours(json_text.parse(self.read() or "{}"))
        ours = (hooks.members[event].node.members[at].node.value for hooks, event, at in found)
        return list(dict.fromkeys(program_of(handler[self.command]) for handler in ours))

    def _with_event(self, text: str, event: str) -> str:
        root = _object(json_text.parse(text), "it")
        hooks = root.get("hooks")
        if hooks is None:
            return json_text.added(text, root, {event: [dict(self.handler)]}, "hooks")
        handlers = _object(hooks, "'hooks' in it").get(event)
        if handlers is None:
            return json_text.added(text, hooks, [dict(self.handler)], event)
        if not isinstance(handlers.value, list):
            raise ValueError(f"'hooks.{event}' in it should be a list, […]")  # noqa: TRY004  (the text is wrong)
        there = next((member.node for member in handlers.members if self._is_ours(member.node.value)), None)
        if there is None:
            return json_text.added(text, handlers, dict(self.handler))
        command = there.get(self.command)
        if command is None or command.value == self.handler[self.command]:
            return text
        return json_text.replaced(text, command, self.handler[self.command])

    def _is_ours(self, handler: object) -> bool:
        return isinstance(handler, dict) and is_ours({"command": handler.get(self.command)})

    def _ours(self, root: Node) -> list[tuple[Node, int, int]]:
        """Return the places of our handlers: all hooks, the number of the event in them, and that in its list."""
        hooks = root.get("hooks") if isinstance(root.value, dict) else None
        if hooks is None or not isinstance(hooks.value, dict):
            return []
        return [
            (hooks, event, at)
            for event, member in enumerate(hooks.members)
            if isinstance(member.node.value, list)
            for at, handler in enumerate(member.node.members)
            if self._is_ours(handler.node.value)
        ]


def _object(node: Node, name: str) -> Node:
    if not isinstance(node.value, dict):
        raise ValueError(f"{name} should hold an object, {{…}}")  # noqa: TRY004  (the text is wrong, not the program)
    return node
