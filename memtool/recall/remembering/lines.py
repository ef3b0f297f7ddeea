"""One line of a note: found by what it says, and taken out of the note. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtool.recall.prompts.passages import passages
from memtool.recall.remembering.near_duplicates import letters
from memtool.vault.session_lines import lines_of
from memtool.vault.session_rows import ARROW

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+")
_APART = re.compile(r"\s*$|#{1,6}\s|(?:```|~~~)|[-=*_]{3,}\s*$|\|")
_LEAST = 6  # letters of what may be a part of a line; less would be a part of many


def find_line(text: str, said: str, near: int = 0) -> tuple[int, int] | None:
    """Return the first and the last of the lines on which the note *text* says *said*; None if it does not.

    Args:
        text: of the note.
        said: a list item, a paragraph, a line of it or a sentence; its end may be cut off.
        near: the line on which it stood, where it is said more than once.
    """
    wanted = letters(said)
    statements = ((line.number, line.number, line.text) for line in lines_of(text))  # each of a row
    found = [
        (letters(item) != wanted, abs(first - near), first, last)
        for first, last, item in (*_items(text), *statements)
        if letters(item) == wanted or (len(wanted) >= _LEAST and wanted in letters(item))
    ]
    return min(found)[2:] if wanted and found else None


def without_line(text: str, said: str, near: int = 0) -> str:
    """Return the note *text* without the item or paragraph that says *said*; of a long one, without that sentence."""
    place = find_line(text, said, near)
    if place is None:
        return text
    first, last = place
    lines = text.split("\n")
    item = "\n".join(lines[first - 1 : last])
    sentences = [each.text for each in passages(item, "")]
    if len(sentences) > 1 and letters(said) in map(letters, sentences):
        pattern = r"\s+".join(map(re.escape, said.split()))
        lines[first - 1 : last] = re.sub(rf"{pattern}[ \t]*", "", item, count=1).rstrip().split("\n")
    else:
        del lines[first - 1 : last]
    return "\n".join(lines)


def _items(text: str) -> Iterator[tuple[int, int, str]]:
    """Give the first and last line of each item, row, paragraph and session's title of *text*, and what it says."""
    lines = text.split("\n")
    first = 0
    for number, line in enumerate([*lines, ""], 1):
        is_apart = bool(_APART.match(line))
        if first and (is_apart or _ITEM.match(line)):
            yield first, number - 1, _ITEM.sub("", "\n".join(lines[first - 1 : number - 1]), count=1)
            first = 0
        if line.startswith("|") or (line.startswith("# ") and ARROW in line):  # of a session: what it came to
            yield number, number, line
        elif not is_apart and not first:
            first = number
