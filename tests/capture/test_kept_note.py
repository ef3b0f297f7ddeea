from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memtool.capture.source import KeptNote, Source, fields_of, kept_note, read_source, turn_of, write_source
from memtool.capture.turns import Turn
from memtool.vault.layout import Vault
from memtool.vault.sessions import Draft, Line

LINES = (Line("订单使用 ULID", "decision", "user", 2), Line("The retry sent no key.", asked="Why twice?", turn=1))
NOTE = KeptNote("claude", Draft("Refunds are idempotent, 退款幂等", "Why?", "", LINES, ("a.ts",), 3), "# 退款\n", 70)


def test_a_note_is_kept_with_the_turns_of_its_lines(vault: Vault) -> None:
    turns = (Turn("为什么重复扣款?"), Turn("Use ULIDs"))
    write_source(vault, Source("one", turns=turns, note=fields_of(NOTE)), datetime(2026, 2, 10, tzinfo=UTC))
    source = read_source(vault, "one")
    assert source
    assert kept_note(source.note) == NOTE
    assert [turn_of(source, line.text) for line in LINES] == [2, 1]
    assert turn_of(source, "Use ULIDs everywhere") == 2
    assert turn_of(source, "企鹅 and penguins") == 0


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({}, ""),
        ({"writer": 7}, ""),
        ({"draft": []}, ""),
        ({"draft": {"title": "标题", "lines": "all"}}, ""),
        ({"draft": {"title": "标题", "lines": [1, {"turn": 2}, {"text": "x", "turn": -1}]}}, ""),
        ({"draft": {"title": "标题", "files": [1]}}, ""),
        ({"draft": {"title": "标题"}, "of a later version": 1}, "标题"),
    ],
)
def test_what_a_stranger_wrote_is_taken_as_far_as_it_is_a_note(fields: dict[str, object], title: str) -> None:
    note = kept_note(fields)
    assert (note.draft.title, note.draft.lines, note.writer) == (title, (), "")
