"""A week of ISO 8601, from Monday to Sunday: which days it has, and what happened on them. Pure."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import NamedTuple

from memtool.errors import UsageError


class Week(NamedTuple):
    """A week: `2026-W53` has days of two years."""

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year:04}-W{self.number:02}"

    @property
    def first(self) -> dt.date:
        """Its Monday."""
        return dt.date.fromisocalendar(self.year, self.number, 1)

    @property
    def last(self) -> dt.date:
        """Its Sunday."""
        return dt.date.fromisocalendar(self.year, self.number, 7)

    def days(self) -> Iterator[dt.date]:
        """Give its seven days."""
        return (self.first + dt.timedelta(days=day) for day in range(7))

    def holds(self, day: str) -> bool:
        """Return whether the ISO date *day*, which a time may follow, is one of its days."""
        return self.first.isoformat() <= day[:10] <= self.last.isoformat()


def week_of(day: dt.date) -> Week:
    """Return the week that *day* belongs to."""
    return Week(*day.isocalendar()[:2])


def parse_week(text: str, today: dt.date) -> Week:
    """Return the week that *text* names: `2026-W47`, `this`, or `last` for the one before.

    Raises:
        UsageError: there is no such week, or it has not begun.
    """
    if text in ("this", "last"):
        return week_of(today - dt.timedelta(days=7 if text == "last" else 0))
    match = re.fullmatch(r"(\d{4})-?[wW](\d{1,2})", text.strip())
    try:
        week = week_of(dt.date.fromisocalendar(int(match[1]), int(match[2]), 1)) if match else None
    except ValueError:
        week = None
    if week is None:
        raise UsageError(f"'{text}' is no week", hint="Write it as 2026-W47, or `this` or `last`.")
    if week.first > today:
        raise UsageError(f"the week {week} has not begun")
    return week
