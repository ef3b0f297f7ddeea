from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.index import limits
from memtool.index.search import snippet
from memtool.text.tokens import index_terms, query_terms

words = st.lists(
    st.sampled_from(["token", "解密失败", "café", "x", "\n", "getUserById", "的", "ｶﾞ", "a" * 300]), max_size=120
)


def marked(text: str, query: str, width: int = limits.SNIPPET) -> list[str]:
    line, marks = snippet(text, frozenset(query_terms(query)), width)
    return [line[start:end] for start, end in marks]


@pytest.mark.slow
@given(words.map(" ".join), st.sampled_from(["token", "解密", "cafe", "user", "ガ"]))
def test_marks_stand_in_order_inside_the_snippet_on_what_matches(text: str, query: str) -> None:
    line, marks = snippet(text, frozenset(query_terms(query)))

    assert "\n\n" not in line
    assert len(line) <= limits.SNIPPET + 4
    ends = [0, *(end for mark in marks for end in mark), len(line)]
    assert ends == sorted(ends)


@pytest.mark.slow
@given(words.map(" ".join), st.sampled_from(["token", "解密", "cafe", "user"]))
def test_what_matches_is_shown(text: str, query: str) -> None:
    terms = frozenset(query_terms(query))
    if terms & set(index_terms(text)):
        assert snippet(text, terms)[1]


def test_the_window_is_where_most_words_match() -> None:
    text = "token " + "filler " * 100 + "the refresh token and the access token" + " filler" * 100

    assert marked(text, "refresh access token") == ["refresh", "token", "access", "token"]


def test_a_text_is_cut_with_dots_on_both_sides() -> None:
    line, _ = snippet("a " * 200 + "token" + " b" * 200, frozenset({"token"}))

    assert line.startswith("… ")
    assert line.endswith(" …")


def test_the_headings_are_left_to_whoever_shows_them() -> None:
    assert snippet("# Title\ntext", frozenset())[0] == "text"
    assert snippet("# Title", frozenset())[0] == "# Title"
