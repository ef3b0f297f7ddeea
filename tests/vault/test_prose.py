from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.text.lines import one_line
from memtool.vault.prose import find_links, link


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
