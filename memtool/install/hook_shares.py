"""The share that hooks have in a client's settings: in groups, as in Claude Code, or in one flat list for each event.

It is apart from `memtool.install.hooks`, with which the plugin reads settings at each event: what a plan needs takes as
long to import as all the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memtool.clients import FLAT, KNOWN, Event, Hooks
from memtool.install import json_text
from memtool.install.hooks import Handler, Program, find_handlers, hooks_of, program_of
from memtool.install.plans import Share


@dataclass(frozen=True)
class HookShare(Share):
    """The handlers of a client's *hooks* that belong to this part; they run *program*."""

    hooks: Hooks
    program: Program

    def put(self, text: str | None) -> str:
        """Return *text* with a handler for each event.

        One that is there already gets the new program and keeps the rest: timeout, matcher, place.
        """
        text = "{}\n" if text is None or json_text.is_blank(text) else text
        hooks = hooks_of(text)
        for event in self._events():
            if hooks and not isinstance(hooks.value.get(event.name, []), list):
                raise ValueError(f"'hooks.{event.name}' in it should be a list, […]")
        for name, value in self.hooks.head.items():
            if json_text.object_of(text).get(name) is None:
                text = json_text.with_added(text, (name,), value)
        for handler in reversed(self._own(text)):  # from behind, so that places stay true
            text = self._updated(text, handler)
        for event in self._events():
            if not any(handler.event == event.name for handler in self._own(text)):
                flat = {**self.hooks.handler, **self._fields(), **_status(event)}
                entry = flat if self.hooks.form == FLAT else group_of(event, self.program)
                text = json_text.with_added(text, ("hooks", event.name, -1), entry)
        return text

    def take(self, text: str | None, original: str | None) -> str | None:
        """Return *text* without the handlers, nor the containers that this leaves empty and *original* lacks."""
        if text is None or not self._own(text):
            return text
        try:
            before = json_text.object_of(original)
        except ValueError:  # the original is of no help
            before = json_text.object_of(None)
        while own := self._own(text):
            path, group = own[0].path, own[0].group
            if group is not None and len(group.value["hooks"]) == 1 and not group.value.keys() - {"matcher", "hooks"}:
                path = path[:3]  # then the group goes with it
            text = json_text.without(
                text, path, lambda path: len(path) > 2 or len(json_text.along(before, path)) > len(path)
            )
        for name, value in self.hooks.head.items():
            left = json_text.object_of(text).value
            if name not in before.value and "hooks" not in left and left.get(name) == value:
                text = json_text.without(text, (name,), lambda _: True)
        return text

    def programs(self) -> list[Program]:
        """Return the programs that the file's handlers run, each once."""
        found = find_handlers(self.read() or "{}", self._command())
        if command := self._command():
            return list(dict.fromkeys(program_of(handler.node.value[command]) for handler in found))
        named = (handler.program for handler in found)
        return list(dict.fromkeys(each if each.args else program_of(each.command) for each in named))

    def _command(self) -> str:
        return self.hooks.command if self.hooks.form == FLAT else ""

    def _events(self) -> list[Event]:
        return [event for event in self.hooks.events if event.part == self.part]

    def _own(self, text: str) -> list[Handler]:
        """Return our handlers in *text*, without those of the events of another part."""
        others = {event.name for event in self.hooks.events if event.part not in (self.part, KNOWN)}
        return [handler for handler in find_handlers(text, self._command()) if handler.event not in others]

    def _fields(self) -> dict[str, Any]:
        """Return the members of a handler that name the program."""
        return {self.hooks.command: self.program.line} if self.hooks.form == FLAT else self.program.fields

    def _updated(self, text: str, ours: Handler) -> str:
        handler = ours.node
        # `args` stays even when it is empty: without it the client hands the command to a shell.
        wanted = [(handler.get(name), name, value) for name, value in self._fields().items()]
        for node, name, value in sorted(wanted, key=lambda item: item[0].start if item[0] else handler.end)[::-1]:
            if node is None:
                text = json_text.added(text, handler, value, name)
            elif node.value != value:
                text = json_text.replaced(text, node, value)
        status = next((_status(event) for event in self._events() if event.name == ours.event), {})
        if status and handler.get("statusMessage") is None:  # an older installation has none
            text = json_text.with_added(text, (*ours.path, "statusMessage"), status["statusMessage"])
        return text


def group_of(event: Event, program: Program) -> dict[str, Any]:
    """Return the group of one handler that runs *program* at *event*, as Claude Code has it."""
    handler = {"type": "command", **program.fields, "timeout": event.timeout, **_status(event)}
    return ({"matcher": event.matcher} if event.matcher else {}) | {"hooks": [handler]}


def _status(event: Event) -> dict[str, str]:
    return {"statusMessage": event.status} if event.status else {}


def changes_kept(text: str, hooks: Hooks) -> list[str]:
    """Return a sentence for each change that the user has made to our handlers in the settings *text*.

    Raises:
        ValueError: the text is not what settings should be.
    """
    by_name = {event.name: event for event in hooks.events}
    found = [handler for handler in find_handlers(text) if handler.event in by_name]
    return [sentence for handler in found for sentence in _changes(handler, by_name[handler.event])]


def _changes(handler: Handler, event: Event) -> Iterator[str]:
    group, value = handler.group.value if handler.group else {}, handler.node.value
    expected = group_of(event, handler.program)
    pairs = [("matcher", group.get("matcher", ""), expected.get("matcher", ""))]
    pairs += [
        (name, value.get(name), expected["hooks"][0].get(name))
        for name in dict.fromkeys([*expected["hooks"][0], *value])
        if name not in ("type", "command", "args", "statusMessage")
    ]
    for name, there, ours in pairs:
        if there != ours:
            yield f"{event.name}: {name} {_shown(there)}" + (f", not {_shown(ours)}" if ours else "")


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if value not in (None, "") else "none"
