from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.memory.forget import find_line, without_line

NOTE = """\
---
type: rules
---

# Rules

- Migrations go forward only.
- The zeppelin is only inspected
  while it is moored to the mast.
  - 夜间检查需要两个人。

Anchors are heavy. They are lifted by the crane, which is slow.

| path | what it does |
| --- | --- |
| `apps/api/` | login，refresh |

- Migrations go forward only, in the shop too.
"""


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ("Migrations go forward only.", (7, 7)),
        ("> - migrations go FORWARD only", (7, 7)),
        ("while it is moored to the mast.", (8, 9)),
        ("The zeppelin is only inspected while it is…", (8, 9)),
        ("夜间检查需要两个人。", (10, 10)),
        ("They are lifted by the crane, which is slow.", (12, 12)),
        ("`apps/api/` | login，refresh", (16, 16)),
        ("in the shop too", (18, 18)),
        ("Nobody says so", None),
        ("Rules", None),
        ("only", None),
        ("", None),
    ],
)
def test_a_line_is_found_by_what_it_says(said: str, lines: tuple[int, int] | None) -> None:
    assert find_line(NOTE, said) == lines


def test_of_two_that_say_the_same_the_nearer_one_is_meant() -> None:
    text = "- 部署前先备份\n- two\n- 部署前先备份\n"
    assert (find_line(text, "部署前先备份", 1), find_line(text, "部署前先备份", 3)) == ((1, 1), (3, 3))


def test_an_item_goes_with_all_its_lines_and_everything_else_keeps_its_bytes() -> None:
    kept = "- The zeppelin is only inspected\n  while it is moored to the mast.\n"
    assert without_line(NOTE, "moored to the mast") == NOTE.replace(kept, "")
    assert without_line(NOTE.replace("\n", "\r\n"), "moored to the mast") == NOTE.replace(kept, "").replace(
        "\n", "\r\n"
    )
    assert without_line(NOTE, "Nobody says so") == NOTE


def test_of_a_long_paragraph_only_the_sentence_goes() -> None:
    last = "Six of them stand idle."
    long = "The harbour has nine cranes and a mast for zeppelins, which is painted every spring by the night shift. "
    text = f"# Harbour\n\n{long}{long.replace('nine', 'ten')}系泊机器人有自己的账号。 {last}\n"
    assert without_line(text, "系泊机器人有自己的账号。") == text.replace("系泊机器人有自己的账号。 ", "")


@given(st.text(alphabet="ab- \n#|`解", max_size=80), st.text(max_size=20))
def test_any_text_is_cut_by_whole_lines_or_left_as_it_is(text: str, said: str) -> None:
    assert set(without_line(text, said).split("\n")) <= {*text.split("\n"), ""}
