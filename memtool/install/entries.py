"""The entry of memtool in a file of a client that lists MCP servers, in JSON, TOML or YAML.

Ours is recognised by its command, whatever else the client or the user has changed. JSON is edited by its places. TOML
and YAML are edited as text, and the result is compared with what it should mean (docs/decisions/0015-installation.md
says why no library does it).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from memtool.install import json_text
from memtool.install.plans import LeftAlone, Share
from memtool.text.json_places import Member, Node, parse
from memtool.text.lines import newline_of

Keys = tuple[str, ...]
_MARK = "# memtool: written by `memtool install`, removed by `memtool uninstall`"


@dataclass(frozen=True)
class McpEntry(Share):
    """The MCP server of memtool, which is *value*, at *keys*: `("mcpServers", "memtool")`.

    Members that the user has added to our entry stay, such as further variables.
    """

    keys: Keys
    value: Mapping[str, Any]

    def put(self, text: str | None) -> str:
        """Return *text* with the entry."""
        text = text or ""
        whole = self._form.parse(text)
        there = _at(whole, self.keys)
        if there is not None and not runs_memtool(there):
            raise LeftAlone(f"'{self.path}' has '{'.'.join(self.keys)}' of your own, so memtool's was not written")
        wanted = {**(there or {}), **self.value}
        if there == wanted:
            return text
        return self._checked(self._form.put(text, self.keys, wanted, there), whole, wanted)

    def take(self, text: str | None, original: str | None) -> str | None:
        """Return *text* without the entry, nor the containers that this leaves empty and *original* lacks."""
        if text is None or self.keys[-1] not in text:  # a client's file of state may be large
            return text
        whole = self._form.parse(text)
        if not runs_memtool(_at(whole, self.keys)):
            return text
        try:
            before = self._form.parse(original or "")
        except ValueError:  # the original is of no help
            before = {}
        return self._checked(self._form.take(text, self.keys, before), whole, None)

    def is_alone(self, text: str | None) -> bool:
        """Return whether no other object of the file has such an entry, as one for another project would be."""
        if not self._form.is_exact or not text or f'"{self.keys[-1]}"' not in text:
            return True
        root = parse(text)
        own = json_text.along(root, self.keys)[-1]
        return not any(
            member.name == self.keys[-1] and member.node is not own and runs_memtool(member.node.value)
            for member in _members(root)
        )

    def command(self) -> tuple[str, ...]:
        """Return the program and the arguments of the server that the file names; empty if it names none of ours."""
        entry = _at(self._form.parse(self.read() or ""), self.keys)
        return tuple(command_of(entry)) if runs_memtool(entry) else ()

    @property
    def _form(self) -> _Form:
        return _FORMS.get(self.path.suffix, _JSON)

    def _checked(self, text: str, before: Mapping[str, Any], entry: Mapping[str, Any] | None) -> str:
        """Return *text* if it means what *before* meant, with *entry* at our place; None is no entry."""
        if self._form.is_exact:
            return text
        expected = deepcopy(dict(before))
        _set(expected, self.keys, entry)
        with suppress(ValueError):
            after = dict(self._form.parse(text))
            if entry is None and _at(after, self.keys) is None:
                _set(after, self.keys, None)  # a container that is left empty means nothing
            if after == expected:
                return text
        written = f"its '{self.keys[0]}' is written in a way memtool cannot edit"
        raise LeftAlone(f"'{self.path}' is left alone: {written}")


def runs_memtool(entry: object) -> bool:
    """Return whether the *entry* of a client for an MCP server runs memtool, from any installation."""
    if not isinstance(entry, dict):
        return False
    words = command_of(entry)
    program = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe") if words else ""
    return "mcp" in words and (program == "memtool" or ("-m", "memtool") in pairwise(words))


def command_of(entry: Mapping[str, Any]) -> list[str]:
    """Return the program and the arguments of the *entry* of a client for an MCP server."""
    values = [entry.get(name) for name in ("command", "cmd", "args")]
    return [str(word) for value in values for word in (value if isinstance(value, list) else [value or ""]) if word]


def _at(values: object, keys: Keys) -> Any:  # noqa: ANN401  (a settings file holds anything)
    """Return the value at *keys*; None without one.

    Raises:
        ValueError: something else than an object is on the way.
    """
    for at, key in enumerate(keys):
        if not isinstance(values, dict):
            if values is None:
                return None
            raise ValueError(f"'{'.'.join(keys[:at])}' in it should hold an object")
        values = values.get(key)
    return values


def _set(values: dict[str, Any], keys: Keys, entry: Mapping[str, Any] | None) -> None:
    """Set the value at *keys*, or remove it with the containers around it that this leaves empty."""
    key, *rest = keys
    if entry is not None:
        if rest:
            values[key] = values.get(key) or {}
            _set(values[key], tuple(rest), entry)
        else:
            values[key] = entry
        return
    if rest and values.get(key):
        _set(values[key], tuple(rest), None)
    if not rest or not values.get(key):
        values.pop(key, None)


class _Form(NamedTuple):
    """A format: how its text is parsed, how an entry is put into it over the present one, and taken from it."""

    parse: Callable[[str], Mapping[str, Any]]
    put: Callable[[str, Keys, Mapping[str, Any], Mapping[str, Any] | None], str]
    take: Callable[[str, Keys, Mapping[str, Any]], str]
    is_exact: bool = False  # what it writes need not be compared with what it should mean


def _parse_json(text: str) -> Mapping[str, Any]:
    values: object = None
    with suppress(ValueError):  # Python's own decoder is a hundred times faster, and knows no comments
        values = json.loads(text.removeprefix("\ufeff"))
    return values if isinstance(values, dict) else dict(json_text.object_of(text).value)


def _put_json(text: str, keys: Keys, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> str:
    if there is None:
        return json_text.with_added(text, keys, dict(entry))
    for name, value in entry.items():
        if name not in there:
            text = json_text.with_added(text, (*keys, name), value)
        elif there[name] != value:
            text = json_text.replaced(text, json_text.along(parse(text), (*keys, name))[-1], value)
    return text


def _take_json(text: str, keys: Keys, before: Mapping[str, Any]) -> str:
    return json_text.without(text, keys, lambda path: _at(before, tuple(map(str, path))) is not None)


def _members(node: Node) -> Iterator[Member]:
    """Give every member below *node*."""
    for member in node.members:
        yield member
        yield from _members(member.node)


def _put_toml(text: str, keys: Keys, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> str:
    """Return *text* with the table at the end of the file, or with new lines below the head that it has."""
    newline = newline_of(text)
    new = {name: value for name, value in entry.items() if not there or there.get(name) != value}
    lines = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}{newline}" for name, value in new.items())
    found = _toml_table(keys).search(text) if there is not None else None
    if found:
        own = re.compile(rf"(?m)^(?:{'|'.join(map(re.escape, new))})[ \t]*=.*(?:\r?\n)?")
        return text[: found.start("head")] + found["head"] + lines + own.sub("", found["body"]) + text[found.end() :]
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{_MARK}{newline}[{'.'.join(keys)}]{newline}{lines}"


def _take_toml(text: str, keys: Keys, _: Mapping[str, Any]) -> str:
    """Return *text* without the table and those within it; comments behind them stay."""
    while found := _toml_table(keys, r"(?:\.[^\]]*)?").search(text):
        before = text[: found.start()]
        if found["mark"]:
            before = re.sub(r"(?<=\n)\r?\n\Z", "", before)
        text = before + text[found.end() :]
    return text


def _toml_table(keys: Keys, inner: str = "") -> re.Pattern[str]:
    """Return the pattern of the table: our mark, its head, and the lines below it that are no comment."""
    name = r"\.".join(rf"""["']?{re.escape(key)}["']?""" for key in keys)
    return re.compile(
        rf"(?m)(?P<mark>^{re.escape(_MARK)}\r?\n)?(?P<head>^\[{name}{inner}\][ \t]*(?:#.*)?(?:\r?\n|\Z))"
        r"(?P<body>(?:^[^\[#\r\n].*(?:\r?\n|\Z))*)"
    )


def _put_yaml(text: str, keys: Keys, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> str:
    """Return *text* with the entry first below its key, on lines of its own."""
    if there is not None:
        text = _take_yaml(text, keys, {keys[0]: {}})
    head = re.search(rf"(?m)^{re.escape(keys[0])}:[ \t]*(?:#.*)?(?:\r?\n|\Z)", text)
    if head is None:
        gap = "\n" if text and not text.endswith("\n") else ""
        return f"{text}{gap}{keys[0]}:\n{_yaml_lines(keys, entry, '  ')}"
    deeper = re.match(r"(?:[ \t]*(?:#.*)?\r?\n)*([ ]+)\S", text[head.end() :])
    line = head[0] if head[0].endswith("\n") else f"{head[0]}\n"
    return text[: head.start()] + line + _yaml_lines(keys, entry, deeper[1] if deeper else "  ") + text[head.end() :]


def _yaml_lines(keys: Keys, entry: Mapping[str, Any], deep: str) -> str:
    values = (f"{deep}  {name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in entry.items())
    return f"{deep}{keys[1]}:\n{''.join(values)}"


def _take_yaml(text: str, keys: Keys, before: Mapping[str, Any]) -> str:
    is_only = len(_parse_yaml(text)[keys[0]]) == 1
    entry = rf"(?m)^(?P<deep> +){re.escape(keys[1])}:[ \t]*\r?\n(?:(?P=deep) .*(?:\r?\n|\Z))+"
    text = re.sub(entry, "", text, count=1)
    if is_only and keys[0] not in before:
        text = re.sub(rf"(?m)^{re.escape(keys[0])}:[ \t]*(?:\r?\n|\Z)", "", text, count=1)
    return text


def _parse_yaml(text: str) -> dict[str, Any]:
    import yaml

    try:
        whole = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"it is not YAML: {str(error).splitlines()[0]}") from None
    if whole is not None and not isinstance(whole, dict):
        raise ValueError("it should hold a mapping, `key: value`")
    return whole or {}


_JSON = _Form(_parse_json, _put_json, _take_json, is_exact=True)
_FORMS = {
    ".toml": _Form(tomllib.loads, _put_toml, _take_toml),
    ".yaml": _Form(_parse_yaml, _put_yaml, _take_yaml),
}
