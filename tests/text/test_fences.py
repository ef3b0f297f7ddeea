from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.routing.loader_table import hand_rows
from memtool.text.fences import closes, in_code, opening
from memtool.vault.daily import DailyEntry, add_entries
from memtool.vault.note import first_heading
from memtool.vault.todos import find_todos

BLOCKS = [
    "~~~\n```\n# 代码\n| a | b.md |\n~~~",
    "```\n~~~\n# code\n```",
    "````md\n```\n# code\n```\n````",
    "```sh\n# code\n``` # no end\n```",
    "- ```\n  # code\n  ```",
    "> ~~~\n> # code\n> ~~~",
]


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        ("```", "```"),
        ("  ````python", "````"),
        ("~~~ `x`", "~~~"),
        ("1. ```js", "```"),
        ("```code``` in a line", ""),
        ("``", ""),
        ("文字 ```", ""),
    ],
)
def test_a_line_opens_a_block_with_its_marks(line: str, marks: str) -> None:
    assert opening(line) == marks


def test_a_block_is_closed_by_its_own_marks() -> None:
    assert all(closes(line, "```") for line in ("```", "  `````  ", "> ```"))
    assert not any(closes(line, "```") for line in ("``", "```sh", "~~~", "文字 ```"))


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_ends_where_it_ends(block: str) -> None:
    lines = f"before\n{block}\n之后".split("\n")
    assert list(in_code(lines)) == [False, *([True] * (len(lines) - 2)), False]


@given(st.lists(st.sampled_from(["```", "~~~", "````", "text", "- ```x", "文字", ""])))
def test_every_line_is_told(lines: list[str]) -> None:
    assert len(list(in_code(lines))) == len(lines)


@pytest.mark.parametrize("block", BLOCKS)
def test_all_readers_of_notes_agree(block: str) -> None:
    assert first_heading(f"{block}\n\n# 标题 title\n") == "标题 title"
    assert [todo.text for todo in find_todos(f"# Open\n\n{block}\n\n- [ ] 修复 it\n")] == ["修复 it"]
    daily = add_entries(f"# Daily\n\n{block}\n\n## Mine 我的\n\nwords\n", [DailyEntry("10:00", "shop", ("a.py",))])
    assert daily.index("`a.py`") < daily.index("## Mine 我的")
    table = f"{block}\n\n| Trigger | File |\n| --- | --- |\n| 支付 | [pay](../pay.md) |\n"
    assert [row.line for row in hand_rows(table)] == [table.count("\n")]
