from __future__ import annotations

import pytest

from memtool.vault.numbers import counted


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [(1, ("file",), "1 file"), (0, ("file",), "0 files"), (2_000, ("try", "tries"), "2,000 tries"),
     (1, ("try", "tries"), "1 try")],
)  # fmt: skip
def test_one_is_one_and_everything_else_is_many(number: int, words: tuple[str, ...], expected: str) -> None:
    assert counted(number, *words) == expected
