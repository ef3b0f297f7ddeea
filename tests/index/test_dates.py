from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, strategies as st

from memtool.index.times import asked_dates, parse_date


def asks_for(query: str, day: str) -> bool:
    return any(pattern.fullmatch(day) for pattern in asked_dates(query))


@pytest.mark.slow
@given(st.dates(min_value=dt.date(1, 1, 1)))
def test_each_way_to_write_a_day_asks_for_it(day: dt.date) -> None:
    month = f"{day:%B}"
    year = f"{day.year:04}"
    ways = [
        day.isoformat(),
        f"{day.day} {month} {year}",
        f"{month} {day.day}, {year}",
        f"{month[:3]} {day.day}th",
        f"in {month} {year}",
        f"{year}年{day.month}月{day.day}日",
        f"{day.month}月{day.day}号",
        f"{day.month}월 {day.day}일",
        f"{year}/{day.month}/{day.day}",
    ]
    assert [way for way in ways if not asks_for(f"what happened {way}?", day.isoformat())] == []


@pytest.mark.parametrize(
    "query",
    [
        "Caroline在May 2023做了什么",
        "在8 May 2023开会",
        "２０２３年５月８日开会",
        "会议是5月8号",
        "during may",
        "in Sept 2023 and in May of 2023",
    ],
)
def test_dates_stand_beside_other_scripts(query: str) -> None:
    assert asks_for(query, "2023-05-08")


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("8 May 2023", "2022-05-08"),  # another year
        ("May 2023", "2023-06-01"),
        ("13月2号", "2023-01-02"),
        ("2023-13-01", "2023-01-01"),
        ("it may be 3 times", "2023-05-03"),
        ("version 12.5", "2023-05-12"),
        ("maybe 5", "2023-05-05"),
        ("", "2023-05-05"),
    ],
)
def test_other_days_are_not_asked_for(query: str, day: str) -> None:
    assert not asks_for(query, day)


@pytest.mark.parametrize("text", ["2026-02-30", "0000-01-01", "2026-13-01", "12026-01-01", "2026-1-1", ""])
def test_what_the_calendar_does_not_have_is_no_date(text: str) -> None:
    assert parse_date(text) is None
