"""Settings changed in the text of a settings file: the lines of the settings that change, and no other byte."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from memtool.errors import BadSetting
from memtool.settings import checked
from memtool.settings.sections import ABOUT

_TABLE = re.compile(r"\s*\[")


def with_settings(text: str, values: Mapping[str, object]) -> str:
    """Return the TOML *text* of a vault's settings with *values* by key in it; None takes the default back.

    Raises:
        BadSetting: a value is none, the setting is never taken from a vault, or its line is written so that only a
            person can change it.
    """
    for key, value in values.items():
        if key not in ABOUT or ABOUT[key].trusted:
            raise BadSetting(f"'{key}' cannot be set here", hint="Set it in your own config.toml.")
        text = _with_setting(text, key, None if value is None else checked(key, value))
    return text


def _with_setting(text: str, key: str, value: object) -> str:
    wanted = _parsed(text)
    section, _, name = key.rpartition(".")
    table = wanted.setdefault(section, {}) if section else wanted
    table.pop(name, None)
    if value is not None:
        table[name] = list(value) if isinstance(value, tuple) else value
    if section and not table:
        wanted.pop(section)
    for candidate in _candidates(text.split("\n"), section, name, "" if value is None else f"{name} = {_toml(value)}"):
        found = _parsed(candidate)
        if section and not found.get(section, True):
            found.pop(section)
        if found == wanted:
            return candidate
    raise BadSetting(f"the line of '{key}' cannot be changed by a program", hint="Edit the vault's memtool.toml.")


def _candidates(lines: list[str], section: str, name: str, line: str) -> Iterator[str]:
    """Give texts of which one says what is wanted: the line in place of its older one, or new in its table."""
    new = [line] if line else []
    own = re.compile(rf"\s*{name}\s*=")
    header = re.compile(rf"\s*\[\s*{section}\s*\]\s*(#.*)?\r?$")
    first = next((at for at, each in enumerate(lines) if header.match(each)), -1) if section else -1
    if section and first < 0:
        yield "\n".join([*lines, *([] if lines[-1:] == [""] else [""]), f"[{section}]", *new, ""])
        return
    last = next((at for at in range(first + 1, len(lines)) if _TABLE.match(lines[at])), len(lines))
    at = next((at for at in range(first + 1, last) if own.match(lines[at])), None)
    if at is None:
        while last > first + 1 and not lines[last - 1].strip():
            last -= 1
        yield "\n".join([*lines[:last], *new, *lines[last:]])
        return
    for end in range(at + 1, len(lines) + 1):  # a list may go on over several lines
        yield "\n".join([*lines[:at], *new, *lines[end:]])


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {"": text}  # which is never wanted


def _toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False).replace("\x7f", "\\u007f")
