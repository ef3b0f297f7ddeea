"""Merging: what two people made of the same lines, put together. All pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


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
