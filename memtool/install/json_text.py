"""Edits of a JSON text that keep every byte they need not change, comments and trailing commas too.

What is added follows the layout that it finds: indentation, line ends, or everything on one line. `removed` takes back
what `added` did, except for the white space inside an object or a list that was empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memtool.text.json_places import GAP, SPACE, Node, parse

# From the root to a value: names in objects and places in lists; -1 is behind the last item, where one is added.
Path = tuple[str | int, ...]


def is_plain(text: str) -> bool:
    """Return whether any reader of JSON understands *text*: it holds no comment and no trailing comma."""
    try:
        json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        return False
    return True


def is_blank(text: str | None) -> bool:
    """Return whether *text* holds nothing but white space."""
    return not (text or "").strip("\ufeff" + SPACE)


def object_of(text: str | None) -> Node:
    """Return the tree of *text*, an empty object for a blank one.

    Raises:
        ValueError: it is not JSON, or no object.
    """
    root = parse("{}" if text is None or is_blank(text) else text)
    if not isinstance(root.value, dict):
        raise ValueError("it should hold an object, {…}")  # noqa: TRY004  (the text is wrong, not the program)
    return root


def along(root: Node, path: Path) -> list[Node]:
    """Return *root* and the values along *path*, as far as they exist."""
    chain = [root]
    for step in path:
        place = chain[-1]
        if isinstance(step, str):
            there = place.get(step)
        else:
            there = place.members[step].node if 0 <= step < len(place.members) else None
        if there is None:
            break
        chain.append(there)
    return chain


def with_added(text: str, path: Path, value: object) -> str:
    """Return *text* with *value* at *path*, where nothing is yet; containers that are missing on the way are made."""
    text = text if not is_blank(text) else "{}\n"
    chain = along(parse(text), path)
    first, *rest = path[len(chain) - 1 :]
    for step in reversed(rest):
        value = {step: value} if isinstance(step, str) else [value]
    return added(text, chain[-1], value, first if isinstance(first, str) else "")


def without(text: str, path: Path, is_kept: Callable[[Path], bool]) -> str:
    """Return *text* without the value at *path*, nor the containers that this leaves empty, unless *is_kept*."""
    chain = along(parse(text), path)
    at = len(path) - 1
    while at > 0 and len(chain[at].members) == 1 and not is_kept(path[:at]):
        at -= 1
    step = path[at]
    names: Sequence[str] = [member.name for member in chain[at].members]
    return removed(text, chain[at], names.index(step) if isinstance(step, str) else step)


def added(text: str, place: Node, value: object, name: str = "") -> str:
    """Return *text* with *value* as the last item of the list *place*, or as its last member, under *name*."""
    layout = _Layout.of(text)
    if not place.members:
        comments = text[place.start + 1 : place.end - 1].rstrip(SPACE)
        head, tail = text[: place.start + 1] + comments, text[place.end - 1 :]
        is_root = _skip(text, place.end) == len(text)
        if _is_line(text.strip(SPACE)) and not is_root:
            return head + layout.written(value, name, None) + tail
        own = _indent(text, place.start)
        body = layout.written(value, name, own + layout.unit)
        return f"{head}{layout.newline}{own}{layout.unit}{body}{layout.newline}{own}{tail}"
    last = place.members[-1]
    indent = _indent(text, last.start)
    body = layout.written(value, name, None if _is_line(text[place.start : place.end]) else indent)
    comma = _skip(text, last.node.end)
    has_comma = text.startswith(",", comma)
    end = comma + 1 if has_comma else last.node.end
    spot = end + len(text[end : _skip(text, end)].rstrip(SPACE))  # behind the last comment
    is_beside = spot == end and _is_line(text[place.start : last.start])
    body = (layout.space if is_beside else layout.newline + indent) + body
    if has_comma:
        return f"{text[:spot]}{body},{text[spot:]}"
    return f"{text[:end]},{text[end:spot]}{body}{text[spot:]}"


def replaced(text: str, node: Node, value: object) -> str:
    """Return *text* with *node* replaced by *value*."""
    indent = None if _is_line(text[node.start : node.end]) else _indent(text, node.start)
    return text[: node.start] + _Layout.of(text).written(value, "", indent) + text[node.end :]


def removed(text: str, place: Node, index: int) -> str:
    """Return *text* without the member of *place* at *index*. Comments around it stay."""
    member = place.members[index]
    inside = text[place.start + 1 : member.start] + text[member.node.end : place.end - 1]
    if not inside.strip(SPACE + ","):
        return text[: place.start + 1] + text[place.end - 1 :]
    comma = _skip(text, member.node.end)
    has_comma = text.startswith(",", comma)
    before = _skip(text, place.members[index - 1].node.end) if index else place.start  # a comma or the bracket
    rest = text[member.node.end : comma] + text[comma + has_comma :]
    gap = text[before + 1 : member.start]
    is_in_comment = _TO_LINE_COMMENT.fullmatch(gap.rstrip(SPACE))  # there the rest would end up in it
    if not is_in_comment or _NEWLINE.match(rest.lstrip(" \t")):
        gap = gap.rstrip(SPACE)
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


_GAP = re.compile(GAP)
_TO_LINE_COMMENT = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+[\r\n]|/\*(?s:.*?)\*/)*+//[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_UNIT = re.compile(r"[\[{](?:[ \t]*(?:\r\n|\n|\r))+([ \t]+)\S")
