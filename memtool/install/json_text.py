"""A JSON text as a tree that knows its places, and edits that keep every byte they need not change.

Comments (`//` and `/* */`) and trailing commas are read and kept. What is added follows the layout that it finds:
indentation, line ends, or everything on one line. `removed` takes back what `added` did, except for the white space
inside an object or a list that was empty.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple


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


def parse(text: str) -> Node:
    """Return the tree of *text*.

    Raises:
        json.JSONDecodeError: it is not JSON, holds a name twice, or is nested too deeply.
    """
    try:
        root = _node(text, _skip(text, 1 if text.startswith("\ufeff") else 0))
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, 0) from None
    end = _skip(text, root.end)
    if end != len(text):
        raise json.JSONDecodeError("text after the end", text, end)
    return root


def is_plain(text: str) -> bool:
    """Return whether any reader of JSON understands *text*: it holds no comment and no trailing comma."""
    try:
        json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        return False
    return True


def added(text: str, place: Node, value: object, name: str = "") -> str:
    """Return *text* with *value* as the last item of the list *place*, or as its last member, under *name*."""
    layout = _Layout.of(text)
    if not place.members:
        return _added_to_empty(text, place, value, name, layout)
    last = place.members[-1]
    indent = _indent(text, last.start)
    body = layout.written(value, name, None if _is_line(text[place.start : place.end]) else indent)
    comma = _skip(text, last.node.end)
    has_comma = text.startswith(",", comma)
    end = comma + 1 if has_comma else last.node.end
    spot = end + len(text[end : _skip(text, end)].rstrip(_SPACE))  # behind the last comment
    is_beside = spot == end and _is_line(text[place.start : last.start])
    body = (layout.space if is_beside else layout.newline + indent) + body
    if has_comma:
        return f"{text[:spot]}{body},{text[spot:]}"
    return f"{text[:end]},{text[end:spot]}{body}{text[spot:]}"


def replaced(text: str, node: Node, value: object) -> str:
    """Return *text* with *value* in the place of *node*."""
    indent = None if _is_line(text[node.start : node.end]) else _indent(text, node.start)
    return text[: node.start] + _Layout.of(text).written(value, "", indent) + text[node.end :]


def removed(text: str, place: Node, index: int) -> str:
    """Return *text* without the member of *place* at *index*. Comments around it stay."""
    member = place.members[index]
    inside = text[place.start + 1 : member.start] + text[member.node.end : place.end - 1]
    if not inside.strip(_SPACE + ","):
        return text[: place.start + 1] + text[place.end - 1 :]
    comma = _skip(text, member.node.end)
    has_comma = text.startswith(",", comma)
    before = _skip(text, place.members[index - 1].node.end) if index else place.start  # a comma or the bracket
    rest = text[member.node.end : comma] + text[comma + has_comma :]
    gap = text[before + 1 : member.start]
    is_in_comment = _TO_LINE_COMMENT.fullmatch(gap.rstrip(_SPACE))  # there the rest would end up in it
    if not is_in_comment or _NEWLINE.match(rest.lstrip(" \t")):
        gap = gap.rstrip(_SPACE)
    return text[:before] + ("" if index and not has_comma else text[before]) + gap + rest


class _Layout(NamedTuple):
    newline: str
    unit: str  # one step of indentation
    space: str  # behind a colon, and behind a comma within a line

    @classmethod
    def of(cls, text: str) -> _Layout:
        newline, unit = _NEWLINE.search(text), _UNIT.search(text)
        is_dense = '":' in text and '": ' not in text
        return cls(newline[0] if newline else "\n", unit[1] if unit else "  ", "" if is_dense else " ")

    def written(self, value: object, name: str, indent: str | None) -> str:
        """Return *value* as JSON, under *name* if there is one; on one line if *indent* is None."""
        comma = "," + self.space if indent is None else ","
        unit = None if indent is None else self.unit
        text = json.dumps(value, ensure_ascii=False, indent=unit, separators=(comma, ":" + self.space))
        if name:
            text = f"{json.dumps(name, ensure_ascii=False)}:{self.space}{text}"
        return text.replace("\n", f"{self.newline}{indent}")


def _added_to_empty(text: str, place: Node, value: object, name: str, layout: _Layout) -> str:
    comments = text[place.start + 1 : place.end - 1].rstrip(_SPACE)
    head, tail = text[: place.start + 1] + comments, text[place.end - 1 :]
    is_root = _skip(text, place.end) == len(text)
    if _is_line(text.strip(_SPACE)) and not is_root:
        return head + layout.written(value, name, None) + tail
    own = _indent(text, place.start)
    body = layout.written(value, name, own + layout.unit)
    return f"{head}{layout.newline}{own}{layout.unit}{body}{layout.newline}{own}{tail}"


def _node(text: str, at: int) -> Node:
    if text.startswith("{", at):
        members, end = _members(text, at, "}")
        _check_names(text, members)
        return Node({member.name: member.node.value for member in members}, at, end, members)
    if text.startswith("[", at):
        members, end = _members(text, at, "]")
        return Node([member.node.value for member in members], at, end, members)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # NaN, or a number of thousands of digits
        raise json.JSONDecodeError(str(error), text, at) from None
    return Node(value, at, end)


def _members(text: str, at: int, bracket: str) -> tuple[tuple[Member, ...], int]:
    members: list[Member] = []
    at = _skip(text, at + 1)
    while not text.startswith(bracket, at):
        name, value_at = _name(text, at) if bracket == "}" else ("", at)
        members.append(Member(name, at, _node(text, value_at)))
        at = _skip(text, members[-1].node.end)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith(bracket, at):
            raise json.JSONDecodeError(f"expected ',' or '{bracket}'", text, at)
    return tuple(members), at + 1


def _name(text: str, at: int) -> tuple[str, int]:
    if not text.startswith('"', at):
        raise json.JSONDecodeError("expected a name in double quotes", text, at)
    node = _node(text, at)
    colon = _skip(text, node.end)
    if not text.startswith(":", colon):
        raise json.JSONDecodeError("expected ':'", text, colon)
    return node.value, _skip(text, colon + 1)


def _check_names(text: str, members: tuple[Member, ...]) -> None:
    seen: set[str] = set()
    for member in members:
        if member.name in seen:
            raise json.JSONDecodeError(f"'{member.name}' is there twice", text, member.start)
        seen.add(member.name)


def _indent(text: str, at: int) -> str:
    """Return the white space that begins the line of *at*."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_line(text: str) -> bool:
    return not _NEWLINE.search(text)


def _skip(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_SPACE = " \t\r\n"
_GAP = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?s:.*?)\*/)*+")
_TO_LINE_COMMENT = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+[\r\n]|/\*(?s:.*?)\*/)*+//[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_UNIT = re.compile(r"[\[{](?:[ \t]*(?:\r\n|\n|\r))+([ \t]+)\S")
_DECODER = json.JSONDecoder(parse_constant=_no_number)
