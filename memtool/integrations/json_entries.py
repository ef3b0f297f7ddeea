"""An entry of memtool in a JSON file of a client, such as its list of MCP servers: put in, and taken out again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from memtool.integrations import json_text
from memtool.integrations.json_text import Member, Node
from memtool.integrations.plans import LeftAlone, Share


@dataclass(frozen=True)
class JsonEntry(Share):
    """The MCP server of memtool, which is *value*, at *keys* in a JSON file: `("mcpServers", "memtool")`.

    Members that the user has added to our entry stay, such as further variables.
    """

    keys: tuple[str, ...]
    value: Mapping[str, Any]

    def is_alone(self, text: str | None) -> bool:
        """Return whether no other object of the file has such an entry, as one for another project would be."""
        if not text or f'"{self.keys[-1]}"' not in text:
            return True
        root = json_text.parse(text)
        own = _chain(root, self.keys)
        return not any(
            member.name == self.keys[-1] and member.node is not own[-1] and runs_memtool(member.node.value)
            for member in _members(root)
        )

    def put(self, text: str | None) -> str:
        """Return *text* with the entry."""
        text = text if text and text.strip("\ufeff \t\r\n") else "{}\n"
        place = _object(json_text.parse(text), "it")
        for at, key in enumerate(self.keys):
            there = place.get(key)
            if there is None:
                rest: Any = dict(self.value)
                for name in reversed(self.keys[at + 1 :]):
                    rest = {name: rest}
                return json_text.added(text, place, rest, key)
            if at == len(self.keys) - 1 and not runs_memtool(there.value):
                raise LeftAlone(f"'{self.path}' has '{'.'.join(self.keys)}' of your own, so memtool's was not written")
            place = _object(there, f"'{'.'.join(self.keys[: at + 1])}' in it")
        return self._with_members(text)

    def take(self, text: str | None, original: str | None) -> str | None:
        """Return *text* without the entry, nor the objects around it if they are empty and not the user's."""
        if text is None or f'"{self.keys[-1]}"' not in text:  # a client's file of state may be large
            return text
        chain = _chain(json_text.parse(text), self.keys)
        if len(chain) <= len(self.keys) or not runs_memtool(chain[-1].value):
            return text
        owned = _depth(original, self.keys)
        at = len(self.keys) - 1
        while at > owned - 1 and at > 0 and len(chain[at].members) == 1:
            at -= 1
        names = [member.name for member in chain[at].members]
        return json_text.removed(text, chain[at], names.index(self.keys[at]))

    def command(self) -> tuple[str, ...]:
        """Return the program and the arguments of the server that the file names; empty if it names none of ours."""
        chain = _chain(json_text.parse(self.read() or "{}"), self.keys)
        entry = chain[-1].value
        is_there = len(chain) > len(self.keys) and runs_memtool(entry)
        return tuple(command_of(entry)) if is_there else ()

    def _with_members(self, text: str) -> str:
        for name, value in self.value.items():
            entry = _chain(json_text.parse(text), self.keys)[-1]
            there = entry.get(name)
            if there is None:
                text = json_text.added(text, entry, value, name)
            elif there.value != value:
                text = json_text.replaced(text, there, value)
        return text


def runs_memtool(entry: object) -> bool:
    """Return whether the *entry* of a client for an MCP server runs memtool, wherever that lies."""
    if not isinstance(entry, dict):
        return False
    words = command_of(entry)
    program = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe") if words else ""
    return "mcp" in words and (program == "memtool" or ("-m", "memtool") in pairwise(words))


def command_of(entry: Mapping[str, Any]) -> list[str]:
    """Return the program and the arguments of the *entry* of a client for an MCP server."""
    return [word for name in ("command", "cmd", "args") for word in _words(entry.get(name))]


def _words(value: object) -> list[str]:
    return [value] if isinstance(value, str) else [str(word) for word in value] if isinstance(value, list) else []


def _members(node: Node) -> Iterator[Member]:
    """Give every member below *node*."""
    for member in node.members:
        yield member
        yield from _members(member.node)


def _chain(root: Node, keys: tuple[str, ...]) -> list[Node]:
    """Return the root and the values along *keys*, as far as they go."""
    chain = [root]
    for key in keys:
        there = chain[-1].get(key)
        if there is None:
            break
        chain.append(there)
    return chain


def _depth(original: str | None, keys: tuple[str, ...]) -> int:
    """Return how many objects along *keys*, with the root, are in the *original*, so that they are the user's."""
    try:
        return len(_chain(json_text.parse(original or "{}"), keys))
    except ValueError:
        return 1


def _object(node: Node, name: str) -> Node:
    if not isinstance(node.value, dict):
        raise ValueError(f"{name} should hold an object, {{…}}")  # noqa: TRY004  (the text is wrong, not the program)
    return node
