from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given, strategies as st

from memtool.errors import BrokenVaultFile
from memtool.text.frontmatter import DEEPEST, LONGEST_FRONT_MATTER, set_field, split_front_matter
from memtool.text.markdown import first_heading, heading_text
from memtool.vault.memory import NewMemory
from memtool.vault.note import (
    BrokenNote,
    Note,
    first_sentence,
    overview,
    parse_note,
    render_note,
    slug,
    title_of,
)


def note(text: str, ref: str = "notes/a.md") -> Note:
    """The note in *text*, which is in order."""
    parsed = parse_note(ref, text.encode("utf-8"))
    assert isinstance(parsed, Note)
    return parsed


def broken(content: str | bytes) -> BrokenNote:
    parsed = parse_note("a.md", content.encode("utf-8") if isinstance(content, str) else content)
    assert isinstance(parsed, BrokenNote)
    return parsed


def fields(matter: str) -> dict[str, Any]:
    return dict(note(f"---\n{matter}\n---\nbody\n").fields)


def test_a_note_has_fields_and_a_body() -> None:
    text = "---\ntype: decision\ntags: [auth, jwt]\n---\n\n# JWT\n\nBecause.\n"
    parsed = note(text)
    assert parsed.fields == {"type": "decision", "tags": ["auth", "jwt"]}
    assert (parsed.body, parsed.body_line, parsed.text) == ("\n# JWT\n\nBecause.\n", 5, text)


def test_every_scalar_is_the_text_its_owner_wrote() -> None:
    matter = "a: 01234\nb: no\nc: 2026-02-10\nd: 1e3\ne: ~\nf:\ng: 'x'\nh: \"\\u89e3\"\ni: 0x1F\n好: 是"
    assert fields(matter) == {
        "a": "01234", "b": "no", "c": "2026-02-10", "d": "1e3", "e": "~", "f": "", "g": "x", "h": "解", "i": "0x1F",
        "好": "是",
    }  # fmt: skip


def test_values_of_several_lines_nested_ones_and_unknown_fields_are_kept() -> None:
    matter = "summary: |\n  one\n\n  two\nsources:\n- a\n- b: {c: [d]}\n# a comment\nzettel: 42\n"
    assert fields(matter) == {"summary": "one\n\ntwo\n", "sources": ["a", {"b": {"c": ["d"]}}], "zettel": "42"}


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    parsed = note("\ufeff---\r\ntitle: T\r\ntags:\r\n  - a\r\n---\r\n# H\r\n\r\nText. More.\r\n")
    assert parsed.fields == {"title": "T", "tags": ["a"]}
    assert (parsed.body_line, parsed.summary) == (6, "Text.")


@pytest.mark.parametrize(
    "text", ["---\ntitle: T\n", "---", "---\n", "----\na: b\n----\n", " ---\na: b\n---\n", "--- a\n---\n"]
)
def test_front_matter_that_does_not_begin_or_end_is_text(text: str) -> None:
    assert note(text) == Note("notes/a.md", text)


@pytest.mark.parametrize("between", ["Prose between two rules.\n", "- a\n- b", "中文段落", "42"])
def test_prose_between_two_rules_is_not_front_matter(between: str) -> None:
    text = f"---\n{between}\n---\nmore"
    assert (note(text).fields, note(text).body) == ({}, text)


@pytest.mark.parametrize(
    ("matter", "known"),
    [
        ("a: b\nc: [d", {"a": "b", "c": "[d"}),
        ("title: a: b", {"title": "a: b"}),
        ("\ttitle: x\ntitle: 标题", {"title": "标题"}),
        ("title: \x07", {"title": "\x07"}),
        ("title: {{title}}\ntags: [日记, 'b']", {"title": "{{title}}", "tags": ["日记", "b"]}),
        ("date: <% tp.date.now() %>\naliases:\n- \"甲: 乙\": x\n\t- b", {"date": "<% tp.date.now() %>",
         "aliases": ['"甲: 乙": x', "b"]}),
        ("related: [[A]], [[B]]\nup: [[C]]", {"related": "[[A]], [[B]]", "up": "[[C]]"}),
        ("a: &x 1\nb: *x", {"a": "&x 1", "b": "*x"}),
        ("# c\n\npermalink: /:year/\nexcerpt: {% include x %}", {"permalink": "/:year/", "excerpt": "{% include x %}"}),
    ],
)  # fmt: skip
def test_front_matter_of_other_programs_is_read_line_by_line(matter: str, known: dict[str, object]) -> None:
    parsed = note(f"---\n{matter}\n---\n# still found\n")
    assert (parsed.fields, parsed.body) == (known, "# still found\n")


