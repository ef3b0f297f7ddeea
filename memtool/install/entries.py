"""The entry of memtool in a file of a client that lists MCP servers, in JSON, TOML or YAML.

Ours is known by what it runs, whatever else the client or the user has made of it. JSON is edited by its places. TOML
and YAML are edited as text, and what is written is compared with what it should mean.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from memtool.install import json_text
from memtool.install.json_text import Member, Node
from memtool.install.plans import LeftAlone, Share
from memtool.text.lines import newline_of


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


_MARK = "# memtool: written by `memtool install`, removed by `memtool uninstall`\n"


@dataclass(frozen=True)
class TomlTable(Share):
    """The table at *keys* with *values*, which are texts and lists of texts, at the end of the file.

    Members that the user has added to it stay.
    """

    keys: tuple[str, ...]
    values: Mapping[str, Any]

    def put(self, text: str | None) -> str:
        """Return *text* with the table."""
        text = text or ""
        newline = newline_of(text)
        whole = tomllib.loads(text)
        there = _at(whole, self.keys)
        if there is not None and not runs_memtool(there):
            raise LeftAlone(f"'{self.path}' has '{'.'.join(self.keys)}' of your own, so memtool's was not written")
        if there is not None and all(there.get(name) == value for name, value in self.values.items()):
            return text
        lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in self.values.items()]
        found = self._table().search(text) if there is not None else None
        if found:
            own = re.compile(rf"(?m)^(?:{'|'.join(self.values)})[ \t]*=.*(?:\r?\n)?")
            added = found["head"] + "".join(lines).replace("\n", newline) + own.sub("", found["body"])
            new = text[: found.start("head")] + added + text[found.end() :]
        else:
            gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
            new = text + f"{gap}{_MARK}[{'.'.join(self.keys)}]\n{''.join(lines)}".replace("\n", newline)
        return self._checked(new, whole, (there or {}) | dict(self.values))

    def take(self, text: str | None, original: str | None) -> str | None:  # noqa: ARG002  (it is not needed)
        """Return *text* without the table, nor those within it."""
        whole = tomllib.loads(text or "")
        if text is None or not runs_memtool(_at(whole, self.keys)):
            return text
        new = text
        while found := self._table(r"(?:\.[^\]]*)?").search(new):
            start = found.start()
            before = new[:start]
            if found["mark"]:
                before = re.sub(r"(?<=\n)\r?\n\Z", "", before)
            new = before + new[found.end() :]
        return self._checked(new, whole, None)

    def command(self) -> tuple[str, ...]:
        """Return the program and the arguments of the server that the file names; empty if it names none of ours."""
        entry = _at(tomllib.loads(self.read() or ""), self.keys)
        return tuple(command_of(entry)) if runs_memtool(entry) else ()

    def _table(self, inner: str = "") -> re.Pattern[str]:
        """Return the pattern of the table: our mark, its head, and the lines below it that are no comment."""
        name = r"\.".join(rf"""["']?{re.escape(key)}["']?""" for key in self.keys)
        mark = re.escape(_MARK.rstrip("\n"))
        return re.compile(
            rf"(?m)(?P<mark>^{mark}\r?\n)?(?P<head>^\[{name}{inner}\][ \t]*(?:#.*)?(?:\r?\n|\Z))"
            r"(?P<body>(?:^[^\[#\r\n].*(?:\r?\n|\Z))*)"
        )

    def _checked(self, text: str, before: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> str:
        """Return *text* if it means what *before* meant, with the table as it is *wanted*."""
        expected = json.loads(json.dumps(before, default=str))
        _set(expected, self.keys, wanted)
        try:
            means = json.loads(json.dumps(tomllib.loads(text), default=str))
        except tomllib.TOMLDecodeError:
            means = None
        if means != expected:
            raise LeftAlone(
                f"'{self.path}' is left alone: its '{self.keys[0]}' is written in a way memtool cannot edit"
            )
        return text


def _at(values: object, keys: tuple[str, ...]) -> Any:  # noqa: ANN401  (TOML holds anything)
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _set(values: dict[str, Any], keys: tuple[str, ...], wanted: Mapping[str, Any] | None) -> None:
    """Set the value at *keys*, or remove it with the tables around it that become empty."""
    if wanted is not None:
        for key in keys[:-1]:
            values = values.setdefault(key, {})
        values[keys[-1]] = dict(wanted)
        return
    inner = values.get(keys[0])
    if len(keys) > 1 and isinstance(inner, dict):
        _set(inner, keys[1:], None)
    if len(keys) == 1 or not inner:
        values.pop(keys[0], None)


@dataclass(frozen=True)
class YamlEntry(Share):
    """The entry `memtool` with *values* below the *key* at the top of the file.

    It stands first below the key, on lines of its own; whatever is written is compared with what it should mean.
    """

    key: str
    values: Mapping[str, Any]

    def put(self, text: str | None) -> str:
        """Return *text* with the entry."""
        text = text or ""
        whole = _parse(text)
        there = _mapping(whole.get(self.key)).get("memtool")
        if there == dict(self.values):
            return text
        if there is not None:
            if not runs_memtool(there):
                raise LeftAlone(f"'{self.path}' has '{self.key}.memtool' of your own, so memtool's was not written")
            text = self.take(text, None) or ""
        head = re.search(rf"(?m)^{re.escape(self.key)}:[ \t]*(?:#.*)?(?:\r?\n|\Z)", text)
        if head is None:
            gap = "\n" if text and not text.endswith("\n") else ""
            new = f"{text}{gap}{self.key}:\n{self._lines('  ')}"
        else:
            deeper = re.match(r"(?:[ \t]*(?:#.*)?\r?\n)*([ ]+)\S", text[head.end() :])
            line = head[0] if head[0].endswith("\n") else f"{head[0]}\n"
            new = text[: head.start()] + line + self._lines(deeper[1] if deeper else "  ") + text[head.end() :]
        entries = _mapping(whole.get(self.key)) | {"memtool": dict(self.values)}
        return self._checked(new, whole | {self.key: entries})

    def take(self, text: str | None, original: str | None) -> str | None:
        """Return *text* without the entry, nor the key above it if that is left empty and was not the user's."""
        whole = _parse(text or "")
        entries = dict(_mapping(whole.get(self.key)))
        if text is None or not runs_memtool(entries.get("memtool")):
            return text
        del entries["memtool"]
        found = re.search(r"(?m)^(?P<deep> +)memtool:[ \t]*\r?\n(?:(?P=deep) .*(?:\r?\n|\Z))+", text)
        new = text[: found.start()] + text[found.end() :] if found else text
        expected = whole | {self.key: entries or None}
        if not entries and self.key not in _parse(original or ""):
            new = re.sub(rf"(?m)^{re.escape(self.key)}:[ \t]*(?:\r?\n|\Z)", "", new, count=1)
            del expected[self.key]
        return self._checked(new, expected)

    def command(self) -> tuple[str, ...]:
        """Return the program and the arguments of the server that the file names; empty if it names none of ours."""
        entry = _mapping(_mapping(_parse(self.read() or "").get(self.key)).get("memtool"))
        return tuple(command_of(entry)) if runs_memtool(entry) else ()

    def _lines(self, deep: str) -> str:
        values = (f"{deep}  {name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in self.values.items())
        return f"{deep}memtool:\n{''.join(values)}"

    def _checked(self, text: str, expected: Mapping[str, Any]) -> str:
        if _parse(text) != expected:
            raise LeftAlone(f"'{self.path}' is left alone: its '{self.key}' is written in a way memtool cannot edit")
        return text


def _parse(text: str) -> dict[str, Any]:
    import yaml

    try:
        whole = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"it is not YAML: {str(error).splitlines()[0]}") from None
    if whole is not None and not isinstance(whole, dict):
        raise ValueError("it should hold a mapping, `key: value`")
    return whole or {}


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
