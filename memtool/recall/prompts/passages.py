"""The passages of a chunk: single bullets and sentences, of which one may be what a prompt is about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memtool.named_tuple import NamedTuple
from memtool.recall.answers.statements import tells
from memtool.text.languages import all_labels
from memtool.text.markdown import blocks, without_mark
from memtool.vault.authors import OPEN
from memtool.vault.sessions import Line, lines_of

_DONE = re.compile(r"\s*[-*+]\s+\[[xX]\]\s")  # a task that nobody needs to be reminded of
_LABEL = re.compile(r"\*\*[^*\n]{1,40}\*\*[:：]\s*")  # `**Decisions**: …` of a session note
# What memtool's own hooks write into daily notes says nothing by itself: files, links, topics.
_MACHINE_MADE = re.compile(r"- [0-2]\d:[0-5]\d(?: \*\*[^*]+\*\*)?:(?: (?:`|\[)|.* \(session \S+\)$)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？；])")
_LONG = 240  # characters; a longer passage is cut into sentences
_MOST = 60  # passages of one chunk


class Passage(NamedTuple):
    """One line's worth of text, and the lines of the chunk that it stands in, counted from 0.

    Of a session's note also its *role* and *author* (`memtool.vault.sessions`), and what was *asked* before it.
    """

    text: str
    first: int
    last: int
    role: str = ""
    author: str = ""
    asked: str = ""


@lru_cache(maxsize=2_048)  # who asks much finds the same chunks again: `memtool test`, the warm helper
def passages(text: str, kind: str, heading: str = "") -> tuple[Passage, ...]:
    """Return the passages of a chunk's *text* that are worth giving, in order, without bullets' marks and fences.

    *heading* is the path of headings above the chunk.
    """
    found: list[Passage] = []
    wholes = _lines(text, heading) if kind == "session" else _items(text, kind)
    for whole in wholes:
        parts = _SENTENCE_END.split(whole.text) if len(whole.text) > _LONG else [whole.text]
        found += [whole._replace(text=part.strip()) for part in parts if part.strip()]
    return tuple(passage for passage in found if _is_worth_giving(passage, kind))[:_MOST]


def _is_worth_giving(passage: Passage, kind: str) -> bool:
    """Whether *passage* tells somebody who was not there anything: a question, a list of files, a status does not.

    What a session's note says is chosen elsewhere (`memtool.recall.answers.statements`); here it only finds the note.
    """
    if passage.text.endswith(("?", "？")) or _names_only_files(passage.text):
        return False
    return kind not in ("daily", "todo") or tells(Line(passage.text, OPEN if kind == "todo" else ""))


def _names_only_files(text: str) -> bool:
    parts = [part.strip(" `'\"") for part in text.replace("、", ",").split(",")]
    files = [part for part in parts if ("." in part or "/" in part) and " " not in part]
    return bool(files) and all(part in files or part.startswith(_more_files()) for part in parts)


def _more_files() -> tuple[str, ...]:
    """Return the end of a list of files that leaves some out, in each language: `and ` of `and 3 more`."""
    return tuple(form.partition("N")[0] for form in all_labels("session")["more_files"])


def _lines(text: str, heading: str) -> Iterator[Passage]:
    """Give the lines of a session's note, or of a chunk of one below *heading*, and what its owner wrote between."""
    told = text.split("\n")
    ours: set[int] = set()
    for line in lines_of(text, heading):
        first = last = line.number - 1
        while last + 1 < len(told) and _goes_on(told[last + 1]):
            last += 1
        ours.update(range(first, last + 1))
        yield Passage(line.text, first, last, line.role, line.author, line.asked)
    rest = ["" if at in ours or _is_of_note(line) else line for at, line in enumerate(told)]
    yield from _items("\n".join(rest), "note")


def _goes_on(line: str) -> bool:
    """Return whether *line* belongs to the bullet above it."""
    return line.startswith((" ", "\t")) and bool(line.strip()) and re.match(r"\s*[-*+]\s", line) is None


def _is_of_note(line: str) -> bool:
    """Return whether *line* is a heading, a label or a list of files, which say nothing by themselves."""
    return re.match(r"#{1,6} |(?:\d+\. |- )?\*\*[^*]+\*\*[:：]", line) is not None


def _items(text: str, kind: str) -> Iterator[Passage]:
    lines = text.split("\n")
    for first, last in blocks(lines):
        if not _says_nothing(lines[first], kind):
            said = [without_mark(lines[first]).removeprefix("[ ] "), *lines[first + 1 : last + 1]]
            yield Passage(" ".join(_LABEL.sub("", line.strip(" |\t\r"), count=1) for line in said), first, last)


def _says_nothing(line: str, kind: str) -> bool:
    pattern = {"daily": _MACHINE_MADE, "todo": _DONE}.get(kind)
    return pattern is not None and pattern.match(line) is not None
