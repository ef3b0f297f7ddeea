"""What two people made of one text, put together: its lines, and its front matter field by field. All pure.

No line of a front matter ever comes between marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from memtool.text.frontmatter import FIELD, parse_fields, quoted, split_front_matter

ASIDE = "# the other text: "  # what the other side gave a field, as a comment below it

_Lines = tuple[str, ...]


class Clean(NamedTuple):
    """Lines on which there is no disagreement."""

    lines: tuple[str, ...]


class Conflict(NamedTuple):
    """Lines that both sides changed, each in its way: as they were in *base*, as they are in *ours* and *theirs*."""

    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


class _Hunk(NamedTuple):
    """`base[low:high]` becomes *lines*."""

    low: int
    high: int
    lines: tuple[str, ...]


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[Clean | Conflict]:
    """Return *base* with the changes of both sides, in order.

    Changes that lie side by side are independent; two insertions at the same place, or changes of the same line, are a
    conflict unless they are the same.
    """
    merged: list[Clean | Conflict] = []
    seen = 0
    for left, right in _grouped(_edits(base, ours), _edits(base, theirs)):
        low = min(edit.low for edit in (*left, *right))
        high = max(edit.high for edit in (*left, *right))
        mine, other = (_applied(base, low, high, edits) for edits in (left, right))
        merged.append(Clean(tuple(base[seen:low])))
        if left and right and mine != other:
            merged.append(Conflict(tuple(base[low:high]), mine, other))
        else:
            merged.append(Clean(mine if left else other))
        seen = high
    return [part for part in (*merged, Clean(tuple(base[seen:]))) if part != Clean(())]


def common_lines(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the lines that both sides have, in order: the base of two texts of which none is known."""
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    return [line for block in blocks for line in ours[block.a : block.a + block.size]]


def lines_of(text: str) -> list[str]:
    """Return the lines of *text*, each with its line end."""
    parts = text.split("\n")
    return [*(f"{part}\n" for part in parts[:-1]), *filter(None, parts[-1:])]


def _edits(base: Sequence[str], side: Sequence[str]) -> list[_Hunk]:
    start = 0
    while start < min(len(base), len(side)) and base[start] == side[start]:
        start += 1
    end = 0
    while end < min(len(base), len(side)) - start and base[-1 - end] == side[-1 - end]:
        end += 1
    before, after = base[start : len(base) - end], side[start : len(side) - end]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        _Hunk(start + low, start + high, tuple(after[low_there:high_there]))
        for kind, low, high, low_there, high_there in matcher.get_opcodes()
        if kind != "equal"
    ]


def _grouped(left: Sequence[_Hunk], right: Sequence[_Hunk]) -> Iterator[tuple[list[_Hunk], list[_Hunk]]]:
    """Give the edits of both sides, in order; those that meet come together."""
    waiting = sorted([*((edit, 0) for edit in left), *((edit, 1) for edit in right)])
    group: tuple[list[_Hunk], list[_Hunk]] = ([], [])
    for edit, side in waiting:
        if any(group) and not any(_meet(edit, other) for other in group[1 - side]):
            yield group
            group = ([], [])
        group[side].append(edit)
    if any(group):
        yield group


def _meet(one: _Hunk, other: _Hunk) -> bool:
    if one.low == one.high == other.low == other.high:
        return True
    return one.low < other.high and other.low < one.high


def _applied(base: Sequence[str], low: int, high: int, edits: Sequence[_Hunk]) -> tuple[str, ...]:
    """Return `base[low:high]` after *edits*."""
    lines: list[str] = []
    for edit in edits:
        lines += [*base[low : edit.low], *edit.lines]
        low = edit.high
    return (*lines, *base[low:high])


def split_fields(text: str) -> tuple[str, str]:
    """Return the lines of the front matter of *text* and the body below it, the empty lines above the body with it."""
    matter, first = split_front_matter(text)
    if not matter or parse_fields(matter) is None:  # none, or prose between two rules
        return "", text
    return f"{matter}\n", "\n".join(text.split("\n")[first - 1 :])


def merge_fields(base: str, ours: str, theirs: str) -> tuple[str, int]:
    """Return the lines of a front matter, and how many fields both sides have changed, each in its way.

    Of those, lists become the list of all items; of other values the lesser stands, and the others are comments below
    it. So the order in which machines meet makes no difference.
    """
    known, own, their = map(_fields, (base, ours, theirs))
    lines: list[str] = []
    conflicts = 0
    for key in {**own, **their}:
        merged, is_open = _merged(key, *(side.get(key, ()) for side in (known, own, their)))
        lines += merged
        conflicts += is_open
    return "".join(f"{line}\n" for line in lines), conflicts


def _fields(matter: str) -> dict[str, _Lines]:
    """Return the lines of each field, with the comments and empty lines below it; those above the first have no key."""
    fields: dict[str, _Lines] = {}
    key = ""
    for line in matter.split("\n")[:-1]:
        match = re.match(FIELD, line)
        key = match[1].strip() if match else key
        fields[key] = (*fields.get(key, ()), line)
    return fields


def _merged(key: str, before: _Lines, mine: _Lines, other: _Lines) -> tuple[Sequence[str], bool]:
    if other in (before, mine):
        return mine, False
    if mine == before:
        return other, False
    if not (mine and other):
        return mine or other, False  # one side has changed what the other took out
    sides = [_items(side) for side in (before, mine, other)]
    if sides[1] is not None and sides[2] is not None:
        items = union(*(side or () for side in sides))
        return [f"{key}: [{', '.join(map(quoted, items))}]"], False
    values = sorted(tuple(line for line in side if not line.startswith(ASIDE)) for side in (mine, other))
    kept = {line for side in (mine, other) for line in side if line.startswith(ASIDE)}
    if values[0] != values[1]:
        kept |= {f"{ASIDE}{line}" for line in values[1]}
    kept -= {f"{ASIDE}{line}" for line in values[0]}
    return [*values[0], *sorted(kept)], True


def _items(lines: _Lines) -> list[str] | None:
    """Return the items of a field that is a list of texts; None of any other."""
    fields = parse_fields("\n".join(lines))
    values = next(iter(fields.values()), None) if isinstance(fields, Mapping) else None
    return values if isinstance(values, list) and all(isinstance(item, str) for item in values) else None


def union(base: Iterable[str], ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """Return the items of both sides, each once, without those that one side took away."""
    known, own, their = list(base), list(ours), list(theirs)
    kept = [item for item in own if item in their or item not in known]
    return [*kept, *(item for item in their if item not in own and item not in known)]
