from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from notes import text_of

from memtool.vault.session_text import NoteBlock, items_in, split_session, with_items

NOTE = text_of("x", project="shop", updated="2026-02-10 14:30", title="login", findings=("a", "b"), files=("c.ts",))


def joined(text: str) -> str:
    parts = split_session(text)
    return "\n".join(line for block in (*parts.matter, *parts.body) for line in block.lines)


def keys(text: str) -> list[str]:
    parts = split_session(text)
    return [block.key for block in (*parts.matter, *parts.body) if block.key]


def test_a_note_consists_of_fields_title_and_sections() -> None:
    fields = ["type", "session", "date", "updated", "project", "checksum"]
    assert keys(NOTE) == [*(f"matter:{name}" for name in fields), "title", "section:findings", "files"]
    findings = next(block for block in split_session(NOTE).body if block.key == "section:findings")
    assert (findings.lines, findings.name) == (("## Findings", "- a", "- b"), "findings")


@pytest.mark.parametrize(
    "own",
    ["# again\n", "- **Project**: x\n", "---\n", "```\n## Done\n- x\n```\n", "<!--\n## Done\n-->\n", "## Mine\n- x\n",
     "## Findings\n- c\n", "~~~\n## 待办\n"],
)  # fmt: skip
def test_what_only_looks_like_a_part_is_none(own: str) -> None:
    assert keys(NOTE + own) == keys(NOTE)


def test_what_hangs_below_a_bullet_belongs_to_it_and_prose_stands_alone() -> None:
    lines = ("## Done", "- *登录*", "  - one,", "    wrapped", "  - two", "", "    code", "prose", "more", "- three")
    items = items_in(NoteBlock("section:done", lines))
    assert [(item.says, [below.says for below in item.below], item.is_bullet) for item in items] == [
        ("*登录*", ["one, wrapped", "two code"], True), ("prose more", [], False), ("three", [], True),
    ]  # fmt: skip
    assert with_items(NoteBlock("section:done", lines), items).lines == lines


def test_prose_between_two_rules_is_no_front_matter() -> None:
    assert split_session("---\nMy own words.\n---\n").matter == []


@given(st.text(st.sampled_from("-a:# \n\r*1.`<!>\t"), max_size=60), st.booleans())
def test_the_blocks_are_the_text(text: str, is_below: bool) -> None:
    whole = NOTE + text if is_below else text
    assert joined(whole) == whole
