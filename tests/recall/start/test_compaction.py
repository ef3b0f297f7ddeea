from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from notes import note_of

from memtool.recall.start.session_start import what_must_survive
from memtool.redaction import CONTEXT_TAG
from memtool.vault.sessions import SessionNote

NOTE = note_of(
    "3f2a9c",
    findings=("令牌有效期 24 小时",),
    decisions=("JWT",),
    open=("rate limiting",),
    files=("auth.ts", "中间件/jwt.ts"),
)


def test_decisions_open_items_findings_and_files_are_named() -> None:
    lines = [line for line in what_must_survive(NOTE).splitlines() if line.startswith("- ")]
    assert lines == [
        "- Decisions: JWT", "- Open: rate limiting", "- Constraints and findings: 令牌有效期 24 小时",
        "- Files: auth.ts, 中间件/jwt.ts",
    ]  # fmt: skip


def test_a_session_that_left_nothing_says_nothing() -> None:
    assert what_must_survive(SessionNote("3f2a9c")) == ""
    assert "- Rules: 以后都用 pnpm\n" in what_must_survive(note_of("x", rules=("以后都用 pnpm (user)",)))


@pytest.mark.slow
@given(st.lists(st.text(min_size=1), min_size=1, max_size=60))
def test_whatever_a_note_says_the_block_stays_short_and_whole(items: list[str]) -> None:
    said = what_must_survive(note_of("x", decisions=tuple(items), files=tuple(items)))
    assert len(said) < 3_000
    assert said.count(f"</{CONTEXT_TAG}>") <= 1
