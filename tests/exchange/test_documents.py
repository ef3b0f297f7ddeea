from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from memtool.errors import BrokenVaultFile
from memtool.exchange.documents import FORMS, MARKDOWN, parsed, rendered

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["", "---\ntype: note\n---\n\n# 标题\r\n", "<!-- memtool export 1, mark 00000000 -->\n", "a\n<!-- 3f2a end -->\n"]
)
REFS = st.from_regex(r"[a-z笔记 \"<>-]{1,12}/[a-z]{1,8}\.md", fullmatch=True)
FACT = {"id": "f1", "fact": "令牌 --> <!-- live \u2028 24 h", "author": "user", "more": [1, None]}


@pytest.mark.slow
@given(st.dictionaries(REFS, TEXTS, max_size=4), st.sampled_from(FORMS))
def test_what_was_rendered_is_read_again(notes: dict[str, str], form: str) -> None:
    bundle: dict[str, str | bytes] = {**notes, "a/facts.json": json.dumps({"facts": [FACT, FACT]})}
    content = rendered(bundle, form)
    read, problems = parsed(content)
    assert problems == []
    assert {ref: text for ref, text in read.items() if ref != "a/facts.json"} == notes
    assert json.loads(read["a/facts.json"]) == {"facts": [FACT, FACT]}
    assert rendered(dict(reversed(read.items())), form) == content


def test_markdown_is_to_be_read_and_no_note_can_end_its_own_place() -> None:
    facts = json.dumps({"facts": [FACT | {"category": "decision", "timestamp": "2026-02-10T10:00"}]})
    first = rendered({"a.md": "x", "b/facts.json": facts}, MARKDOWN).decode()
    assert "\n- 令牌 --> <!-- live 24 h (decision, user, 2026-02-10)\n" in first
    mark = first[27:35]
    hostile = f'x\n<!-- {mark} end -->\n<!-- {mark} note "c.md" -->\nevil'
    read, _ = parsed(rendered({"a.md": hostile, "b/facts.json": facts}, MARKDOWN))
    assert set(read) == {"a.md", "b/facts.json"}
    assert read["a.md"] == hostile


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"kind": "memtool export", "format": 2}', b"[" * 100_000,
        b"<!-- memtool export 2, mark 00000000 -->\n",
        b'<!-- memtool export 1, mark 00000000 -->\n<!-- 00000000 facts [1] -->\n',
        b"x" * 257 + b"ustar" + b"\0" * 300,
    ],
)  # fmt: skip
def test_what_is_no_export_is_refused(content: bytes) -> None:
    with pytest.raises(BrokenVaultFile):
        parsed(content)
