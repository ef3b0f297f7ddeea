"""A table of memtool in a TOML file of a client: put in as text, and taken out again.

The client may have rewritten the file in the meantime, with our comment in another place. So ours is known by what it
runs, as in JSON, and whatever is written is compared with what it should mean.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtool.integrations.json_entries import command_of, runs_memtool
from memtool.integrations.plans import LeftAlone, Share

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
        newline = "\r\n" if "\r\n" in text else "\n"
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
