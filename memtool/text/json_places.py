"""The values of a JSON text with their places, whatever the formatting, and in linear time.

`parse` reads a whole text and accepts comments (`//`, `/* */`) and trailing commas; `parse_list` reads the items of one
list of strict JSON, each at the speed of Python's own decoder. `memtool.install.json_text` edits by these places.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Any

from memtool.named_tuple import NamedTuple

SPACE = " \t\r\n"
GAP = r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?s:.*?)\*/)*+"


def object_in(text: str | bytes) -> dict[str, Any]:
    """Return the object that the JSON *text* is; an empty one if it is anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class Node(NamedTuple):
    """One value, at `text[start:end]`; an object or a list with its members."""

    value: Any
    start: int
    end: int
    members: tuple[Member, ...] = ()

    def get(self, name: str) -> Node | None:
        """Return the value that the object holds under *name*."""
        return next((member.node for member in self.members if member.name == name), None)


class Member(NamedTuple):
    """An item of a list; or a value of an object with its *name*, which is where it starts."""

    name: str
    start: int
    node: Node


class LineRange(NamedTuple):
    """The place of an item: `text[start:end]`, and its first and last line, counted from 1."""

    start: int
    end: int
    start_line: int
    end_line: int


class JsonItem(NamedTuple):
    """One value of a list."""

    value: Any
    place: LineRange


class JsonList(NamedTuple):
    """The items of a list. *tail* is where the last one ends, or where the first one would begin."""

    items: tuple[JsonItem, ...]
    tail: int
    is_bare: bool  # the list is the whole text, not a member of an object


def parse(text: str) -> Node:
    """Return the tree of *text*, which may hold comments and trailing commas.

    Raises:
        json.JSONDecodeError: it is not JSON, holds a name twice, or is nested too deeply.
    """
    return _Reader(text, re.compile(GAP), is_strict=False).root(sys.maxsize)


def parse_list(text: str, name: str) -> JsonList:
    """Return the list that the object in *text* holds under *name*, or the list that *text* itself is.

    Raises:
        json.JSONDecodeError: the text is not JSON, is nested too deeply, or holds no such list.
    """
    reader = _Reader(text, re.compile(r"[ \t\r\n]*"), is_strict=True)
    is_bare = text.startswith("[", reader.start)
    found = reader.root(1 if is_bare else 2)
    if not is_bare:
        if not isinstance(found.value, dict):
            raise json.JSONDecodeError(f'it should be an object, {{"{name}": […]}}', text, found.start)
        lists = [member for member in found.members if member.name == name]
        if not lists:
            raise json.JSONDecodeError(f"it holds no list '{name}'", text, found.end - 1)
        if len(lists) > 1:
            raise json.JSONDecodeError(f"'{name}' is there twice", text, lists[1].start)
        found = lists[0].node
    if not isinstance(found.value, list):
        raise json.JSONDecodeError("expected a list", text, found.start)
    tail = found.members[-1].node.end if found.members else found.start + 1
    return JsonList(_placed(text, found.members), tail, is_bare)


class _Reader(NamedTuple):
    text: str
    gap: re.Pattern[str]  # what may be between two values
    is_strict: bool

    @property
    def start(self) -> int:
        return self.skip(1 if self.text.startswith("\ufeff") else 0)

    def root(self, depth: int) -> Node:
        try:
            root = self.node(self.start, depth)
        except RecursionError:
            raise json.JSONDecodeError("nested too deeply", self.text, 0) from None
        if (end := self.skip(root.end)) != len(self.text):
            raise json.JSONDecodeError("text after the end", self.text, end)
        return root

    def node(self, at: int, depth: int) -> Node:
        """Return the value at *at*; below *depth* levels, members are decoded without their places."""
        if depth and self.text.startswith("{", at):
            members, end = self.members(at, "}", depth - 1)
            if not self.is_strict:
                self.check_names(members)
            return Node({member.name: member.node.value for member in members}, at, end, members)
        if depth and self.text.startswith("[", at):
            members, end = self.members(at, "]", depth - 1)
            return Node([member.node.value for member in members], at, end, members)
        try:
            value, end = _DECODER.raw_decode(self.text, at)
        except json.JSONDecodeError:
            raise
        except ValueError as error:  # NaN, or a number of thousands of digits
            raise json.JSONDecodeError(str(error), self.text, at) from None
        return Node(value, at, end)

    def members(self, at: int, bracket: str, depth: int) -> tuple[tuple[Member, ...], int]:
        found: list[Member] = []
        at = self.skip(at + 1)
        is_after_comma = False
        while not self.text.startswith(bracket, at) or (is_after_comma and self.is_strict):
            name, value_at = self.name(at) if bracket == "}" else ("", at)
            found.append(Member(name, at, self.node(value_at, depth)))
            at = self.skip(found[-1].node.end)
            if is_after_comma := self.text.startswith(",", at):
                at = self.skip(at + 1)
            elif not self.text.startswith(bracket, at):
                raise json.JSONDecodeError(f"expected ',' or '{bracket}'", self.text, at)
        return tuple(found), at + 1

    def name(self, at: int) -> tuple[str, int]:
        if not self.text.startswith('"', at):
            raise json.JSONDecodeError("expected a name in double quotes", self.text, at)
        node = self.node(at, 0)
        colon = self.skip(node.end)
        if not self.text.startswith(":", colon):
            raise json.JSONDecodeError("expected ':'", self.text, colon)
        return node.value, self.skip(colon + 1)

    def check_names(self, members: tuple[Member, ...]) -> None:
        seen: set[str] = set()
        for member in members:
            if member.name in seen:
                raise json.JSONDecodeError(f"'{member.name}' is there twice", self.text, member.start)
            seen.add(member.name)

    def skip(self, at: int) -> int:
        match = self.gap.match(self.text, at)
        return match.end() if match else at


def _placed(text: str, members: tuple[Member, ...]) -> tuple[JsonItem, ...]:
    items = []
    line, seen = 1, 0
    for _, _, (value, start, end, _) in members:
        first = line + text.count("\n", seen, start)
        line, seen = first + text.count("\n", start, end), end
        items.append(JsonItem(value, LineRange(start, end, first, line)))
    return tuple(items)


def _number(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_float=_number, parse_constant=_no_number)
