"""One value of a settings file changed, and every other byte of it kept.

What is written is read again with tomllib. A file whose form is too clever for an edit by lines stays as it is.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from memtool.errors import BadSetting

_EDIT = "Change it by hand: `memtool config edit`."
_HEADER = re.compile(r"\s*\[+\s*([^\]\s]*)\s*\]+\s*(?:#.*)?$")
_CONTENT = re.compile(r"\s*[^\s#]")

Value = str | int | bool | Sequence[str]


def with_value(text: str, key: str, value: Value) -> str:
    """Return the TOML *text* in which the setting *key*, such as `search.limit`, has *value*.

    Raises:
        BadSetting: *text* is not TOML, or the setting cannot be changed by a line.
    """
    section, _, name = key.rpartition(".")
    expected = _with(_parsed(text), section, name, value)
    lines = _lines(text)
    end = "\r\n" if "\r\n" in text else "\n"
    place = _find(lines, section, name)
    if place.entry:
        lines[place.entry.first : place.entry.stop] = [_changed(place.entry.text, as_toml(value), key)]
    else:
        head = "".join([end if lines and lines[-1].strip() else "", f"[{section}]{end}"])
        line = ("" if place.has_section else head) + f"{name} = {as_toml(value)}{end}"
        if place.stop and not lines[place.stop - 1].endswith("\n"):
            lines[place.stop - 1] += end
        lines.insert(place.stop, line)
    return _checked("".join(lines), expected, key)


def without_value(text: str, key: str) -> str:
    """Return the TOML *text* in which the setting *key* is not set; a table stays, even an empty one.

    Raises:
        BadSetting: *text* is not TOML, or the setting cannot be taken out by a line.
    """
    section, _, name = key.rpartition(".")
    expected = _with(_parsed(text), section, name, None)
    lines = _lines(text)
    if entry := _find(lines, section, name).entry:
        del lines[entry.first : entry.stop]
    return _checked("".join(lines), expected, key)


def as_toml(value: Value) -> str:
    """Return *value* as a settings file writes it, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        return f"[{', '.join(as_toml(item) for item in value)}]"
    if "\\" in value and value.isprintable() and "'" not in value:
        return f"'{value}'"  # a pattern, or a path of Windows, as it was typed
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


class _Entry(NamedTuple):
    """The lines that set a value: from *first* up to *stop*."""

    first: int
    stop: int
    text: str


class _Place(NamedTuple):
    """Where a value is set, or the line at which a new one goes."""

    entry: _Entry | None
    has_section: bool
    stop: int


def _find(lines: list[str], section: str, name: str) -> _Place:
    key = re.compile(rf"\s*{re.escape(name)}\s*=")
    current, has_section, at, stop = "", not section, 0, 0 if not section else len(lines)
    while at < len(lines):
        following = at + 1
        if header := _HEADER.match(lines[at]):
            current = header[1]
            if current == section:
                has_section, stop = True, following
        else:
            following = _end_of_entry(lines, at)
            if current == section and key.match(lines[at]):
                return _Place(_Entry(at, following, "".join(lines[at:following])), has_section=True, stop=at)
            if current == section and _CONTENT.match(lines[at]):
                stop = following
        at = following
    return _Place(None, has_section, stop)


def _end_of_entry(lines: list[str], first: int) -> int:
    """Return the line behind the entry that begins at *first*: a list or a text may go over several lines."""
    for stop in range(first + 1, len(lines) + 1):
        if _loads("".join(lines[first:stop])) is not None:
            return stop
    return first + 1


def _changed(entry: str, value: str, key: str) -> str:
    """Return *entry* with another value, and the comment behind it."""
    name, equals, rest = entry.partition("=")
    space = rest[: len(rest) - len(rest.lstrip(" \t"))]
    bare = rest.rstrip("\r\n")
    ends = (at for at in range(len(bare) + 1) if at == len(bare) or bare[at] == "#")
    old = bare[: next(at for at in ends if _loads(f"x ={bare[:at]}") is not None)]
    if "\n" in old and _has_comment(old):
        raise BadSetting(f"the value of '{key}' goes over several lines, with comments in it", hint=_EDIT)
    return f"{name}{equals}{space}{value}{rest[len(old.rstrip()) :]}"


def _has_comment(value: str) -> bool:
    """Return whether a `#` in the TOML *value* begins a comment: one within a text belongs to it."""
    known = _loads(f"x ={value}")
    others = (_loads(f"x ={value[:at]}_{value[at + 1 :]}") for at, char in enumerate(value) if char == "#")
    return any(other in (None, known) for other in others)


def _with(values: dict[str, Any], section: str, name: str, value: Value | None) -> dict[str, Any]:
    """Return *values* in which one is *value*; None takes it out."""
    values = deepcopy(values)
    table = values.setdefault(section, {}) if section and value is not None else values.get(section, {})
    table = table if section else values
    if not isinstance(table, dict):
        raise BadSetting(f"'{section}' should be a table, [{section}]", hint=_EDIT)
    table.pop(name, None)
    if value is not None:
        table[name] = value if isinstance(value, str | int) else list(value)
    return values


def _checked(text: str, expected: dict[str, Any], key: str) -> str:
    if _loads(text) != expected:
        raise BadSetting(f"'{key}' cannot be changed by a line in this file", hint=_EDIT)
    return text


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"the file is not TOML: {error}", hint="Mend it: `memtool config edit`.") from None


def _loads(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
