"""Blocks of Markdown: list items, rows of tables and paragraphs, each as the lines that it stands on. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")  # the mark of a list item
# An empty line, a heading, a fence, a rule, and the rule below the head of a table.
_APART = re.compile(r"\s*$|#{1,6}\s|```|~~~|[-=*_]{3,}\s*$|\|[ :|-]*-[ :|-]*$")


def blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Give the first and the last line of each list item, row and paragraph, counted from 0, in order."""
    first = -1
    for at, line in enumerate([*lines, ""]):
        is_apart, is_row = _APART.match(line) is not None, line.startswith("|")
        if first >= 0 and (is_apart or is_row or ITEM.match(line)):
            yield first, at - 1
            first = -1
        if is_row and not is_apart:
            yield at, at
        elif not is_apart and first < 0:
            first = at
