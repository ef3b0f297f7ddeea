from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, strategies as st

from memtool.text.markdown import find_links
from memtool.vault.daily import (
    DailyEntry,
    DailySession,
    add_entries,
    add_session,
    add_sessions,
    listed_entries,
    listed_sessions,
    render_daily,
)
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


LISTED = """
## Sessions

- 14:32 **shop**: [user authentication](../sessions/3f2a9c.md)
- 15:00: [笔记](../sessions/51d6f4.md)
"""
SESSIONS = (
    DailySession("14:32", "shop", "3f2a9c", "user authentication"),
    DailySession("15:00", "", "51d6f4", "笔记"),
)


def add_entry(text: str, entry: DailyEntry) -> str:
    return add_entries(text, [entry])


def test_a_daily_note_looks_like_this() -> None:
    assert render_daily(DAY, ENTRIES) == NOTE
    assert listed_entries(NOTE) == ENTRIES


def test_its_front_matter_says_what_it_is() -> None:
    note = parse_note("daily/2026-02-10.md", render_daily(DAY, language="zh").encode())
    assert isinstance(note, Note)
    assert (note.field("type"), note.field("date"), note.title) == ("daily", "2026-02-10", "日志: 2026-02-10")


def test_an_edit_in_the_same_minute_joins_its_line() -> None:
    text = add_entry(NOTE, DailyEntry("14:30", "shop", ("auth.ts", "新.ts")))
    assert text == NOTE.replace("`middleware/jwt.ts`", "`middleware/jwt.ts`, `新.ts`")


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
    assert listed_entries(text)[2] == DailyEntry("14:31", "shop", ("b.ts",))


def test_a_name_cannot_break_out_of_its_line() -> None:
    entry = DailyEntry("14:30", "a**b\n# c", ("x`, `y\n- 15:00: `z`\x00\ud800",))
    (parsed,) = listed_entries(add_entry("", entry))
    assert parsed == DailyEntry("14:30", "ab # c", ("x', 'y - 15:00: 'z'",))


def test_a_remark_below_an_entry_stays_below_it() -> None:
    own = NOTE.replace("`文章/第一篇.md`\n", "`文章/第一篇.md`\n  - 写完了\n")
    text = add_entry(own, DailyEntry("14:40", "shop", ("b.ts",)))
    assert "  - 写完了\n- 14:40 **shop**: `b.ts`\n- 15:00" in text


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("# Daily: 2026-02-10\n\n", "## Evening\n\nwent home\n"),
        ("# Daily: 2026-02-10\n\nA slow day.\n\n```\n## no heading\n```\n\n", LISTED[1:]),
        ("---\n## a comment\ntype: daily\n---\n\n", "### Mine"),
        ("", "## Sessions\n"),
    ],
)
def test_the_first_entry_stands_above_what_is_not_about_edits(above: str, below: str) -> None:
    line = "- 14:30 **shop**: `auth.ts`, `middleware/jwt.ts`\n"
    assert add_entry(above + below, ENTRIES[0]) == f"{above}{line}\n{below}"
    text = add_entry(f"{above}{line}\n{below}", DailyEntry("16:00", "", ("x",)))
    assert text == f"{above}{line}- 16:00: `x`\n\n{below}"


def test_the_sessions_of_the_day_stand_in_a_section_of_their_own() -> None:
    assert render_daily(DAY, ENTRIES, reversed(SESSIONS)) == NOTE + LISTED
    assert listed_sessions(NOTE + LISTED) == SESSIONS
    assert listed_entries(NOTE + LISTED) == ENTRIES
    text = render_daily(DAY, ENTRIES, SESSIONS, language="zh")
    assert text.endswith(LISTED.replace("## Sessions", "## 会话"))
    assert add_session(text, SESSIONS[0], language="en") == text


def test_a_session_that_is_captured_again_replaces_its_own_line() -> None:
    own = (NOTE + LISTED).replace("3f2a9c.md)", "3f2a9c.md) went well\n  - ask Ann") + "\n## Evening\n\nwent home"
    text = add_session(own, SESSIONS[0]._replace(minute="14:50", topic="logout"))
    assert text == own.replace("- 14:32", "- 14:50").replace("user authentication", "logout")
    text = add_session(own, SESSIONS[0]._replace(minute="15:01"))
    assert "\n\n- 15:00: [笔记]" in text
    assert "3f2a9c.md) went well\n  - ask Ann\n\n## Evening" in text
    assert add_session(text, SESSIONS[0]) == own
    windows = own.replace("\n", "\r\n")
    assert add_session(windows, SESSIONS[0]._replace(minute="15:01")) == text.replace("\n", "\r\n")


