from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.text.lines import one_line
from memtool.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("It works. The cache was stale.", ["It works.", "The cache was stale."]),
        (
            "Upgrade to v2.1.210 in auth.ts, e.g. with 3.5 s. Done",
            ["Upgrade to v2.1.210 in auth.ts, e.g. with 3.5 s.", "Done"],
        ),
        ("原因找到了！缓存没有失效。已修复；请重启", ["原因找到了！", "缓存没有失效。", "已修复；请重启"]),
        ("他说“可以。”然后走了", ["他说“可以。”", "然后走了"]),
        ("Use Redis (see docs.) Then restart.", ["Use Redis (see docs.)", "Then restart."]),
        ("Let's take option B. Tokens live 15 minutes.", ["Let's take option B.", "Tokens live 15 minutes."]),
        ("已修复，go test ./app/... 通过。再看", ["已修复，go test ./app/... 通过。", "再看"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


@pytest.mark.slow
@given(st.text(st.characters(), max_size=300).map(one_line))
def test_sentences_lose_nothing_but_spaces(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
