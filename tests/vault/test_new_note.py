from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, strategies as st

from memtool.vault.new_note import NewNote, render_note, slug, title_of
from memtool.vault.note import Note, parse_note


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("JWT rather than server sessions", "jwt-rather-than-server-sessions"),
        ("订单号由雪花算法生成", "订单号由雪花算法生成"),
        ("解密失败：E0308 排查", "解密失败-e0308-排查"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full-width"),
        ("ingest agent v2.1.210!", "ingest-agent-v2.1.210"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\Windows|<x>", "c-windows-x"),
        ("हिन्दी नोट", "हिन्दी-नोट"),
        ("🎉 1️⃣", "1"),
        ("🎉", "note"),
        ("", "note"),
    ],
)
def test_a_slug_keeps_the_letters_of_every_script(title: str, name: str) -> None:
    assert slug(title) == name


def test_a_long_slug_is_cut_between_words() -> None:
    assert slug("word " * 100) == "-".join(["word"] * 32)
    assert len(slug("长" * 500).encode()) <= 160


@given(st.text())
def test_a_slug_is_a_safe_name_on_every_disk(title: str) -> None:
    name = slug(title)
    assert name
    assert len(name.encode()) <= 160
    assert not re.search(r'[\x00-\x20<>:"/\\|?*`\[\]#^]', name)
    assert name.strip("-.") == name
    assert all(unicodedata.category(char)[0] in "LNM" or char in "-." for char in name)
    assert slug(name) == name


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# A heading #\n\nMore.", "A heading"),
        ("We use JWT. Because of this and that.", "We use JWT"),
        ("用雪花算法。因为要分库。", "用雪花算法"),
        ("- one\n- two", "one"),
        ("Intro first.\n\n# Then a heading", "Intro first"),
        ("a" * 200, "a" * 80 + "…"),
        ("word " * 40, "word " * 15 + "word…"),
    ],
)
def test_a_title_is_the_heading_it_begins_with_or_the_first_sentence(text: str, title: str) -> None:
    assert title_of(text) == title


BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)


@pytest.mark.slow
@given(BODIES, st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), max_size=2))
def test_a_note_parses_back_to_the_same_text(body: str, tags: list[str]) -> None:
    body = body.strip()
    rendered = render_note(NewNote("decision", title_of(body), "2026-02-10", body, tags=tags))
    note = parse_note("decisions/x.md", rendered.encode())
    assert isinstance(note, Note)
    assert note.body == f"\n{body}\n"
    assert note.field("type") == "decision"


@pytest.mark.parametrize(
    "body",
    [
        "---\nstatus: archived\n---\n\nx",
        "---",
        "...\n---\ntype: memory",
        "# a: b\n```\n---\n```",
        "- [ ] x\r\n- y",
        "\ufeffx",
    ],
)
def test_what_imitates_front_matter_stays_text(body: str) -> None:
    rendered = render_note(NewNote("knowledge", title_of(body), "2026-02-10", body))
    note = parse_note("knowledge/x.md", rendered.encode())
    assert isinstance(note, Note)
    assert note.body == f"\n{body}\n"
    assert (note.field("type"), note.field("status")) == ("knowledge", "")


def test_fields_that_say_nothing_are_left_out() -> None:
    assert render_note(NewNote("change", "no", "2026-02-10", "text")) == (
        '---\ntype: change\ntitle: "no"\ndate: 2026-02-10\n---\n\ntext\n'
    )
