from __future__ import annotations

import pytest

from memtool.vault.marks import holds_two_texts


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
