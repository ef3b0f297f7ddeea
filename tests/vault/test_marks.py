from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from memtool.vault.marks import GENERATED as BEGIN, GENERATED_END as END, generated, holds_two_texts, with_generated


@pytest.mark.parametrize("first", ["<<<<<<< one text", "<<<<<<< HEAD", "<<<<<<< 本机\r"])
def test_a_conflict_of_memtool_or_of_git_is_seen(first: str) -> None:
    assert holds_two_texts(f"# 记忆\n{first}\n甲\n=======\n乙\n>>>>>>> the other text\n")


@pytest.mark.parametrize(
    "text",
    [
        "# 记忆\n=======\n",
        "git writes `<<<<<<< HEAD`, `=======` and `>>>>>>> main` around both texts\n",
        "<<<<<<< HEAD\nhalf of one was taken away\n",
        ">>>>>>> a\n=======\n<<<<<<< b\n",
    ],
)
def test_what_only_speaks_of_marks_is_no_conflict(text: str) -> None:
    assert not holds_two_texts(text)


TEXT = "# 商店\n\n手写的内容。\n"


def test_a_section_is_added_changed_and_removed() -> None:
    first = with_generated(TEXT, "- one")
    assert first == f"{TEXT}\n{BEGIN}\n- one\n{END}\n"
    more = first + "\nwritten below\n"
    second = with_generated(more, "- 二")
    assert (generated(second), second.endswith("\nwritten below\n"), second.startswith(TEXT)) == ("- 二", True, True)
    assert with_generated(first, "") == TEXT
    assert with_generated(TEXT, "") == TEXT


def test_a_torn_section_stays_as_it_is() -> None:
    torn = f"{TEXT}{BEGIN}\n- one\n"
    assert with_generated(torn, "- two") == torn
    turned = f"{TEXT}{END}\n- one\n{BEGIN}\n"
    assert with_generated(turned, "- two") == with_generated(turned, "") == turned


def test_a_fact_that_quotes_the_comments_does_not_tear_the_section() -> None:
    first = with_generated(TEXT, f"- 用 {END} 结束\n- {BEGIN}")
    assert with_generated(first, "- two") == with_generated(TEXT, "- two")


@pytest.mark.slow
@example("\r", "-")
@given(st.text().filter(lambda text: "memtool:" not in text), st.text(alphabet="ab-\n ").filter(str.strip))
def test_twice_is_once(text: str, body: str) -> None:
    once = with_generated(text, body)
    assert with_generated(once, body) == once
    assert text.rstrip("\r\n") in once
