"""The passages of a chunk: single bullets and sentences, of which one may be what a prompt is about. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from memtool.named_tuple import NamedTuple
from memtool.recall.answers.statements import SENTENCE_END, tells
from memtool.text.languages import all_labels
from memtool.text.markdown import blocks, without_mark
from memtool.vault.authors import OPEN
from memtool.vault.sessions import Line

_DONE = re.compile(r"\s*[-*+]\s+\[[xX]\]\s")  # a task that nobody needs to be reminded of
_LABEL = re.compile(r"\*\*[^*\n]{1,40}\*\*[:：]\s*")  # `**Decisions**: …` of an older note
# What memtool's own hooks write into daily notes says nothing by itself: files, links, topics.
_MACHINE_MADE = re.compile(r"- [0-2]\d:[0-5]\d(?: \*\*[^*]+\*\*)?:(?: (?:`|\[)|.* \(session \S+\)$)")
_SAYS_NOTHING = {"daily": _MACHINE_MADE, "todo": _DONE}
_LONG = 240  # characters; a longer passage is cut into sentences
_MOST = 60  # passages of one chunk


class Passage(NamedTuple):
    """One line's worth of text, and the lines of the chunk that hold it, counted from 0."""

    text: str
    first: int
    last: int


@lru_cache(maxsize=2_048)  # who asks much finds the same chunks again: `memtool test`, the service
def passages(text: str, kind: str) -> tuple[Passage, ...]:
    """Return the passages of a chunk's *text* that are worth giving, in order, without bullets' marks and fences."""
    lines = text.split("\n")
    found: list[Passage] = []
    for first, last in blocks(lines):
        pattern = _SAYS_NOTHING.get(kind)
        if not pattern or not pattern.match(lines[first]):
            block = [without_mark(lines[first]).removeprefix("[ ] "), *lines[first + 1 : last + 1]]
            whole = " ".join(_LABEL.sub("", line.strip(" |\t\r"), count=1) for line in block)
            parts = SENTENCE_END.split(whole) if len(whole) > _LONG else [whole]
            found += [Passage(part.strip(), first, last) for part in parts if part.strip()]
    return tuple(passage for passage in found if _is_worth_giving(passage.text, kind))[:_MOST]


def _is_worth_giving(text: str, kind: str) -> bool:
    """Whether *text* tells somebody who was not there anything: a question, a list of files, a status does not."""
    if text.endswith(("?", "？")) or _names_only_files(text):
        return False
    return kind not in ("daily", "todo") or tells(Line(text, OPEN if kind == "todo" else ""))


def _names_only_files(text: str) -> bool:
    parts = [part.strip(" `'\"") for part in text.replace("、", ",").split(",")]
    files = [part for part in parts if ("." in part or "/" in part) and " " not in part]
    # The end of a list of files that leaves some out, in each language: `and ` of `and 3 more`.
    more = tuple(form.partition("N")[0] for form in all_labels("session")["more_files"])
    return bool(files) and all(part in files or part.startswith(more) for part in parts)
