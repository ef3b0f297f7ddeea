from __future__ import annotations

import pytest
from hypothesis import assume, given, strategies as st

from memtool.recall.routing.loader_table import TableRow, hand_rows, with_rows
from memtool.resources import shipped

SHOP = TableRow(("checkout", "支付", "src/pay/**"), ("areas/projects/shop/summary.md", "areas/projects/shop/rules.md"))
TIDE = TableRow(("解密", "a, b", "x|y", "`tick`", "end\\"), ("areas/projects/潮 汐/summary.md",))
TEMPLATE = (shipped("vault_template") / "rules" / "memory-loader.md").read_text()

LINES = st.sampled_from([
    "| 手写 | areas/a.md |", "| a \\| b | areas/b.md |", "# Heading", "", "```", "| Trigger | Read |", "| --- | --- |",
    "<!-- memtool end -->", "<!-- memtool begin 00000000: x -->", "<!-- memtool begin zz -->", "prose | with a bar",
])  # fmt: skip
HAND = st.lists(LINES, max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)
TEXTS = st.text(alphabet="ab 支|`\\,，<>#-*\u2028", min_size=1, max_size=12)
ITEMS = TEXTS.map(lambda text: " ".join(text.split())).filter(bool)
ROWS = st.lists(
    st.builds(
        TableRow,
        st.lists(ITEMS, min_size=1, max_size=3).map(tuple),
        st.just(("areas/a b.md", "areas/支.md")),
        st.just(0),
    ),
    max_size=3,
)


def generated(text: str) -> list[TableRow]:
    """The rows of the generated part, as if somebody had written them."""
    return [row._replace(line=0) for row in hand_rows(text.replace("memtool begin", "memtool no"))]


def test_the_template_has_no_rows_and_gets_a_second_table() -> None:
    assert hand_rows(TEMPLATE) == []
    text = with_rows(TEMPLATE, [SHOP, TIDE])
    assert text.startswith(TEMPLATE)
    assert "| checkout, 支付, `src/pay/**` | areas/projects/shop/summary.md, areas/projects/shop/rules.md |\n" in text
    assert hand_rows(text) == []
    assert generated(text) == [SHOP, TIDE]


def test_rows_are_read_as_people_write_them() -> None:
    text = (
        "| 触发词 | 阅读 |\n|:--|--:|\n| checkout，结账、支付 | `areas/a b.md` |\n"
        "|x|[page](../areas/b.md), ./areas/c.md|\n```\n| no | row |\n```\n"
        "| `a, b` \\| c | areas/d.md\n|  | areas/e.md |\n| f |\n"
    )
    assert hand_rows(text) == [
        TableRow(("checkout", "结账", "支付"), ("areas/a b.md",), 3),
        TableRow(("x",), ("areas/b.md", "areas/c.md"), 4),
        TableRow(("a, b | c",), ("areas/d.md",), 8),
        TableRow((), ("areas/e.md",), 9),
        TableRow(("f",), (), 10),
    ]


def test_the_generated_part_is_written_anew_where_it_stands() -> None:
    before, after = "# Mine\n| a | areas/a.md |\n\n", "\ntext below\n| b | areas/b.md |"
    text = with_rows(before, [SHOP]) + after
    changed = with_rows(text, [TIDE])
    assert changed.startswith(before)
    assert changed.endswith(after)
    assert "checkout" not in changed
    assert [row.triggers for row in hand_rows(changed)] == [("a",), ("b",)]
    assert with_rows(with_rows(text, []), [SHOP]) == text


def test_what_somebody_wrote_into_the_generated_part_moves_out_of_it() -> None:
    text = with_rows("", [SHOP, TIDE]).replace("| checkout", "| mine | areas/mine.md |\nnote to myself\n| checkout")
    changed = with_rows(text, [SHOP])
    assert changed.startswith("| mine | areas/mine.md |\nnote to myself\n")
    assert with_rows(changed, [SHOP]) == changed
    assert ("mine",) in [row.triggers for row in hand_rows(changed)]


def test_a_table_that_an_editor_has_aligned_is_still_ours() -> None:
    text = with_rows("", [SHOP]).replace("| Trigger | Read |", "| Trigger   | Read  |").replace(" --- ", " ------- ")
    assert with_rows(text.replace("| checkout", "|  checkout"), [SHOP]) == with_rows("", [SHOP])


def test_other_line_ends_do_not_make_it_somebody_elses() -> None:
    text = with_rows(TEMPLATE, [SHOP]).replace("\n", "\r\n")
    assert with_rows(text, [TIDE]) == with_rows(TEMPLATE, [TIDE]).replace("\n", "\r\n")


@pytest.mark.slow
@given(HAND, HAND, ROWS, ROWS)
def test_what_is_written_by_hand_survives_any_generation(
    before: str, after: str, rows: list[TableRow], others: list[TableRow]
) -> None:
    first = with_rows(before, [*rows, SHOP])
    # The text may have held a part of its own already; from then on the bytes around the parts are the owner's.
    text = first + "\n" + after
    owned = with_rows(text, [])
    assume(with_rows(owned, []) == owned)  # marks within marks come to light one after the other
    again = with_rows(with_rows(text, rows), others)
    assert with_rows(again, []) == owned
    assert hand_rows(again) == [
        row._replace(line=new.line) for row, new in zip(hand_rows(owned), hand_rows(again), strict=True)
    ]


@pytest.mark.slow
@given(HAND, ROWS)
def test_twice_is_once(text: str, rows: list[TableRow]) -> None:
    once = with_rows(text, rows)
    assert with_rows(once, rows) == once


@pytest.mark.slow
@given(HAND)
def test_a_text_without_marks_is_kept_to_the_byte(text: str) -> None:
    if "memtool begin" not in text:
        assert with_rows(text, [SHOP]).startswith(text)
        assert with_rows(text, []) == text


@pytest.mark.slow
@given(ROWS)
def test_rows_read_back_as_they_were(rows: list[TableRow]) -> None:
    assert generated(with_rows("", rows)) == rows


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["`" * 9_000, "`a``" * 2_000, "[" * 9_000, "[a](" * 2_000, "\\|" * 4_000, "-" * 9_000])
def test_a_hostile_row_takes_no_time(cell: str) -> None:
    assert len(hand_rows(f"| {cell} | {cell}\n" * 20)) <= 20
