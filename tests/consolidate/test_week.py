from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, strategies as st

from memtool.consolidate.week import Week, parse_week, week_of
from memtool.errors import UsageError

TODAY = dt.date(2026, 11, 22)


def test_a_week_of_two_years() -> None:
    week = parse_week("2026-W53", dt.date(2027, 1, 2))
    assert (week.first, week.last) == (dt.date(2026, 12, 28), dt.date(2027, 1, 3))
    assert week.holds("2027-01-03 23:59")
    assert not week.holds("2027-01-04")
    assert parse_week("last", dt.date(2027, 1, 4)) == week


@pytest.mark.parametrize("text", ["2026-W54", "2025-W53", "2026", "", "W47", "2026-W00", "下周", "2026-W48"])
def test_what_is_no_week_or_has_not_begun_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_week(text, TODAY)


@given(st.dates(dt.date(2000, 1, 1), dt.date(2100, 1, 1)))
def test_each_day_is_in_its_week_and_in_no_other(day: dt.date) -> None:
    week = week_of(day)
    assert day in list(week.days())
    assert parse_week(str(week), day) == week
    assert Week(*(day + dt.timedelta(days=7)).isocalendar()[:2]) != week
