"""What stands in several parts is said once, by its newest or strongest line, and contradictions are marked. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtool.named_tuple import NamedTuple
from memtool.recall.budget import BlockLine, BlockPart
from memtool.text.similarity import is_said, words
from memtool.vault.authors import USER
from memtool.vault.session_rows import ARROW

SAME = 0.85  # of the words of a line: a line that has so many says the same
_MOST_COMPARED = 200


class _PlacedLine(NamedTuple):
    at: tuple[int, int]
    line: BlockLine
    is_open: bool


def settled(
    parts: Sequence[BlockPart], most: int, said: Sequence[frozenset[str]] = (), *, contradicted: str
) -> list[BlockPart]:
    """Return *parts* with what several dated lines say only once, newest first, and at most *most* lines of each.

    Of two that contradict each other the weaker is marked as *contradicted* at the `{date}` of the other: the agent's
    word is weaker than the user's, else the older one. What the client reads by itself, *said*, is left out. Notes and
    sessions are left as they are.
    """
    standing = [
        _PlacedLine((at, place), line, part.kind == "open")
        for at, part in enumerate(parts)
        for place, line in enumerate(part.lines)
        if _is_list(part) and line.said and not line.text.startswith("- `")  # commands
    ][:_MOST_COMPARED]
    gone, marked = _compared(standing, contradicted) if len(standing) > 1 else (set(), {})
    if said:
        gone |= {
            (at, place)
            for at, part in enumerate(parts)
            if _is_list(part)
            for place, line in enumerate(part.lines)
            if is_said(words(line.said), said, SAME)
        }
    result = []
    for at, part in enumerate(parts):
        lines = [marked.get((at, place), line) for place, line in enumerate(part.lines) if (at, place) not in gone]
        whole = part._replace(levels=(tuple(lines),)) if _is_list(part) else part
        if whole.lines:
            result.append(_with_most(whole, most))
    return result


def _compared(
    standing: list[_PlacedLine], contradicted: str
) -> tuple[set[tuple[int, int]], dict[tuple[int, int], BlockLine]]:
    """Return which lines are said by a stronger or newer one, and those that such a one contradicts, marked."""
    ordered = sorted(standing, key=lambda each: (each.line.author == USER, each.line.when), reverse=True)
    texts = [each.line.said for each in ordered]
    told = [words(text) for text in texts]
    gone: set[tuple[int, int]] = set()
    marked: dict[tuple[int, int], BlockLine] = {}
    for number, each in enumerate(ordered):
        for other in range(number):
            shared = len(told[number] & told[other])
            if ordered[other].at in gone or shared < max(2, min(len(told[number]), len(told[other])) / 2):
                continue
            is_same, is_contradicted = _relation(texts[number], texts[other])
            is_contradicted &= not (each.is_open or ordered[other].is_open)  # a task claims nothing
            if is_same:
                gone.add(each.at)
            elif is_contradicted and ordered[other].line.when:
                note = contradicted.replace("{date}", ordered[other].line.when[:10])
                marked[each.at] = each.line._replace(text=f"{each.line.text} [{note}]", note=note)
            if is_same or is_contradicted:
                break
    return gone, marked


def _relation(text: str, other: str) -> tuple[bool, bool]:
    """Return whether *text* says the same as *other*, and whether it contradicts it."""
    from memtool.recall.remembering.near_duplicates import contradicts, is_same, statement  # takes long to import

    one, standing = statement(text), statement(other)
    are_said = not (_is_unanswered(text) or _is_unanswered(other))  # what is only asked contradicts nothing
    return is_same(one, standing), are_said and contradicts(one, standing, in_one_place=True)


def _is_unanswered(text: str) -> bool:
    return ARROW not in text and re.search("[?？]", text) is not None


def _is_list(part: BlockPart) -> bool:
    """Return whether each line of *part* stands for itself."""
    return not part.made_for and len(part.levels) == 1 and all(line.text.startswith("- ") for line in part.lines)


def _with_most(part: BlockPart, most: int) -> BlockPart:
    """Return *part* with at most *most* lines, and how many more there are, if each of its lines stands for itself."""
    if not _is_list(part) or len(part.lines) <= most:
        return part
    return part._replace(levels=(part.lines[:most],), left_out=part.left_out + len(part.lines) - most)
