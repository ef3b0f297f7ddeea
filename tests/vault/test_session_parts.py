from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.vault.old_sessions import KeyPoint, OldNote, render_session
from memtool.vault.session_parts import split_session

NOTE = render_session(
    OldNote(
        id="x",
        project="shop",
        updated="2026-02-10 14:30",
        topic="login",
        key_points=(KeyPoint("a"), KeyPoint("b")),
        files=("c.ts",),
    )
)


def joined(text: str) -> str:
    parts = split_session(text)
    return "\n".join(line for block in (*parts.matter, *parts.body) for line in block.lines)


def keys(text: str) -> list[str]:
    parts = split_session(text)
    return [block.key for block in (*parts.matter, *parts.body) if block.key]


def test_a_note_consists_of_fields_header_and_sections() -> None:
    fields = ["type", "date", "project", "checksum"]
    sections = ["section:key_points", "section:files"]
    assert keys(NOTE) == [*(f"matter:{name}" for name in fields), "title:", "header:updated", "rule", *sections]
    points = next(block for block in split_session(NOTE).body if block.key == "section:key_points")
    assert points.lines == ("1. **Key points**:", "   - a", "   - b")
    assert points.kind == "section"


@pytest.mark.parametrize(
    "own",
    ["# Session: again\n", "- **Project**: x\n", "---\n", "```\n9. **Done**: x\n```\n", "<!--\n9. **Done**: x\n-->\n",
     "9. **Mine**: x\n", "- **Time**: x\n", "~~~\n9. **Done**: x"],
)  # fmt: skip
def test_what_only_looks_like_a_part_is_none(own: str) -> None:
    assert keys(NOTE + own) == keys(NOTE)


def test_prose_between_two_rules_is_no_front_matter() -> None:
    assert split_session("---\nMy own words.\n---\n").matter == []


@given(st.text(st.sampled_from("-a:# \n\r*1.`<!>\t"), max_size=60), st.booleans())
def test_the_blocks_are_the_text(text: str, is_below: bool) -> None:
    whole = NOTE + text if is_below else text
    assert joined(whole) == whole