QUESTION = DailySession("15:10", "shop", "8d01b2", "what does HTTP 418 mean, 什么意思?")


def test_a_session_that_left_nothing_behind_has_a_line_without_a_link() -> None:
    text = add_session("", QUESTION, has_note=False)
    assert text.endswith("- 15:10 **shop**: what does HTTP 418 mean, 什么意思? (session 8d01b2)\n")
    assert add_session(text, QUESTION, has_note=False) == text
    assert listed_sessions(text) == ()
    later = add_session(text, QUESTION._replace(minute="15:12"), has_note=False)
    assert later == text.replace("15:10", "15:12")


def test_its_line_becomes_the_link_when_it_is_worth_a_note() -> None:
    text = add_session("", DailySession("14:00", "", "one", "[odd] topic"), has_note=False)
    text = add_session(text, QUESTION, has_note=False).replace("(session 8d01b2)\n", "(session 8d01b2)\n  mine, 我的\n")
    text = add_session(text, DailySession("16:00", "", "two", "later"))
    grown = QUESTION._replace(minute="15:40", topic="a kettle that answers 418")
    again = add_session(text, grown)
    assert "- 15:40 **shop**: [a kettle that answers 418](../sessions/8d01b2.md)\n  mine, 我的\n- 16:00" in again
    assert again.count("8d01b2") == 1
    assert [session.session_id for session in listed_sessions(again)] == ["8d01b2", "two"]


def test_a_list_that_the_owner_moved_stays_where_it_is() -> None:
    moved = NOTE.replace("- 14:30", LISTED.replace("## Sessions", "## What I talked about") + "\n## Edits\n\n- 14:30")
    text = add_session(moved, DailySession("14:40", "shop", "x", "cart"))
    assert text.replace("- 14:40 **shop**: [cart](../sessions/x.md)\n", "") == moved
    assert [session.session_id for session in listed_sessions(text)] == ["3f2a9c", "x", "51d6f4"]


@pytest.mark.parametrize("below", ["", "\n", "\n\n", "\n\nMy own words.\n", "\nMy own words.", "\n\n## Evening\n"])
def test_an_empty_section_is_filled(below: str) -> None:
    text = add_session(f"# My day\n\n## Sessions{below}", SESSIONS[0])
    assert text.startswith(
        "# My day\n\n## Sessions\n\n- 14:32 **shop**: [user authentication](../sessions/3f2a9c.md)\n"
    )
    own = below.strip()
    assert not own or text.split("\n\n", 3)[3].rstrip("\n") == own
    assert add_session(text, SESSIONS[0]) == text


def test_a_note_without_the_section_gets_it_at_its_end() -> None:
    assert add_session("# My day", SESSIONS[0]) == f"# My day\n{LISTED}".rsplit("- 15:00", 1)[0]
    assert add_session("", SESSIONS[0]).startswith("## Sessions\n\n- ")
    text = add_session(NOTE.replace("\n", "\r\n"), SESSIONS[0])
    assert text.count("\n") == text.count("\r\n")
    assert add_session(text, SESSIONS[1]) == (NOTE + LISTED).replace("\n", "\r\n")


@pytest.mark.parametrize(
    "topic",
    ["a ]] b", "a](https://evil.example) b", "a | b", "a\n## b\n- 15:00: `c`", "<script>", "[[x]]", "`x](", "a\\",
     "![x](y)", "*", "__init__", ""],
)  # fmt: skip
def test_a_topic_cannot_break_out_of_its_link(topic: str) -> None:
    session = DailySession("14:30", "a**b\n# c", "../../x", topic)
    text = add_session(NOTE, session)
    assert text.removeprefix(NOTE).count("\n") == 4
    (listed,) = listed_sessions(text)
    assert listed.topic == (" ".join(topic.split()) or listed.session_id)
    assert listed.project == "ab # c"
    assert listed_entries(text) == ENTRIES
    assert add_session(text, session) == text
    assert find_links(text) == [(listed.topic, f"../sessions/{listed.session_id}.md")]


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["## x\n", "```\n", "- 14:30: `a`\n", "- 14:30: [", "[a\\", "\n", " "])
def test_a_huge_note_takes_no_time(mark: str) -> None:
    add_entry(mark * 20_000, ENTRIES[0])
    add_session(mark * 20_000, SESSIONS[0])


