"""Options by their labels, whatever they are called, and the one that a prompt takes."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, strategies as st

from memtool.capture.choices import offered, taken

THREE = """There are three ways:

1. **Cache the key**: keep it for 12 hours
2. **Change the resolver**: a change of `/etc/resolv.conf`
3. Answer first, work later

Which one would you like?"""
LETTERS = """两种做法：

- Plan A: 列改成 VARCHAR(255)
- Plan B: 再发一个 silent push"""
INLINE = "方案一：缓存公钥。方案二：换 DNS。"


@pytest.mark.parametrize(
    ("said", "labels"),
    [(THREE, "123"), (LETTERS, "AB"), (INLINE, "12"), ("Two: 1. a trigger 2. a job", "12"), ("1. one", ""), ("", "")],
)
def test_options_are_found_by_their_labels(said: str, labels: str) -> None:
    assert "".join(offered(said)) == labels


def test_the_last_list_of_a_message_counts() -> None:
    assert offered(f"1. one\n2. two\n\n{THREE}")["1"].startswith("Cache the key")


@pytest.mark.parametrize(
    "typed", ["2", "2.", "option 2", "Option 2, but for a week", "yes, let's go with 2", "选 2", "2吧"]
)
def test_an_option_is_taken(typed: str) -> None:
    assert list(taken(typed, THREE)) == ["2"]


def test_several_options_are_taken() -> None:
    assert list(taken("1, and 3 please", THREE)) == ["1", "3"]
    assert list(taken("就用方案二吧。", INLINE)) == ["2"]


@pytest.mark.parametrize(
    "typed", ["2 seconds are enough", "why 2?", "4", "make it 200", "v2.1", "CLAUDE.md", "删掉2行", ""]
)
def test_other_numbers_take_none(typed: str) -> None:
    assert taken(typed, THREE) == {}


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert set(taken(text, text)) <= set(offered(text))


def test_a_long_message_takes_no_time() -> None:
    begun = process_time()
    offered("a " * 20_000 + "1 " * 20_000 + "一" * 20_000)
    assert process_time() - begun < 5
