"""The page with the account: a table of Markdown, written and read back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.processes import CLONE

PAGE = CLONE / "docs" / "account.md"
HEAD = """\
# What each weight and each word list wins

Made by `python -m benchmarks.account`, not by hand. Each number that decides something and each word list is taken away
in turn: a list is emptied; a number becomes 0, and then so large that it bounds nothing. Of the two the one that does
less harm counts, and the third column has what is lost then, in points. "Aside" are labelled sessions of two projects
that were left aside while the rules were made. What wins nothing here is to go, unless another measure shows a gain
that these sets do not. Plain limits (columns, bytes, seconds) are in the module `limits` of their room and have no row.

"""
_COLUMNS = ("name", "value", "what it wins", "measured on", "on")


class Row(NamedTuple):
    """What one number or list wins, on the measure of which part of the package, on which day."""

    name: str
    value: str
    wins: str
    measure: str
    day: str


def render(rows: Sequence[Row]) -> str:
    """Return the page."""
    lines = [_COLUMNS, ("---",) * len(_COLUMNS), *((f"`{row.name}`", f"`{row.value}`", *row[2:]) for row in rows)]
    return HEAD + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def parse_rows(page: str) -> dict[str, Row]:
    """Return the rows of *page* by name."""
    cells = ([cell.strip(" `") for cell in line.strip("|\n ").split(" | ")] for line in page.splitlines())
    rows = (Row(*each) for each in cells if len(each) == len(_COLUMNS) and "." in each[0])
    return {row.name: row for row in rows}
