from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, strategies as st

from memtool.errors import BadSetting
from memtool.settings.editing import with_settings

TEXT = """# mine
format = 1

[search]  # how
# mode = "hybrid"
limit = 3

[capture]
ignore = [
  "a",  # 草稿
  "b",
]
"""


def test_one_line_changes_and_every_other_byte_stays() -> None:
    assert with_settings(TEXT, {"search.limit": "9"}) == TEXT.replace("limit = 3", "limit = 9")
    assert with_settings(TEXT, {"language": "zh"}) == TEXT.replace("format = 1\n", 'format = 1\nlanguage = "zh"\n')
    assert with_settings(TEXT, {"search.mode": "bm25"}) == TEXT.replace("= 3\n", '= 3\nmode = "bm25"\n')
    assert with_settings(TEXT, {"search.limit": None}) == TEXT.replace("limit = 3\n", "")
    assert with_settings(TEXT, {"recall.show": "yes"}) == f"{TEXT}\n[recall]\nshow = true\n".replace("]\n\n\n", "]\n\n")


def test_a_list_over_several_lines_is_replaced_as_a_whole() -> None:
    new = with_settings(TEXT, {"capture.ignore": "*.lock\n文件夹/*"})
    assert tomllib.loads(new)["capture"] == {"ignore": ["*.lock", "文件夹/*"]}
    assert new.startswith(TEXT[: TEXT.index("ignore")])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (TEXT, {"llm.claude_command": "evil"}),
        (TEXT, {"search.limit": "0"}),
        (TEXT, {"nothing.like_it": "1"}),
        ("search = { limit = 3 }\n", {"search.limit": "9"}),
        ("not toml", {"search.limit": "9"}),
    ],
)
def test_what_may_not_or_cannot_be_changed_is_refused(text: str, values: dict[str, object]) -> None:
    with pytest.raises(BadSetting):
        with_settings(text, values)


@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool), max_size=4), st.integers(1, 99))
def test_what_was_set_is_read_back(ignored: list[str], limit: int) -> None:
    wanted = tuple(part for item in ignored if (part := " ".join(item.split())))
    new = tomllib.loads(with_settings(TEXT, {"capture.ignore": wanted, "search.limit": limit}))
    assert new["capture"]["ignore"] == list(wanted)
    assert new["search"]["limit"] == limit
    assert new["format"] == 1
