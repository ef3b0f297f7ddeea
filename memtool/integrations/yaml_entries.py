"""An entry of memtool in a YAML file of a client: a few lines below a key, put in as text and taken out again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtool.integrations.json_entries import command_of, runs_memtool
from memtool.integrations.plans import LeftAlone, Share


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
