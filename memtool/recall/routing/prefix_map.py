"""`rules/prefix-map.json`: which page a name belongs to, by what the name begins with. All pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from memtool.recall.routing.triggers import normal

PREFIX_MAP = "rules/prefix-map.json"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?', re.DOTALL)
_QUOTES = "\"'`[]"


class PrefixEntry(NamedTuple):
    """A name that begins with *prefix* belongs to the page *ref*; empty where the map holds no text for it."""

    prefix: str
    ref: str
    line: int


def parse_prefix_map(text: str) -> list[PrefixEntry]:
    """Return the entries of a map in their order.

    Raises:
        json.JSONDecodeError: the text is not one object of JSON.
    """
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except RecursionError:
        raise json.JSONDecodeError("it is nested too deeply", text, 0) from None
    if not isinstance(pairs, _Pairs):
        raise json.JSONDecodeError("it should be an object, {…}", text, 0)
    lines: dict[str, list[int]] = {}
    for key, line in _key_lines(text):
        lines.setdefault(key, []).append(line)
    return [PrefixEntry(key, ref if isinstance(ref, str) else "", lines[key].pop(0)) for key, ref in pairs]


def longest(prefixes: Collection[str], names: Iterable[str]) -> list[str]:
    """Return the longest of *prefixes* that each of *names* begins with. All are `normal`."""
    lengths = sorted({len(prefix) for prefix in prefixes if prefix}, reverse=True)
    found = (next((name[:length] for length in lengths if name[:length] in prefixes), "") for name in names)
    return [prefix for prefix in dict.fromkeys(found) if prefix]


def table_names(text: str) -> list[str]:
    """Return what a table may be called that is named *text*: with its schema and without, unquoted and `normal`."""
    whole = normal(text.translate(dict.fromkeys(map(ord, _QUOTES))))
    return list(dict.fromkeys([whole, whole.rpartition(".")[2]]))


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON, with every key that it holds twice."""


def _key_lines(text: str) -> Iterator[tuple[str, int]]:
    line, at = 1, 0
    for match in _STRING.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match[1]:
            yield json.loads(match[0].removesuffix(match[1])), line
