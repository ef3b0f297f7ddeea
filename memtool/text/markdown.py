"""Markdown: which lines are code, which belong together, and links that nothing breaks out of. Pure.

A fence is closed by as many of its own marks, or more, and by nothing else on the line (CommonMark 0.31, section 4.5).
It may be in a list item, at any depth.

Patterns are texts: `re` compiles them when they are first used, and a hook that needs none of them pays for none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from memtool.text.lines import one_line

LINK_TEXT = r"(?:\\.|[^\\\[\]\r\n])*"

_OPENING = r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:(`{3,})[^`]*$|(~{3,}))"  # a line of code in backticks is no fence
_ITEM = r"\s*(?:[-*+]|\d{1,9}[.)])\s+"  # the mark of a list item
# An empty line, a heading, a fence, a rule, and the rule below the head of a table.
_APART = r"\s*$|#{1,6}\s|```|~~~|[-=*_]{3,}\s*$|\|[ :|-]*-[ :|-]*$"
_HEADING = r"#{1,6}[ \t]+"
_MARKUP = r"[\\`*\[\]<]|__"  # means something to Markdown in the text of a link
_NOT_IN_TARGET = r"""[\s()<>\[\]{}%"\\#?|^`]"""


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


def blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Give the first and the last line of each list item, row and paragraph, counted from 0, in order."""
    first = -1
    for at, line in enumerate([*lines, ""]):
        is_apart, is_row = re.match(_APART, line) is not None, line.startswith("|")
        if first >= 0 and (is_apart or is_row or re.match(_ITEM, line)):
            yield first, at - 1
            first = -1
        if is_row and not is_apart:
            yield at, at
        elif not is_apart and first < 0:
            first = at


def without_mark(line: str) -> str:
    """Return *line* without the mark of the list item that it begins, if it begins one."""
    return re.sub(rf"\A{_ITEM}", "", line, count=1)


def heading_text(line: str) -> str:
    """Return the text of a Markdown heading, or an empty string for any other line."""
    match = re.match(_HEADING, line) if line.startswith("#") else None
    if not match:
        return ""
    text = line[match.end() :].rstrip()
    unclosed = text.rstrip("#")  # `## Title ##` is closed, `# C#` is not
    return text if unclosed[-1:].strip() else unclosed.rstrip()


def headings(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Give the position and the text of each heading among *lines*; a `# comment` in fenced code is none."""
    for at, (line, is_code) in enumerate(zip(lines, in_code(lines), strict=True)):
        if not is_code and (text := heading_text(line)):
            yield at, text


def first_heading(body: str) -> str:
    """Return the first heading of *body*, or an empty string."""
    return next((text for _, text in headings(body.split("\n"))), "")


def link(text: str, target: str) -> str:
    """Return a Markdown link that neither *text* nor the relative path *target* can break out of."""
    shown = re.sub(_MARKUP, lambda match: "".join(f"\\{character}" for character in match[0]), one_line(text))
    path = re.sub(_NOT_IN_TARGET, lambda match: f"%{ord(match[0]):02X}", one_line(target))
    return f"[{shown}]({path})"


def find_links(text: str) -> list[tuple[str, str]]:
    """Return the text and the target of each Markdown link in *text*, as `link` was given them."""
    if "](" not in text:  # most paragraphs hold none, and a search looks at hundreds of them
        return []
    found = re.findall(rf"\[({LINK_TEXT})\]\(([^()\s]+)\)", text)
    return [
        (unescape(shown), re.sub(r"%([2-7][0-9A-F])", lambda match: chr(int(match[1], 16)), target))
        for shown, target in found
    ]


def unescape(text: str) -> str:
    """Return the text of a link as it reads."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)
