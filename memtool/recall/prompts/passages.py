"""The passages of a chunk: single bullets and sentences, of which one may be what a prompt is about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[ \]\s+)?")
_DONE = re.compile(r"\s*[-*+]\s+\[[xX]\]\s")  # a task that nobody needs to be reminded of
_LABEL = re.compile(r"\*\*[^*\n]{1,40}\*\*[:：]\s*")  # `**Decisions**: …` of a session note
# What memtool's own hooks write into daily notes is a list of files and links: it says nothing by itself.
_MACHINE_MADE = re.compile(r"- [0-2]\d:[0-5]\d(?: \*\*[^*]+\*\*)?: (?:`|\[)")
_HEADER = re.compile(r"- \*\*[^*\n]{1,40}\*\*[:：]")  # of a session note: its project, time, folder, transcript
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？；])")
_LONG = 240  # characters; a longer passage is cut into sentences
_MOST = 60  # passages of one chunk


class Passage(NamedTuple):
    """One line's worth of text, and the lines of the chunk that it stands in, counted from 0."""

    text: str
    first: int
    last: int


def passages(text: str, kind: str) -> list[Passage]:
    """Return the passages of a chunk's *text*, in order, without headings, bullets' marks and fences."""
    found: list[Passage] = []
    for whole in _items(text, kind):
        parts = _SENTENCE_END.split(whole.text) if len(whole.text) > _LONG else [whole.text]
        found += [whole._replace(text=part.strip()) for part in parts if part.strip()]
    return found[:_MOST]


def _items(text: str, kind: str) -> Iterator[Passage]:
    held: list[str] = []
    first = 0
    lines = text.split("\n")
    for at, line in enumerate([*lines, ""]):
        item = _ITEM.match(line)
        is_break = not line.strip() or line.startswith(("#", "```", "~~~", "---", "|--", "| --"))
        if held and (item or is_break or line.startswith("|")):
            yield Passage(" ".join(held), first, at - 1)
            held = []
        if is_break or _says_nothing(line, kind):
            continue
        if not held:
            first = at
        held.append(_LABEL.sub("", line[item.end() if item else 0 :].strip(" |\t\r"), count=1))


def _says_nothing(line: str, kind: str) -> bool:
    pattern = {"daily": _MACHINE_MADE, "session": _HEADER, "todo": _DONE}.get(kind)
    return pattern is not None and pattern.match(line) is not None
