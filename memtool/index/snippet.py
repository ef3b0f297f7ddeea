"""Snippets: the part of a chunk that shows best why it was found."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from memtool.text.languages import all_labels
from memtool.text.tokens import term_spans

_HEAD = ("project", "updated", "directory", "transcript", "links")  # labels of a session's note
WIDTH = 240  # characters
_LONGEST_CUT = 20  # characters of a word that a snippet may leave out at its beginning


class Snippet(NamedTuple):
    """A line of text, and the spans in it that match."""

    text: str
    marks: tuple[tuple[int, int], ...]


def snippet(text: str, terms: frozenset[str], width: int = WIDTH) -> Snippet:
    """Return about *width* characters of *text* on one line, and the spans in it that match *terms*."""
    line = " ".join(_without_boilerplate(text, terms).split())
    spans = list(term_spans(line, terms))
    start = _word_start(line, _densest(spans, width, len(line)))
    end = min(len(line), start + width)
    before, after = "… " if start else "", " …" if end < len(line) else ""
    shift = len(before) - start
    inside = ((max(a, start) + shift, min(b, end) + shift) for a, b in spans if a < end and b > start)
    return Snippet(f"{before}{line[start:end]}{after}", tuple(inside))


def _without_boilerplate(text: str, terms: frozenset[str]) -> str:
    """Return *text* without its headings, which stand above the snippet, and lines as every session's note has them.

    One of those that holds a match stays, and so does everything where nothing else is left.
    """
    lines = [
        line
        for line in text.split("\n")
        if not line.startswith("#") and (not _boilerplate().match(line) or any(term_spans(line.split("**")[-1], terms)))
    ]
    return "\n".join(_key_points().sub("", line) for line in lines) if any(line.strip() for line in lines) else text


@cache
def _boilerplate() -> re.Pattern[str]:
    """Return what the lines of the head of a session's note match, in any language, and the rule below it."""
    names = "|".join(re.escape(name) for key in _HEAD for name in all_labels("session")[key])
    return re.compile(rf"- \*\*(?:{names})\*\*[:：]|-{{3,}}\s*$")


@cache
def _key_points() -> re.Pattern[str]:
    names = "|".join(map(re.escape, all_labels("session")["key_points"]))
    return re.compile(rf"^\d+\. \*\*(?:{names})\*\*[:：]\s*$")


def _word_start(line: str, start: int) -> int:
    """Return where the word that is cut at *start* is over, if it is a short one."""
    space = line.find(" ", start - 1, start + _LONGEST_CUT) if start else -1
    return space + 1 if space >= 0 else start


def _densest(spans: list[tuple[int, int]], width: int, length: int) -> int:
    """Return where the window that holds most matches begins, a little before the first of them."""
    if length <= width or not spans:
        return 0
    best, most, last = spans[0][0], 0, 0
    for first, (start, _) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= start + width:
            last += 1
        if last - first > most:
            best, most = start, last - first
    return max(0, min(best - width // 6, length - width))
