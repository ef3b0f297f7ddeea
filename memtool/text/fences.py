"""Fenced code in Markdown: with what marks a line opens a block, and which lines belong to one.

A fence is closed by as many of its own marks, or more, and by nothing else on the line (CommonMark 0.31, section 4.5).
It may stand in a list item, at any depth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

_OPENING = r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:(`{3,})[^`]*$|(~{3,}))"  # a line of code in backticks is no fence


def opening(line: str) -> str:
    """Return the marks with which *line* opens a block of code, such as three backticks; empty if it opens none."""
    match = re.match(_OPENING, line) if "```" in line or "~~~" in line else None
    return (match[1] or match[2]) if match else ""


def closes(line: str, marks: str) -> bool:
    """Return whether *line* closes the block of code that *marks* opened."""
    text = line.strip().lstrip("> ")
    return text.startswith(marks) and not text.strip(marks[0])


def in_code(lines: Iterable[str]) -> Iterator[bool]:
    """Give for each of *lines* whether it belongs to fenced code; its fences do. One that is not closed has no end."""
    marks = ""
    for line in lines:
        if marks:
            yield True
            marks = "" if closes(line, marks) else marks
        else:
            marks = opening(line)
            yield bool(marks)


def without_code(text: str) -> str:
    """Return *text* without its lines of fenced code."""
    return with_code_cut(text, lambda _: [])


def with_code_cut(text: str, cut: Callable[[list[str]], list[str]]) -> str:
    """Return *text* with the lines of each fenced code, its fences included, as *cut* returns them."""
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    parts = groupby(zip(in_code(lines), lines, strict=True), key=lambda pair: pair[0])
    chosen = ((is_code, [line for _, line in pairs]) for is_code, pairs in parts)
    return "\n".join(line for is_code, part in chosen for line in (cut(part) if is_code else part))