@pytest.mark.parametrize(
    "matter",
    ["title: x\n----\nb: y", "? [a]\n: b", "a: b\n--- {c: d}", "Note: a: b\nand 中文 more prose", "x" * 70_000],
)
def test_what_is_no_front_matter_at_all_is_text(matter: str) -> None:
    text = f"---\n{matter}\n---\n# still found\n"
    assert (note(text).fields, note(text).body) == ({}, text)


def test_front_matter_of_hugo_is_toml() -> None:
    matter = 'title = "密钥: 轮换"\ndate = 2026-02-10\ndraft = false\ntags = ["a", "部署"]\n[params]\nweight = 3'
    parsed = note(f"+++\r\n{matter}\r\n+++\r\nbody".replace("\r\n", "\n"))
    assert parsed.fields == {
        "title": "密钥: 轮换", "date": "2026-02-10", "draft": "false", "tags": ["a", "部署"], "params": {"weight": "3"},
    }  # fmt: skip
    assert (parsed.title, parsed.words("tags"), parsed.body) == ("密钥: 轮换", ("a", "部署"), "body")
    assert note("+++\ntitle = {{ title }}\ntags = [x, 解密]\n+++\nb").fields == {
        "title": "{{ title }}",
        "tags": ["x", "解密"],
    }
    assert note("+++\nprose and more\n+++\nb").body.startswith("+++")
    with pytest.raises(BrokenVaultFile, match="its front matter is TOML"):
        set_field(f"+++\n{matter}\n+++\nbody", "status", "archived")


def test_tags_of_yaml_make_no_objects() -> None:
    assert fields("a: !!python/object/apply:os.system ['exit 1']\nb: !!int 3") == {"a": ["exit 1"], "b": "3"}


