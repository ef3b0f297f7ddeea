from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, strategies as st

from memtool.vault.daily import DailyEntry, add_entry, parse_daily, render_daily
from memtool.vault.note import Note, parse_note

DAY = date(2026, 2, 10)
NOTE = """---
type: daily
date: 2026-02-10
---

# Daily: 2026-02-10

- 14:30 **shop**: `auth.ts`, `middleware/jwt.ts`
- 14:31 **博客**: `文章/第一篇.md`
- 15:00: `notes.txt`
"""
ENTRIES = (
    DailyEntry("14:30", "shop", ("auth.ts", "middleware/jwt.ts")),
    DailyEntry("14:31", "博客", ("文章/第一篇.md",)),
    DailyEntry("15:00", "", ("notes.txt",)),
)


def test_a_daily_note_looks_like_this() -> None:
    assert render_daily(DAY, ENTRIES) == NOTE
    assert parse_daily(NOTE) == ENTRIES


def test_its_front_matter_says_what_it_is() -> None:
    note = parse_note("daily/2026-02-10.md", render_daily(DAY, language="zh").encode())
    assert isinstance(note, Note)
    assert (note.field("type"), note.field("date"), note.title) == ("daily", "2026-02-10", "日志: 2026-02-10")


def test_an_edit_in_the_same_minute_joins_its_line() -> None:
    text = add_entry(NOTE, DailyEntry("14:30", "shop", ("auth.ts", "新.ts")))
    assert text == NOTE.replace("`middleware/jwt.ts`", "`middleware/jwt.ts`, `新.ts`")


def test_an_edit_that_is_there_already_changes_nothing() -> None:
    assert add_entry(NOTE, DailyEntry("14:30", "shop", ("middleware/jwt.ts",))) == NOTE


@pytest.mark.parametrize(("minute", "line"), [("09:00", 8), ("14:30", 9), ("14:59", 10), ("23:59", 11)])
def test_a_late_entry_finds_its_place_in_time(minute: str, line: int) -> None:
    lines = add_entry(NOTE, DailyEntry(minute, "other", ("x",))).split("\n")
    assert lines[line - 1] == f"- {minute} **other**: `x`"
    assert [*lines[: line - 1], *lines[line:]] == NOTE.split("\n")


def test_what_the_owner_wrote_stays_as_it_is() -> None:
    own = NOTE.replace(
        "- 15:00: `notes.txt`\n", "- 14:31 **博客**: `a.md` and a remark of mine\n\n## Evening\n\nwent home"
    )
    text = add_entry(own, DailyEntry("14:40", "shop", ("b.ts",)))
    assert text.replace("- 14:40 **shop**: `b.ts`\n", "") == own
    assert text.index("14:40") < text.index("a remark of mine")


def test_windows_line_ends_are_kept() -> None:
    text = add_entry(NOTE.replace("\n", "\r\n"), DailyEntry("14:31", "shop", ("b.ts",)))
    assert text.count("\n") == text.count("\r\n") == NOTE.count("\n") + 1
    assert parse_daily(text)[2] == DailyEntry("14:31", "shop", ("b.ts",))


def test_a_file_that_lacks_its_last_line_end_gets_one() -> None:
    assert add_entry("# My day", ENTRIES[0]).startswith("# My day\n- 14:30")
    assert add_entry(NOTE.rstrip("\n"), DailyEntry("16:00", "", ("x",))) == NOTE + "- 16:00: `x`\n"


def test_a_name_cannot_break_out_of_its_line() -> None:
    entry = DailyEntry("14:30", "a**b\n# c", ("x`, `y\n- 15:00: `z`\x00\ud800",))
    (parsed,) = parse_daily(add_entry("", entry))
    assert parsed == DailyEntry("14:30", "ab # c", ("x', 'y - 15:00: 'z'",))


def test_an_entry_without_files_is_none() -> None:
    assert add_entry(NOTE, DailyEntry("16:00", "shop", (" ", ""))) == NOTE


entries = st.builds(
    DailyEntry,
    minute=st.times().map(lambda time: f"{time:%H:%M}"),
    project=st.text(max_size=5),
    files=st.lists(st.text(max_size=5), max_size=3).map(tuple),
)


@given(st.lists(entries, max_size=6), st.text())
def test_adding_twice_is_adding_once(added: list[DailyEntry], start: str) -> None:
    text = start
    for entry in added:
        text = add_entry(text, entry)
    assert {name for entry in parse_daily(text) for name in entry.files} >= {
        name for entry in parse_daily(start) for name in entry.files
    }
    for entry in added:
        assert add_entry(text, entry) == text
