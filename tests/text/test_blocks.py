from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.text.blocks import blocks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- tea\n- 咖啡\n  with milk\n1. cake", [(0, 0), (1, 2), (3, 3)]),
        ("one paragraph\nof two lines\n\n另一段", [(0, 1), (3, 3)]),
        ("# Heading\ntext\n---\nmore", [(1, 1), (3, 3)]),
        ("#auth is a tag", [(0, 0)]),
        ("| a | b |\n| --- | :-: |\n| 1 | 2 |\nbelow", [(0, 0), (2, 2), (3, 3)]),
        ("```\ncode\n```\nsaid", [(1, 1), (3, 3)]),
        ("", []),
    ],
)
def test_items_rows_and_paragraphs_are_told_apart(text: str, expected: list[tuple[int, int]]) -> None:
    assert list(blocks(text.split("\n"))) == expected


@given(st.lists(st.text(alphabet="-*1.| #`茶a ", max_size=8), max_size=12))
def test_blocks_follow_each_other_and_hold_no_empty_line(lines: list[str]) -> None:
    found = list(blocks(lines))
    places = [at for first, last in found for at in range(first, last + 1)]
    assert places == sorted(set(places))
    assert all(lines[at].strip() for at in places)
