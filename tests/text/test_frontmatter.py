from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from memtool.errors import BrokenVaultFile
from memtool.text.frontmatter import parse_fields, quoted, set_field
from memtool.vault.note import Note, parse_note

NOTE = """---
# who made it
title:   A title  # unusual spacing
code: 01234
flag: no
tags:
- a
# between two items
- b

summary: |
  one

  two
list: [x,
  y]
last: z
---

# Body: kept

title: not a field
"""


def read(text: str, key: str) -> str:
    note = parse_note("a.md", text.encode("utf-8"))
    assert isinstance(note, Note), note
    return note.field(key)


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def test_one_line_changes_and_every_other_byte_is_kept() -> None:
    changed = set_field(NOTE, "title", "Other")
    assert [(old, new) for old, new in zip(lines_of(NOTE), lines_of(changed), strict=True) if old != new] == [
        ("title:   A title  # unusual spacing\n", "title: Other\n")
    ]


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("tags", ["tags:\n", "- a\n", "# between two items\n", "- b\n"]),
        ("summary", ["summary: |\n", "  one\n", "\n", "  two\n"]),
        ("list", ["list: [x,\n", "  y]\n"]),
        ("last", ["last: z\n"]),
    ],
)
def test_a_value_of_several_lines_is_replaced_whole(key: str, gone: list[str]) -> None:
    assert set_field(NOTE, key, "new") == NOTE.replace("".join(gone), f"{key}: new\n")


def test_a_missing_field_becomes_the_last_one() -> None:
    assert set_field(NOTE, "status", "accepted") == NOTE.replace("last: z\n", "last: z\nstatus: accepted\n")
    assert set_field("---\n---\nbody", "a", "b") == "---\na: b\n---\nbody"


def test_a_note_without_front_matter_gets_one() -> None:
    assert set_field("# H\n", "a", "b") == "---\na: b\n---\n# H\n"
    assert set_field("", "a", "b") == "---\na: b\n---\n"
    assert set_field("\ufeff# H\r\n", "a", "b") == "\ufeff---\r\na: b\r\n---\r\n# H\r\n"
    assert set_field("---\nProse.\n\n---\nmore", "a", "b") == "---\na: b\n---\n---\nProse.\n\n---\nmore"


def test_a_byte_order_mark_and_windows_line_ends_are_kept() -> None:
    text = "\ufeff---\r\na: 1\r\nb: |\r\n  x\r\n\r\n  y\r\n---\r\nbody\r\n"
    assert set_field(text, "b", "new") == "\ufeff---\r\na: 1\r\nb: new\r\n---\r\nbody\r\n"
    assert set_field(text, "c", "new") == text.replace("  y\r\n", "  y\r\nc: new\r\n")


def test_a_quoted_key_is_the_same_key() -> None:
    assert set_field("---\n\"title\": a\n'x y' : b\n---\n", "title", "c") == "---\ntitle: c\n'x y' : b\n---\n"


def test_of_two_fields_with_one_name_the_one_that_counts_is_set() -> None:
    text = "---\na: 1\nb: 2\na: 3\n---\n"
    assert set_field(text, "a", "x") == "---\na: 1\nb: 2\na: x\n---\n"


def test_a_key_is_no_pattern_and_no_prefix() -> None:
    text = "---\nabc: 1\na.c: 2\na: 3\nab: 4\n---\n"
    assert set_field(text, "a.c", "9") == text.replace("a.c: 2", 'a.c: "9"')


@pytest.mark.parametrize(
    "text",
    [
        "---\n{title: x, b: y}\n---\nbody",
        "---\n  title: x\n  b: y\n---\nbody",
        "---\ntitle: 'x\nb: y'\n---\nbody",
        "---\ntitle: &t x\nb: *t\n---\nbody",
        "---\ntitle: [\n---\nbody",
    ],
)
def test_front_matter_that_lines_cannot_change_is_refused(text: str) -> None:
    with pytest.raises(BrokenVaultFile, match="cannot be changed"):
        set_field(text, "b", "new")


