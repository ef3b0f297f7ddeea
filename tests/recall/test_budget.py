from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from memtool.recall.budget import MOST_TOKENS, BlockLine, BlockPart, fit, render
from memtool.recall.limits import MOST_UNITS
from memtool.text.lines import tokens_in


def part(title: str, *levels: Sequence[str], share: float = 0.25) -> BlockPart:
    return BlockPart(
        title, f"{title}.md", "", share, tuple(tuple(BlockLine(text, title) for text in level) for level in levels)
    )


lines = st.lists(st.text(alphabet="ab 解密😀\U00020000é`", max_size=60), max_size=20)
parts = st.lists(
    st.builds(
        lambda title, levels, share: part(title, *levels, share=share),
        st.text("tx题", min_size=1, max_size=9),
        st.lists(lines, min_size=1, max_size=3),
        st.floats(0, 0.2),
    ),
    max_size=5,
)


@pytest.mark.slow
@given(parts, st.integers(-50, 4_000))
def test_what_fits_never_takes_more_than_the_budget(given_parts: list[BlockPart], budget: int) -> None:
    text = "".join(f"\n\n{render(chosen)}" for chosen in fit(given_parts, budget))
    assert tokens_in(text) <= max(0, budget)


@given(st.text())
def test_the_most_tokens_keep_below_the_most_units(text: str) -> None:
    assert len(text.encode("utf-16-le", "surrogatepass")) // 2 <= 4 * tokens_in(text)
    assert 4 * MOST_TOKENS <= MOST_UNITS


@pytest.mark.slow
@given(parts, st.integers(0, 4_000))
def test_the_order_is_that_of_importance(given_parts: list[BlockPart], budget: int) -> None:
    titles = [given_part.title for given_part in given_parts]
    waiting = iter(titles)
    assert all(chosen.title in waiting for chosen in fit(given_parts, budget))


def test_a_part_is_given_at_the_highest_level_that_fits() -> None:
    levels = part("a", ["x" * 400], ["x" * 200], ["x" * 40])
    for budget, size in ((150, 400), (80, 200), (40, 40)):
        assert [len(chosen.lines[0].text) for chosen in fit([levels], budget)] == [size]
    assert render(fit([levels], 40)[0]).startswith("## a (a.md, shortened)\n")


def test_the_last_level_is_cut_and_never_ends_in_a_heading() -> None:
    note = part("a", ["> # one", "> - first", "> ## two", "> - " + "x" * 400])
    assert [line.text for line in fit([note], 40)[0].lines] == ["> # one", "> - first"]
    assert fit([part("a", ["> # one", "x" * 400])], 40) == []


def test_the_least_important_parts_are_the_first_to_go() -> None:
    three = [part(name, ["x" * 80]) for name in "abc"]
    assert [[chosen.title for chosen in fit(three, budget)] for budget in (100, 60, 30, 10)] == [
        ["a", "b", "c"], ["a", "b"], ["a"], [],
    ]  # fmt: skip


def test_a_large_part_leaves_the_others_their_shares() -> None:
    chosen = fit([part("a", ["x" * 80] * 100), part("b", ["y" * 80] * 100)], 400)
    assert [len(found.lines) > 1 for found in chosen] == [True, True]
