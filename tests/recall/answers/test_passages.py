from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.statements import passages


def texts(text: str, kind: str = "note") -> list[str]:
    return [passage.text for passage in passages(text, kind)]


def test_what_hooks_write_into_a_daily_note_says_nothing() -> None:
    lines = "- 14:30 **shop**: `auth.ts`\n- 14:32: [login](../sessions/3f2a9c.md)\n"
    lines += "- 14:33 **shop**: 接着上次的来 (session 8d01b2)\n- 14:40 与客户通话：改用新密钥\n"
    assert texts(lines, "daily") == ["14:40 与客户通话：改用新密钥"]


def test_a_task_that_is_done_is_left_out() -> None:
    assert texts("- [x] rate limiting\n- [ ] 支付回调\n", "todo") == ["支付回调"]


def test_a_long_paragraph_is_cut_into_sentences() -> None:
    paragraph = "新密钥先发布。" * 20 + "旧密钥保留七天。" + " The rest is here. " * 10
    assert "旧密钥保留七天。" in texts(paragraph)
    assert "The rest is here." in texts(paragraph)


def test_rows_of_a_table_stand_for_themselves() -> None:
    assert texts("| name | value |\n| --- | --- |\n| max_connections | 200 |\n") == [
        "name | value",
        "max_connections | 200",
    ]


@given(st.text(alphabet="ab \n#-|*[x]`1.：。解密", max_size=400), st.sampled_from(["note", "daily", "todo"]))
def test_every_passage_is_one_line_and_is_where_it_says(text: str, kind: str) -> None:
    count = text.count("\n") + 1
    for passage in passages(text, kind):
        assert passage.text.strip()
        assert "\n" not in passage.text
        assert 0 <= passage.first <= passage.last < count


@pytest.mark.parametrize(
    "text",
    [
        "All tests pass", "All 14 tests pass.", "tests are green", "Committed as 3f2a9c.", "Done.", "pushed to main",
        "单元测试全部通过", "所有测试都通过了", "已提交", "テストはすべて通りました", "auth.ts, middleware/jwt.ts",
        "`a.py`, `b/c.py`, and 3 more", "How long do tokens live?", "令牌能用多久？",
    ],
)  # fmt: skip
def test_questions_statuses_and_lists_of_files_are_never_given(text: str) -> None:
    assert texts(f"- {text}\n", "daily") == []


@pytest.mark.parametrize(
    "text",
    [
        "all tests of the database must pass against PostgreSQL in a container, because SQLite has no locks",
        "tests need `docker compose up db` first",
        "committing needs a signed-off line", "see auth.ts: it holds the key",
        "测试之前要先启动容器", "the done button is green",
    ],
)  # fmt: skip
def test_a_statement_about_tests_commits_or_files_is_given(text: str) -> None:
    assert texts(f"- {text}\n", "daily") == [text]