entries = st.builds(
    DailyEntry,
    minute=st.times().map(lambda time: f"{time:%H:%M}"),
    project=st.text(max_size=5),
    files=st.lists(st.text(max_size=5), max_size=3).map(tuple),
)


@pytest.mark.slow
@given(st.lists(entries, max_size=6), st.text())
def test_adding_twice_is_adding_once(added: list[DailyEntry], start: str) -> None:
    text = start
    for entry in added:
        text = add_entry(text, entry)
    assert {name for entry in listed_entries(text) for name in entry.files} >= {
        name for entry in listed_entries(start) for name in entry.files
    }
    for entry in added:
        assert add_entry(text, entry) == text


sessions = st.builds(
    DailySession,
    minute=st.times().map(lambda time: f"{time:%H:%M}"),
    project=st.text(max_size=5),
    session_id=st.sampled_from(["a", "b", "c", "会"]),
    topic=st.text(st.sampled_from("ab 令[]()\\`<|*\n\r#"), max_size=6),
)


@pytest.mark.slow
@given(st.lists(st.one_of(entries, sessions), max_size=8))
def test_entries_and_sessions_stay_together_and_in_order(added: list[DailyEntry | DailySession]) -> None:
    text = render_daily(DAY)
    for one in added:
        text = add_entry(text, one) if isinstance(one, DailyEntry) else add_session(text, one)
    edits, _, listed = text.partition("## Sessions")
    minutes = [entry.minute for entry in listed_entries(edits)]
    assert minutes == sorted(minutes)
    assert listed_entries(listed) == ()
    times = [session.minute for session in listed_sessions(listed)]
    assert times == sorted(times)
    assert len(times) == len({one.session_id for one in added if isinstance(one, DailySession)})


OWNERS = [
    "",
    "My own words.\n",
    "- 12:00 a list of mine\n",
    "  what I think of it, 我的想法\n",
    "## Evening\n",
    "```\n# x\n```\n",
    "\n",
]
ANY_ENTRY = st.builds(
    DailyEntry,
    st.sampled_from(["08:00", "09:15", "14:30"]),
    st.sampled_from(["", "shop", "支付"]),
    st.lists(st.sampled_from(["a.ts", "令牌.py", "b `c`.md", " "]), max_size=3).map(tuple),
)
ANY_SESSION = st.tuples(
    st.builds(
        DailySession,
        st.sampled_from(["08:00", "09:15", "14:30"]),
        st.sampled_from(["", "shop", "支付"]),
        st.sampled_from(["s1", "s2", "s3", "s4"]),
        st.sampled_from(["登录失败 → 已修复", "why [this]?", "", "[["]),
    ),
    st.booleans(),
)


@pytest.mark.slow
@given(data=st.data(), newline=st.sampled_from(["\n", "\r\n"]), language=st.sampled_from(["en", "zh"]))
def test_many_are_added_as_one_by_one_and_what_the_owner_wrote_between_stays(
    data: st.DataObject, newline: str, language: str
) -> None:
    start = render_daily(
        DAY,
        data.draw(st.lists(ANY_ENTRY, max_size=4)),
        [session for session, _ in data.draw(st.lists(ANY_SESSION, max_size=4))],
        language=language,
    )
    lines = [part for line in start.splitlines(keepends=True) for part in (line, data.draw(st.sampled_from(OWNERS)))]
    text = "".join(lines).replace("\n", newline)
    text = text if data.draw(st.booleans()) else text.rstrip()
    entries, sessions = data.draw(st.lists(ANY_ENTRY, max_size=6)), data.draw(st.lists(ANY_SESSION, max_size=6))
    one_by_one = text
    for session, has_note in sessions:
        one_by_one = add_session(one_by_one, session, has_note=has_note, language=language)
    assert add_sessions(text, sessions, language=language) == one_by_one
    for entry in entries:
        one_by_one = add_entry(one_by_one, entry)
    many = add_entries(add_sessions(text, sessions, language=language), entries)
    assert many == one_by_one
    assert add_entries(many, entries) == many
    for line in text.split(newline):
        assert line.strip() in many or line.startswith("- ")
