"""Front matter, edited by changing only the lines we own.

A YAML round trip sorts keys, drops comments and turns `01234` into a number, so lines are changed as text. What comes
out is read once more: an edit that would touch another field is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memtool.errors import BrokenVaultFile
from memtool.vault.note import parse_fields, split_front_matter

_FIELD = re.compile(r"(?![\s#]|-(?:\s|$))(.+?):(?:\s|$)")
_PLAIN = re.compile(r"[^\W\d_][\w ./()+\-]*|\d{4}-\d{2}-\d{2}")
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")  # raw in YAML


def set_field(text: str, key: str, value: str) -> str:
    """Return *text* with one front-matter line changed and every other byte kept.

    A field that is missing is added as the last one; a note without front matter gets one. A value that spans
    several lines is replaced whole.

    Raises:
        BrokenVaultFile: the front matter is not one field to a line, or is broken.
    """
    return _set(text, key, quoted(value), " ".join(value.split()))


def set_list(text: str, key: str, values: Iterable[str]) -> str:
    """Return *text* with one front-matter field set to a list on one line, and every other byte kept.

    Raises:
        BrokenVaultFile: as `set_field`.
    """
    items = [" ".join(value.split()) for value in values]
    return _set(text, key, f"[{', '.join(map(quoted, items))}]", items)


def _set(text: str, key: str, written: str, value: object) -> str:
    fields, end = _front_matter(text)
    line = f"{key}: {written}"
    if fields is None:
        newline = "\r\n" if "\r\n" in text else "\n"
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{bom}---{newline}{line}{newline}---{newline}{text.removeprefix(bom)}"
    lines = text.split("\n")
    start, stop = (_spans(lines[:end], key) or [(end, end)])[-1]  # of two fields with one name the last one counts
    lines[start:stop] = [line + ("\r" if lines[0].endswith("\r") else "")]
    return _checked("\n".join(lines), {**fields, key: value})


def quoted(value: str) -> str:
    """Return *value* as a YAML scalar on one line, quoted only where plain text would be read as something else."""
    line = " ".join(value.split())
    if _PLAIN.fullmatch(line) and line.casefold() not in _NOT_TEXT:
        return line
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_FORBIDDEN.sub(_escape, escaped)}"'


def _escape(match: re.Match[str]) -> str:
    return rf"\U{ord(match[0]):08x}"


def _front_matter(text: str) -> tuple[Mapping[str, Any] | None, int]:
    """Return the fields of *text* (None without front matter) and the position of the line that ends them."""
    matter, body_line = split_front_matter(text.removeprefix("\ufeff"))
    fields = None if matter is None else parse_fields(matter)
    if isinstance(fields, str):
        raise BrokenVaultFile(f"the note cannot be changed: {fields}")
    return fields, body_line - 2


def _spans(lines: list[str], key: str) -> list[tuple[int, int]]:
    """Return the spans of *lines* that hold the field *key*: its line, and those on which its value goes on."""
    starts = [(at, match[1].strip().strip("\"'")) for at, line in enumerate(lines) if (match := _FIELD.match(line))]
    ends = [at for at, _ in starts[1:]] + [len(lines)]
    return [(start, _last(lines, start, end)) for (start, name), end in zip(starts, ends, strict=False) if name == key]


def _last(lines: list[str], start: int, end: int) -> int:
    # Comments and empty lines between two fields are not part of the first one.
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return end


def _checked(text: str, wanted: Mapping[str, Any]) -> str:
    if _front_matter(text)[0] != wanted:
        raise BrokenVaultFile("the front matter cannot be changed line by line", hint="Change it with an editor.")
    return text
