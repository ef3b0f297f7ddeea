from __future__ import annotations

from hypothesis import given, strategies as st

from memtool.text.merging import Clean, Conflict, merge_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "红\n", "绿\n", "\n"]), max_size=8)


def merged(base: str, ours: str, theirs: str) -> list[str]:
    parts = merge_lines(base.split(), ours.split(), theirs.split())
    return [" ".join(part.lines) if isinstance(part, Clean) else f"{part.ours}|{part.theirs}" for part in parts]


def test_changes_in_different_places_are_both_made() -> None:
    assert " ".join(merged("1 2 3 4 5", "1 zwei 3 4 5", "1 2 3 4")) == "1 zwei 3 4"


def test_two_insertions_at_one_place_and_two_changes_of_one_line_are_conflicts() -> None:
    assert merged("1 2", "1 a 2", "1 b 2") == ["1", "('a',)|('b',)", "2"]
    assert merge_lines(["旧"], ["新"], ["新的"]) == [Conflict(("旧",), ("新",), ("新的",))]


def test_the_same_change_on_both_sides_is_made_once() -> None:
    assert merged("1 2 3", "1 x 3", "1 x 3") == ["1", "x", "3"]


@given(LINES, LINES)
def test_what_one_side_left_alone_is_as_the_other_has_it(base: list[str], side: list[str]) -> None:
    for parts in (merge_lines(base, side, base), merge_lines(base, base, side), merge_lines(base, side, side)):
        assert all(isinstance(part, Clean) for part in parts)
        assert [line for part in parts if isinstance(part, Clean) for line in part.lines] == side


@given(LINES, LINES, LINES)
def test_no_line_that_a_side_added_is_lost(base: list[str], ours: list[str], theirs: list[str]) -> None:
    said = [
        line
        for part in merge_lines(base, ours, theirs)
        for line in (part.lines if isinstance(part, Clean) else (*part.ours, *part.theirs))
    ]
    assert {line for line in (*ours, *theirs) if line not in base} <= set(said)