BOMBS = {
    "flow": "a: " + "[" * 65_000,
    "closed flow": "a: " + "[" * 30_000 + "]" * 30_000,
    "mappings": "a: " + "{a: " * 16_000,
    "bullets": "a:\n " + "- " * 30_000 + "x",
    "keys": "? " * 32_000,
    "indents": "\n".join(" " * depth + "a:" for depth in range(350)),
    "wide": "a: [" + "[a,b]," * 10_000 + "]",
    "many": "\n".join(f"k{number}: v" for number in range(6_000)),
    "quotes": "a: '" + "''" * 32_000,
    "anchors": "a: " + "&a " * 20_000,
    "laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "\n".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "circle": "a: &a [*a]",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_of_yaml_neither_kills_nor_hangs_the_process(name: str) -> None:
    """In a process of its own, because it used to end with a segmentation fault."""
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "import copy, json; from memtool.vault.note import parse_note\n"
        "note = parse_note('a.md', sys.stdin.buffer.read())\n"
        "json.dumps(copy.deepcopy(dict(getattr(note, 'fields', {}))))\n"
        "assert 'needle' in note.text"
    )
    text = f"---\n{BOMBS[name]}\n---\nneedle\n"
    ran = subprocess.run([sys.executable, "-c", script], input=text.encode(), capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_nesting_has_a_bound_and_large_front_matter_too() -> None:
    nested = ["[" * depth + "]" * depth for depth in (DEEPEST - 1, DEEPEST)]
    read = [note(f"---\na: {value}\n---\n").fields["a"] for value in nested]
    assert (isinstance(read[0], list), read[1]) == (True, nested[1])
    large = f"---\na: {'x' * LONGEST_FRONT_MATTER}\n---\nbody"
    assert (note(large).fields, note(large).body) == ({}, large)


@pytest.mark.parametrize(
    ("content", "reason", "text"),
    [
        ("解密失败".encode("gbk"), "not UTF-8 (byte 0), read as GB18030", "解密失败"),
        ("解密失败".encode("utf-16"), "not UTF-8 (byte 0), read as UTF-16", "解密失败"),
        ("\ufeff解密".encode("utf-16-be"), "not UTF-8 (byte 0), read as UTF-16", "解密"),
        (b"caf\xe9", "not UTF-8 (byte 3)", "caf\ufffd"),
        (b"a\0b", "holds NUL bytes, so it is hardly Markdown", ""),
        ("ascii".encode("utf-16-le"), "holds NUL bytes, so it is hardly Markdown", ""),
        (b"\xff\xfe\x00", "not UTF-8 (byte 0), read as UTF-16", "\ufffd"),
    ],
)
def test_another_encoding_is_named_and_what_can_be_read_is_kept(content: bytes, reason: str, text: str) -> None:
    assert broken(content)[1:] == (reason, text)


@given(st.binary() | st.binary().map(lambda content: b"---\n" + content + b"\n---\n"))
def test_any_bytes_give_text_that_an_index_can_hold(content: bytes) -> None:
    parsed = parse_note("a.md", content)
    assert parsed.text.encode("utf-8") is not None
    if isinstance(parsed, Note):
        assert parsed.title == " ".join(parsed.title.split())
        assert len(parsed.summary) <= max(200, len(content))


@pytest.mark.slow
@given(st.text(), st.text())
def test_the_body_follows_the_front_matter_line_by_line(title: str, body: str) -> None:
    text = f"---\nx: {title!r}\n---\n{body}"
    matter, line = split_front_matter(text)
    assert matter is not None
    assert "\n".join(text.split("\n")[line - 1 :]).endswith(body.rsplit("\n", 1)[-1])


def test_a_title_is_named_or_the_first_heading_or_the_name_of_the_file() -> None:
    assert note("---\ntitle:  Two\n---\n# One").title == "Two"
    assert note("---\ntitle: [a]\n---\ntext\n# One ##\n# Other").title == "One"
    assert note("text\n## One\n# Other", "解密 caching.md").title == "解密 caching"
    assert note("```sh\n# install\n```\n~~~\n# no\n```\n# nor\n~~~\n# Real").title == "Real"
    assert note("text", "daily/2026-02-10.v2.md").title == "2026-02-10.v2"


def test_a_summary_is_named_or_the_first_sentence_or_the_first_bullet() -> None:
    assert note("---\nsummary: S\n---\nOther.").summary == "S"
    assert note("# H\n\n> quote\n\nVersion 2.1 is out. More!").summary == "Version 2.1 is out."
    assert note("解密失败了。然后").summary == "解密失败了。"
    assert note("# H\n\n- [ ] first\n- second").summary == "first"
    assert note("Title\r\n\r\nText.\r\n").summary == "Title"
    assert note("x" * 1000).summary == "x" * 200
    assert note("").summary == ""


def test_words_are_a_list_or_text_with_commas() -> None:
    parsed = note("---\na: [x, ' #y ', '', [z]]\nb: x,#y,,\nc: {d: e}\n---\n")
    assert (parsed.words("a"), parsed.words("b"), parsed.words("c"), parsed.words("d")) == (
        ("x", "y"),
        ("x", "y"),
        (),
        (),
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("# One", "One"), ("###### 六", "六"), ("####### seven", ""), ("#tag", ""), (" # indented", ""), ("#", ""),
        ("# ", ""), ("## Closed ##", "Closed"), ("# C#", "C#"), ("# C# ", "C#"), ("# a # b", "a # b"), ("# #", ""),
        ("#\tTab\r", "Tab"),
    ],
)  # fmt: skip
def test_a_heading_has_marks_and_a_space(line: str, text: str) -> None:
    assert heading_text(line) == text


@pytest.mark.slow
def test_a_hostile_heading_costs_no_more_than_its_length() -> None:
    """A regular expression took time with the square of it: hours, for these."""
    assert heading_text("# a" + " " * 3_000_000 + "b")[-1] == "b"
    assert heading_text("# " + "# " * 1_000_000 + "b")[-1] == "b"
    assert heading_text("# " + "#" * 3_000_000) == ""
    assert first_sentence("a" * 3_000_000) == "a" * 200


def test_the_overview_is_a_section_or_what_stands_before_the_second_heading() -> None:
    assert overview("# T\n\nintro\n\n## Overview\n\ntext\n\n## More\n\nx") == "## Overview\n\ntext"
    assert overview("# T\r\n## 概述\r\ntext\r\n") == "## 概述\r\ntext"
    assert overview("# T\n\n```\n# no heading\n```\n\n## B\nrest") == "# T\n\n```\n# no heading\n```"
    assert overview("# T\n\n## A\n\n### B\ntext\n## C\nrest") == "# T\n\n## A\n\n### B\ntext"
    assert overview("intro\n# T\ntext\n# U") == "intro\n# T\ntext"
    assert overview("no heading at all\n") == "no heading at all"
    assert first_heading("```\n# never closed") == ""


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
    rendered = render_note(NewMemory(body, "decision", tags=tuple(tags)), title=title_of(body), date="2026-02-10")
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
    rendered = render_note(NewMemory(body, "knowledge"), title=title_of(body), date="2026-02-10")
    note = parse_note("knowledge/x.md", rendered.encode())
    assert isinstance(note, Note)
    assert note.body == f"\n{body}\n"
    assert (note.field("type"), note.field("status")) == ("knowledge", "")
