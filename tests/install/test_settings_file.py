from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from memtool.errors import BadSetting
from memtool.install.settings_file import as_toml, with_value, without_value

FILE = """\
# 我的设置 (mine)
vault = "~/记忆"   # where it lies

[search]  # how I search
# limit = 6
mode = "bm25"

  limit   =  7  # seven
[redact]
patterns = [
    'a#b',
    "密钥",
]
# about models
[llm]
"""


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("search.limit", 12, "  limit   =  7  # seven", "  limit   =  12  # seven"),
        ("search.mode", "hybrid", 'mode = "bm25"', 'mode = "hybrid"'),
        ("search.fusion", "rrf", "7  # seven\n", '7  # seven\nfusion = "rrf"\n'),
        ("vault", "~/笔记", '"~/记忆"   # where', '"~/笔记"   # where'),
        ("language", "zh", "# where it lies\n", '# where it lies\nlanguage = "zh"\n'),
        ("llm.writer", "none", "[llm]\n", '[llm]\nwriter = "none"\n'),
        ("recall.show", True, "[llm]\n", "[llm]\n\n[recall]\nshow = true\n"),
        ("capture.exclude", ["~/a b"], "[llm]\n", '[llm]\n\n[capture]\nexclude = ["~/a b"]\n'),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_line_changes_and_every_other_byte_stays(key: str, value: Any, old: str, new: str, end: str) -> None:
    text, expected = (each.replace("\n", end) for each in (FILE, FILE.replace(old, new, 1)))
    assert FILE.count(old) == 1
    assert with_value(text, key, value) == expected


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("search.limit", "  limit   =  7  # seven\n"),
        ("vault", 'vault = "~/记忆"   # where it lies\n'),
        ("llm.writer", ""),
    ],
)
def test_a_value_is_taken_out_with_its_line(key: str, gone: str) -> None:
    assert without_value(FILE, key) == FILE.replace(gone, "", 1)


@pytest.mark.parametrize(
    "text",
    [
        "search = 3\n",
        "[search\n",
        "[search]\nlimit = 3\nlimit = 4\n",
        "[search]\nlimit = 陈\n",
    ],
)
def test_what_is_no_settings_file_is_refused(text: str) -> None:
    with pytest.raises(BadSetting) as caught:
        with_value(text, "search.limit", 9)
    assert "memtool config edit" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "search.limit = 3\n",
        "search = {limit = 3}  # 为什么\n",
        '["search"]\nlimit = 3\n',
        '[search]\n"limit" = 3\n',
        'vault = """\n[search]\nlimit = 4\n"""\n[search]\n"limit" = 3\n',
    ],
)
def test_another_form_of_the_same_is_changed_in_its_place(text: str) -> None:
    assert with_value(text, "search.limit", 9) == text.replace("3", "9")


def test_comments_within_a_list_are_not_thrown_away() -> None:
    text = "[redact]\npatterns = [\n  'a',  # 为什么\n]\n"
    with pytest.raises(BadSetting, match="with comments in it"):
        with_value(text, "redact.patterns", ["b"])


def test_a_file_without_a_last_line_end_gets_one() -> None:
    assert with_value("[search]\nmode = 'bm25'", "search.limit", 3) == "[search]\nmode = 'bm25'\nlimit = 3\n"
    assert with_value("", "vault", "x") == 'vault = "x"\n'


VALUES = st.one_of(
    st.booleans(), st.integers(0, 10**9), st.text(max_size=20),
    st.lists(st.text(max_size=8), max_size=3),
)  # fmt: skip
KEYS = st.sampled_from(["vault", "language", "search.limit", "search.mode", "llm.writer", "redact.patterns", "new.one"])


@given(KEYS, VALUES)
def test_whatever_is_set_is_read_back_and_unset_again(key: str, value: Any) -> None:
    section, _, name = key.rpartition(".")
    changed = tomllib.loads(with_value(FILE, key, value))
    expected = tomllib.loads(FILE)
    (expected.setdefault(section, {}) if section else expected)[name] = value
    assert changed == expected
    (expected[section] if section else expected).pop(name)
    assert tomllib.loads(without_value(with_value(FILE, key, value), key)) == expected
    assert tomllib.loads(f"x = {as_toml(value)}") == {"x": value}


@given(st.text(max_size=60), KEYS)
def test_any_text_is_changed_right_or_refused(text: str, key: str) -> None:
    try:
        values = tomllib.loads(text)
    except ValueError:
        values = None
    try:
        changed = tomllib.loads(with_value(text, key, "九"))
    except BadSetting:
        return
    section, _, name = key.rpartition(".")
    assert values is not None
    assert (changed[section] if section else changed)[name] == "九"
