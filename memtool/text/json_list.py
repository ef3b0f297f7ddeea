"""A list in a JSON text, with the place of each item: whatever the formatting, and in linear time."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from memtool.named_tuple import NamedTuple


class LineRange(NamedTuple):
    """The place of an item: `text[start:end]`, and its first and last line, counted from 1."""

    start: int
    end: int
    start_line: int
    end_line: int


class JsonItem(NamedTuple):
    """One value of the list."""

    value: Any
    place: LineRange


class JsonList(NamedTuple):
    """The items of a list. *tail* is where the last one ends, or where the first one would begin."""

    items: tuple[JsonItem, ...]
    tail: int
    is_bare: bool  # the list is the whole text, not a member of an object


class _ParsedValue(NamedTuple):
    value: Any
    start: int
    end: int


class _Spans(NamedTuple):
    spans: list[_ParsedValue]
    tail: int
    end: int  # behind the closing bracket


def parse_list(text: str, name: str) -> JsonList:
    """Return the list that the object in *text* holds under *name*, or the list that *text* itself is.

    Raises:
        json.JSONDecodeError: the text is not JSON, is nested too deeply, or holds no such list.
    """
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    is_bare = text.startswith("[", at)
    spans, tail, end = _list(text, at) if is_bare else _member(text, at, name)
    if _skip(text, end) != len(text):
        raise json.JSONDecodeError("text after the end", text, _skip(text, end))
    return JsonList(_placed(text, spans), tail, is_bare)


def _member(text: str, at: int, name: str) -> _Spans:
    if not text.startswith("{", at):
        raise json.JSONDecodeError(f'it should be an object, {{"{name}": […]}}', text, at)
    found = None
    at = _skip(text, at + 1)
    more = not text.startswith("}", at)
    while more:
        key, at = _key(text, at)
        if key != name:
            _, at = _value(text, at)
        elif found is None:
            found = _list(text, at)
            at = found.end
        else:
            raise json.JSONDecodeError(f"'{name}' is there twice", text, at)
        at, more = _after(text, at, "}")
    if found is None:
        raise json.JSONDecodeError(f"it holds no list '{name}'", text, at)
    return found._replace(end=at + 1)


def _list(text: str, at: int) -> _Spans:
    if not text.startswith("[", at):
        raise json.JSONDecodeError("expected a list", text, at)
    spans: list[_ParsedValue] = []
    tail = at + 1
    at = _skip(text, tail)
    more = not text.startswith("]", at)
    while more:
        value, tail = _value(text, at)
        spans.append(_ParsedValue(value, at, tail))
        at, more = _after(text, tail, "]")
    return _Spans(spans, tail, at + 1)


def _key(text: str, at: int) -> tuple[str, int]:
    if not text.startswith('"', at):
        raise json.JSONDecodeError("expected a name in double quotes", text, at)
    key, at = _value(text, at)
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise json.JSONDecodeError("expected ':'", text, at)
    return key, _skip(text, at + 1)


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, at) from None
    except ValueError as error:  # NaN, or a number of thousands of digits
        raise json.JSONDecodeError(str(error), text, at) from None


def _after(text: str, at: int, bracket: str) -> tuple[int, bool]:
    """Return the offset of the next member, or of the closing *bracket*, and whether there is a next member."""
    at = _skip(text, at)
    if text.startswith(",", at):
        return _skip(text, at + 1), True
    if text.startswith(bracket, at):
        return at, False
    raise json.JSONDecodeError(f"expected ',' or '{bracket}'", text, at)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _placed(text: str, spans: list[_ParsedValue]) -> tuple[JsonItem, ...]:
    items = []
    line, seen = 1, 0
    for value, start, end in spans:
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


_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(parse_float=_number, parse_constant=_no_number)