@pytest.mark.parametrize(
    ("value", "scalar"),
    [
        ("plain text", "plain text"), ("解密失败", "解密失败"), ("2026-02-10", "2026-02-10"), ("a/b (c)", "a/b (c)"),
        ("", '""'), ("no", '"no"'), ("Null", '"Null"'), ("01234", '"01234"'), ("a: b", '"a: b"'), ("# a", '"# a"'),
        ('say "hi"', '"say \\"hi\\""'), ("C:\\x", '"C:\\\\x"'), ("two\nlines", "two lines"),
        ("bell\x07", '"bell\\U00000007"'),
        ("[a, b]", '"[a, b]"'), ("- a", '"- a"'), ("'x'", "\"'x'\""), ("👨‍👩‍👧", '"👨‍👩‍👧"'),
    ],
)  # fmt: skip
def test_a_value_is_quoted_only_where_it_would_be_read_as_something_else(value: str, scalar: str) -> None:
    assert quoted(value) == scalar


keys = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
bodies = st.text().filter(lambda text: parse_note("a.md", text.encode()) == Note("a.md", text))


@pytest.mark.slow
@given(st.dictionaries(keys, st.text(), max_size=4), keys, st.text(), bodies)
@example({"a": "b"}, "a", "\x00\x85\ufeff\uffff:", "---\nProse.\n---\n")
def test_what_is_set_is_read_again_and_nothing_else_changes(
    fields: dict[str, str], key: str, value: str, body: str
) -> None:
    text = body
    for name, old in fields.items():
        text = set_field(text, name, old)
    changed = set_field(text, key, value)
    assert read(changed, key) == " ".join(value.split())
    assert changed.endswith(body)
    assert set_field(changed, key, value) == changed
    for name, old in fields.items():
        assert name == key or read(changed, name) == " ".join(old.split())


entries = st.sampled_from(
    [
        "a: 1\n", "b: 'x'\n", "c: [1, 2]\n", "d:\n- x\n- y\n", "e:\n  - x\n  # deep\n  - y\n", "f: |\n  x\n\n  # y\n",
        "g: >-\n  x\n   y\n", "# comment\n", "\n", "h:\n", "i: {a: b}\n", "'j k': l\n", "m: \"x\n\n  y\"\n",
        "n: x\n  y\n", "-o: p\n", "q:\n  r: s\n",
    ]
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(entries, unique=True), st.sampled_from("abcdefghijmnqz"), st.text(), st.booleans())
def test_whatever_stands_around_it_one_field_changes(matter: list[str], key: str, value: str, windows: bool) -> None:
    text = f"---\n{''.join(matter)}---\nbody\n"
    text = text.replace("\n", "\r\n") if windows else text
    before = parse_note("a.md", text.encode())
    after = parse_note("a.md", set_field(text, key, value).encode())
    assert isinstance(before, Note)
    assert isinstance(after, Note)
    assert after.fields == {**before.fields, key: " ".join(value.split())}
    kept = [entry for entry in matter if not entry.startswith(f"{key}:")]
    assert all(line in set_field(text, key, value) for entry in kept for line in entry.split("\n"))


values = st.text(st.sampled_from("ab1 -:#,.'\"[]{}\\\t\r\u3000é密|>&*!%@`?~_/"), max_size=8) | st.sampled_from(
    ["[a, b]", '[a, "b c", ]', "[[a]]", "[]", "2026-02-10", "a: b", "b:", "C#", "a #b", '"a\\\\"', "'it''s'"]
)
matters = st.lists(st.tuples(st.sampled_from(["a: ", "b:", "  - ", "- ", "c:  ", "#", ""]), values).map("".join))


@given(matters.map("\n".join))
@example("a:\n- x\n  - y")
@example("a:\n# between\n  - x\n\n  - y\na: z")
def test_plain_front_matter_is_read_as_yaml_is(matter: str) -> None:
    plain = parse_fields(matter)
    by_yaml = parse_fields(f"{matter}\n? z\n: last")  # a form that only a parser of YAML reads
    if isinstance(plain, dict):
        assert by_yaml == {**plain, "z": "last"}


def test_a_text_of_several_lines_keeps_its_last_line_end() -> None:
    assert parse_fields("title: |\n  一\n  two") == {"title": "一\ntwo\n"}
