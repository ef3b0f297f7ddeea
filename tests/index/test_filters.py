from __future__ import annotations

import datetime as dt

import pytest

from memtool.errors import UsageError
from memtool.index.filters import Filter, parse_day

TODAY = dt.date(2026, 2, 10)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-02-10", "2026-02-10", "2026-02-10"),
        ("2026-2-1", "2026-02-01", "2026-02-01"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("1900-02", "1900-02-01", "1900-02-28"),
        ("2026-12", "2026-12-01", "2026-12-31"),
        ("2026", "2026-01-01", "2026-12-31"),
        ("0001", "0001-01-01", "0001-12-31"),
        ("9999", "9999-01-01", "9999-12-31"),
        ("9999-12", "9999-12-01", "9999-12-31"),
        (" Today ", "2026-02-10", "2026-02-10"),
        ("昨天", "2026-02-09", "2026-02-09"),
        ("0d", "2026-02-10", "2026-02-10"),
        ("7d", "2026-02-03", "2026-02-03"),
        ("2 w", "2026-01-27", "2026-01-27"),
        ("1m", "2026-01-11", "2026-01-11"),
        ("1y", "2025-02-10", "2025-02-10"),
        ("9999y", "0001-01-01", "0001-01-01"),
    ],
)
def test_a_day_is_named_in_many_ways(text: str, first: str, last: str) -> None:
    assert parse_day(text, TODAY) == first
    assert parse_day(text, TODAY, end=True) == last


@pytest.mark.parametrize(
    "text",
    ["2026-02-30", "2025-02-29", "0000", "0000-05", "2026-00", "2026-13", "2026-02-00", "2026-00-10", "2026-1-32"],
)
def test_a_day_that_the_calendar_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="the calendar has no"):
        parse_day(text, TODAY, end=True)


def test_a_filter_narrows_only_where_a_part_is_asked_for() -> None:
    assert not Filter(TODAY, everything=True, archived=True).narrows
    assert Filter(TODAY, tags=("auth",)).narrows
    assert Filter(TODAY, since="2026-01-01").narrows
