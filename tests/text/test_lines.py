from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from memtool.text.lines import brief, counted, one_line, shortened, width

anything = st.text(st.characters(exclude_categories=()), max_size=400)
mixed = st.text(st.sampled_from("ab.,;:!? -_/…修复。！？；，、（e\u0301👩\u200d💻\ufe0f"), max_size=300)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("修复", 4), ("ａ", 2), ("コード", 6), ("한글", 4), ("é", 1), ("a修b", 4)],
)
def test_a_wide_character_takes_two_columns(text: str, columns: int) -> None:
    assert width(text) == columns


@given(anything | mixed, st.integers(2, 60))
def test_a_brief_text_fits_on_one_line_and_is_never_lost(text: str, limit: int) -> None:
    short = brief(text, limit)
    assert width(short) <= limit
    assert bool(short) == bool(one_line(text))
    assert brief("x" * 100, 5) == "xxxx…"
    assert brief("订单号\n用 ULID", 40) == "订单号 用 ULID"


@given(anything)
def test_one_line_is_one_clean_line(text: str) -> None:
    line = one_line(text)
    assert line == one_line(line)
    assert len(line.splitlines()) <= 1
    line.encode("utf-8")


def test_no_character_turns_a_line_around() -> None:
    assert one_line("user\u202e txt.exe\u2066 令牌\x1b[31m\x00\ud800") == "user txt.exe 令牌[31m"


@pytest.mark.slow
@given(st.one_of(anything, mixed).map(one_line), st.integers(2, 200))
def test_a_shortened_text_fits_and_is_a_beginning(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert width(short) <= limit
    if short != text:
        assert not short or (short.endswith("…") and text.startswith(short[:-1]))
    if short and short != text:
        following = text[len(short) - 1 :]
        assert not following or not unicodedata.combining(following[0])


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("a short text", 12, "a short text"),
        ("a short text", 11, "a short…"),
        ("The cache was never cleared, because the key had no prefix", 40, "The cache was never cleared…"),
        ("The configuration is loaded twice", 24, "The configuration is…"),
        ("see src/very/long/path/to/the/module.py", 20, "see…"),
        ("identifier_of_all_sorts", 10, ""),
        ("缓存没有失效，因为键没有前缀也没有版本号", 20, "缓存没有失效…"),
        ("修复getUserById的错误", 12, "修复…"),
        ("用户 authentication", 15, "用户…"),
        ("x" * 50, 20, ""),
        ("", 5, ""),
    ],
)
def test_a_text_is_cut_after_a_clause_or_a_word(text: str, limit: int, short: str) -> None:
    assert shortened(text, limit) == short


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [(1, ("file",), "1 file"), (0, ("file",), "0 files"), (2_000, ("try", "tries"), "2,000 tries"),
     (1, ("try", "tries"), "1 try")],
)  # fmt: skip
def test_one_is_one_and_everything_else_is_many(number: int, words: tuple[str, ...], expected: str) -> None:
    assert counted(number, *words) == expected
