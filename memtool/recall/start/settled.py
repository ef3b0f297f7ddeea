"""What is said twice, or differently, when a session begins: once, and with both dates. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtool.recall.budget import BlockLine, Part
from memtool.text.similarity import is_said, words
from memtool.vault.authors import USER

_MOST_COMPARED = 200
_SAID = 0.85  # of the words of a line


class _Standing(NamedTuple):
    at: tuple[int, int]
    line: BlockLine


def settled(parts: Sequence[Part], most: int, said: Sequence[frozenset[str]] = ()) -> list[Part]:
    """Return *parts* with what several dated lines say only once, newest first, and at most *most* lines of each.

    Of two that contradict each other the weaker is marked, with the date of the other: the agent's word is weaker than
    the user's, else the older one. What the client reads by itself, *said*, is left out. Notes and sessions are left
    as they are.
    """
    standing = [
        _Standing((at, place), line)
        for at, part in enumerate(parts)
        for place, line in enumerate(part.lines)
        if _is_list(part) and line.said and not line.text.startswith("- `")  # commands
    ][:_MOST_COMPARED]
    gone, marked = _compared(standing) if len(standing) > 1 else (set(), {})
    if said:
        gone |= {
            (at, place)
            for at, part in enumerate(parts)
            if _is_list(part)
            for place, line in enumerate(part.lines)
            if is_said(words(line.said), said, _SAID)
        }
    result = []
    for at, part in enumerate(parts):
        lines = [marked.get((at, place), line) for place, line in enumerate(part.lines) if (at, place) not in gone]
        whole = part._replace(levels=(tuple(lines),)) if _is_list(part) else part
        if whole.lines:
            result.append(_with_most(whole, most))
    return result


def _compared(standing: list[_Standing]) -> tuple[set[tuple[int, int]], dict[tuple[int, int], BlockLine]]:
    """Return which lines are said by a stronger or newer one, and those that such a one contradicts, marked."""
    ordered = sorted(standing, key=lambda each: (each.line.author == USER, each.line.when), reverse=True)
    texts = [each.line.said for each in ordered]
    told = [words(text) for text in texts]
    gone: set[tuple[int, int]] = set()
    marked: dict[tuple[int, int], BlockLine] = {}
    for number, each in enumerate(ordered):
        for other in range(number):
            if ordered[other].at in gone or not _may_concern_the_same(told[number], told[other]):
                continue
            is_same, is_contradicted = _relation(texts[number], texts[other])
            if is_same:
                gone.add(each.at)
            elif is_contradicted and ordered[other].line.when:
                text = f"{each.line.text} [contradicted by what was said on {ordered[other].line.when[:10]}]"
                marked[each.at] = each.line._replace(text=text)
            if is_same or is_contradicted:
                break
    return gone, marked


def _may_concern_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) > 1 and 2 * len(one & other) >= min(len(one), len(other))


def _relation(text: str, other: str) -> tuple[bool, bool]:
    """Return whether *text* says the same as *other*, and whether it contradicts it."""
    from memtool.recall.remembering.near_duplicates import contradicts, is_same, statement  # takes long to import

    one, standing = statement(text), statement(other)
    return is_same(one, standing), contradicts(one, standing, in_one_place=True)


def _is_list(part: Part) -> bool:
    """Return whether each line of *part* stands for itself."""
    return not part.made_for and len(part.levels) == 1 and all(line.text.startswith("- ") for line in part.lines)


def _with_most(part: Part, most: int) -> Part:
    """Return *part* with at most *most* lines, and how many more there are, if each of its lines stands for itself."""
    if not _is_list(part) or len(part.lines) <= most:
        return part
    return part._replace(levels=(part.lines[:most],), left_out=part.left_out + len(part.lines) - most)
