from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from memtool.index.rows import chunk_note
from memtool.recall.routing.loader_table import hand_rows
from memtool.recall.start.session_start import reads_by_itself
from memtool.text.lines import one_line
from memtool.text.markdown import (
    blocks,
    closes,
    find_links,
    first_heading,
    in_code,
    link,
    opening,
    without_code,
    without_mark,
)
from memtool.text.statements import statements
from memtool.vault.daily import DailyEntry, add_entries
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


@pytest.mark.slow
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


@pytest.mark.parametrize("block", BLOCKS)
def test_what_is_chunked_compared_and_imported_knows_the_same_code(block: str, tmp_path: Path) -> None:
    text = f"# 标题\n\n{block}\n\nThe cookie is 解密失败.\n"
    assert all(block in chunk.text for chunk in chunk_note(text))
    assert {chunk.heading for chunk in chunk_note(text + "\n".join(["x" * 90] * 12))} == {"标题"}
    assert [statement.text for statement in statements(text)] == ["The cookie is 解密失败."]
    (tmp_path / "CLAUDE.md").write_text(text.replace("# code", "@b.md").replace("# 代码", "@b.md"), encoding="utf-8")
    assert not reads_by_itself(tmp_path / "b.md", tmp_path, tmp_path)


def test_text_without_its_code_keeps_every_other_line() -> None:
    assert without_code("前\n~~~\n```\n~~~\n后\n") == "前\n后\n"


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


@pytest.mark.parametrize(
    ("text", "target", "markdown"),
    [
        ("登录 a_b", "../sessions/x.md", "[登录 a_b](../sessions/x.md)"),
        ("a] [b](c) <d> `e` *f* \\", "x", r"[a\] \[b\](c) \<d> \`e\` \*f\* \\](x)"),
        ("__init__", "x", r"[\_\_init\_\_](x)"),
        ("two\nlines\x00", "a (b).md#c%20", "[two lines](a%20%28b%29.md%23c%2520)"),
    ],
)
def test_nothing_breaks_out_of_a_link(text: str, target: str, markdown: str) -> None:
    assert link(text, target) == markdown


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(), st.text(min_size=1).filter(one_line)), max_size=3))
def test_links_are_read_back(links: list[tuple[str, str]]) -> None:
    text = ", ".join(link(shown, target) for shown, target in links)
    assert find_links(text) == [(one_line(shown), one_line(target)) for shown, target in links]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("- tea", "tea"),
        ("  12) 咖啡", "咖啡"),
        ("* - tea", "- tea"),
        ("the pool - 20 connections", "the pool - 20 connections"),
        ("since version 3. 连接池", "since version 3. 连接池"),
    ],
)
def test_only_the_mark_at_the_beginning_goes(line: str, said: str) -> None:
    assert without_mark(line) == said
