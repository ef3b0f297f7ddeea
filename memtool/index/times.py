"""Times as people name them beside a calendar: "last week", "yesterday", 上周三, "3 days ago", in every language.

A library that parses dates in many languages would be many times the size of memtool's index and takes longer to
import than a search; and none gives a week or a month as the days from its first to its last.
"""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from functools import cache
from itertools import chain, groupby, product
from typing import TYPE_CHECKING

from memtool.named_tuple import NamedTuple
from memtool.text.languages import ENGLISH, languages, listed, text_of, words
from memtool.text.scripts import CJK_ON, is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator


_HAN = "一二三四五六七八九"
_HAN_MONTH = f"(?:十[一二]?|[{_HAN}])(?=月)"


def parse_date(text: str) -> dt.date | None:
    """Return the first date in the form YYYY-MM-DD in *text*, if there is one and the calendar has it."""
    match = re.search(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)", text)
    try:
        return dt.date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def date_words(date: dt.date) -> str:
    """Return the ways in which people write *date*, to be indexed with what was written on it."""
    month = listed("months", ENGLISH)[date.month - 1].capitalize()
    return (
        f"{date.isoformat()} {date.day} {month} {date.year} {date.isoformat()[:7]} "
        f"{date.month}月{date.day}日 {date.year}年{date.month}月"
    )


def asked_dates(query: str) -> list[re.Pattern[str]]:
    """Return patterns that the ISO dates *query* speaks of match: of a day, a month, or a day of any year."""
    if not _may_name_a_date(query):
        return []  # most questions; compiling the forms takes longer than a search
    query = re.sub(_HAN_MONTH, _in_digits, query)
    asked = {_iso_pattern(match.groupdict()) for form in _forms() for match in re.finditer(form, query, re.IGNORECASE)}
    return [re.compile(pattern) for pattern in sorted(asked - {""})]


def is_date(text: str) -> re.Pattern[str] | None:
    """Return the pattern of the ISO dates that *text* is the name of (`8 May`, `in March`, 三月); else None."""
    named = re.sub(_HAN_MONTH, _in_digits, text)
    first, _, rest = named.partition(" ")
    named = rest if first.lower() in words("before_months") else named
    ways = (named, f"{words('before_months')[0]} {named}")
    for form, way in product(_forms()[1:], ways):  # the first is of digits alone
        match = re.fullmatch(form, way, re.IGNORECASE)
        if match and (pattern := _iso_pattern(match.groupdict())):
            return re.compile(pattern)
    return None


def _in_digits(match: re.Match[str]) -> str:
    """Return the number of a month that was written in Han characters."""
    _, ten, ones = match[0].rpartition("十")
    return str((10 if ten else 0) + (_HAN.index(ones) + 1 if ones else 0))


def _may_name_a_date(query: str) -> bool:
    if any(map(str.isdigit, query)) or re.search(_HAN_MONTH, query):
        return True
    # The names of months are spaced; a class that leaves the other characters out would take longer to compile.
    spaced = "".join(char if char < CJK_ON[0] else " " for char in query.lower())
    return not _months().keys().isdisjoint(re.findall(r"[^\W\d_]+", spaced))


def _iso_pattern(date: dict[str, str | None]) -> str:
    name = date.get("month")
    month = _months()[name.lower()] if name else int(date["number"] or 0)
    day = int(date.get("day") or 0)
    if not 1 <= month <= 12 or day > 31:
        return ""
    year = date.get("year")
    form = f"{int(year):04}" if year else "[0-9]{4}"  # the digits may be full-width ones
    return f"{form}-{month:02}-{f'{day:02}' if day else '[0-9]{2}'}"


@cache
def _months() -> dict[str, int]:
    """Return the number of each month by its names, whole and short, in all languages."""
    found: dict[str, int] = {}
    for code in languages():
        whole = listed("months", code)
        found |= {name: number for number, name in enumerate(whole, 1)}
        for short in listed("short_months", code):
            found[short] = next(number for number, name in enumerate(whole, 1) if name.startswith(short[:3]))
    return found


@cache
def _forms() -> tuple[str, ...]:
    """Return how a date is written, with named groups: year, month or number, day."""
    names = "|".join(sorted(_months(), key=len, reverse=True))
    before = "|".join(words("before_months"))
    # A month's name may stand right beside Chinese, where \b sees no border.
    name = rf"(?<![A-Za-z\d_])(?P<month>{names})(?![A-Za-z\d_])"
    return (
        r"(?<!\d)(?P<year>\d{4})[-/.](?P<number>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?(?!\d)",
        rf"(?<![A-Za-z\d_])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{name}\.?(?:,?\s+(?P<year>\d{{4}}))?",
        rf"{name}\.?\s+(?P<day>\d{{1,2}})(?!\d)(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?",
        rf"(?<!\d ){name}\.?,?\s+(?:of\s+)?(?P<year>\d{{4}})(?!\d)",
        rf"\b(?:{before})\s+{name}(?!\.?,?\s+(?:of\s+)?\d)",
        r"(?:(?P<year>\d{4})\s*[年년]\s*)?(?<!\d)(?P<number>\d{1,2})\s*[月월](?:\s*(?P<day>\d{1,2})\s*[日号號일])?",
    )


_ANY_DAY = "[0-9]{2}"
_BETWEEN = r"[\s,的]*(?:on|am|le|el|の)?\s*"  # a week and its day: "last week on Monday", 上周的星期三


class Days(NamedTuple):
    """The days from *since* to *until*, ISO dates, both inclusive."""

    since: str
    until: str


class Spoken(NamedTuple):
    """The times that a text names, and the text without their words."""

    spans: tuple[Days, ...]
    rest: str


def spoken_times(text: str, today: dt.date) -> Spoken:
    """Return the times before *today* that *text* names by words."""
    today = dt.date(today.year, today.month, today.day)  # it may be a moment
    folded = text.casefold()
    if len(folded) != len(text) or not any(phrase in folded for phrase in _beginnings()):
        return Spoken((), text)
    spans: list[Days] = []

    def taken(match: re.Match[str]) -> str:
        with suppress(ValueError, OverflowError):  # before the first year
            spans.append(_span(match, today))
            return " "
        return match[0]

    rest = re.sub(_pattern(), taken, folded)
    return Spoken(tuple(spans), rest if spans else text)


class AskedDays(NamedTuple):
    """The days that a question asks for: patterns of ISO dates, and spans of time."""

    patterns: tuple[re.Pattern[str], ...] = ()
    spans: tuple[Days, ...] = ()

    def nearness(self, date: str) -> float:
        """Return 1 for a *date* that is asked for, 0.4 for one of the three days after a day that is, else 0.

        People often write down later what they did.
        """
        if not date or not (self.patterns or self.spans):  # as most questions ask for none
            return 0.0
        if self._asks(date):
            return 1.0
        with suppress(ValueError, OverflowError):
            day = dt.date.fromisoformat(date[:10])
            if any(self._asks((day - dt.timedelta(back)).isoformat(), is_day=True) for back in (1, 2, 3)):
                return 0.4
        return 0.0

    def _asks(self, date: str, *, is_day: bool = False) -> bool:
        patterns = (each for each in self.patterns if not (is_day and each.pattern.endswith(_ANY_DAY)))
        spans = (each for each in self.spans if not (is_day and each.since != each.until))
        return any(each.fullmatch(date) for each in patterns) or any(each.since <= date <= each.until for each in spans)


def asked_days(text: str, today: dt.date) -> AskedDays:
    """Return the days that *text* asks for."""
    return AskedDays(tuple(asked_dates(text)), spoken_times(text, today).spans)


def span_of(text: str, today: dt.date) -> Days | None:
    """Return the span of time that *text* is the name of, such as `last month`, 上周 or `in March`; else None."""
    spoken = spoken_times(text.strip(), today)
    if len(spoken.spans) == 1 and not spoken.rest.strip():
        return spoken.spans[0]
    named = is_date(text.strip())
    if named and named.pattern[:4].isdecimal():
        today = min(today, dt.date(max(1, int(named.pattern[:4])), 12, 31))
    # In four years each day of a calendar comes at least once.
    days = (today - dt.timedelta(back) for back in range(min(today.toordinal(), 4 * 366)))
    found = [day.isoformat() for day in _run(days, named)] if named else []
    return Days(found[-1], found[0]) if found else None


def _span(match: re.Match[str], today: dt.date) -> Days:
    (unit, back), day = _meaning(match), match["day"]
    if unit == "weekday":
        return _days(today - dt.timedelta(days=(today.weekday() - back) % 7 or 7), 1)
    if unit == "week" and day:
        return _days(_monday(today, back) + dt.timedelta(days=_phrases()[day][1]), 1)
    if unit == "day":
        return _days(today - dt.timedelta(days=back), 1)
    if unit == "week":
        return _days(_monday(today, back), 7)
    months = today.year * 12 + today.month - 1 - back * (12 if unit == "year" else 1)
    first = dt.date(months // 12, 1 if unit == "year" else months % 12 + 1, 1)
    last = first.replace(month=12) if unit == "year" else first
    from calendar import monthrange  # it brings `locale` along, and a prompt seldom names a month

    return Days(first.isoformat(), last.replace(day=monthrange(last.year, last.month)[1]).isoformat())


def _run(days: Iterator[dt.date], named: re.Pattern[str]) -> Iterator[dt.date]:
    """Give the first of *days* that are *named*, side by side."""
    for is_named, some in groupby(days, key=lambda day: bool(named.fullmatch(day.isoformat()))):
        if is_named:
            yield from some
            return


def _meaning(match: re.Match[str]) -> tuple[str, int]:
    if match["said"]:
        return _phrases()[match["said"]]
    at, number = next((name, value) for name, value in match.groupdict().items() if name[0] == "n" and value)
    return list(_counted().values())[int(at[1:])], int(number)


def _days(first: dt.date, count: int) -> Days:
    return Days(first.isoformat(), (first + dt.timedelta(days=count - 1)).isoformat())


def _monday(today: dt.date, back: int) -> dt.date:
    return today - dt.timedelta(days=today.weekday() + 7 * back)


@cache
def _phrases() -> dict[str, tuple[str, int]]:
    """Return the unit that each phrase means, and how many of them back."""
    return {phrase: (unit, int(back)) for unit, back, phrase in _listed() if back}


@cache
def _counted() -> dict[str, str]:
    """Return the unit of each form with a number, such as `{} days ago`."""
    return {phrase: unit for unit, back, phrase in _listed() if not back}


def _listed() -> Iterator[tuple[str, str, str]]:
    for line in text_of("times").splitlines():
        name, is_line, phrases = line.partition(":")
        unit, _, back = name.strip().partition(" ")
        yield from ((unit, back, phrase.strip()) for phrase in phrases.split(",") if is_line)


@cache
def _beginnings() -> tuple[str, ...]:
    """Return what stands in every text that names a time: phrases, and the longest part of a form with a number."""
    return tuple(dict.fromkeys(chain(_alone(), (max(form.split("{}"), key=len) for form in _counted()))))


def _alone() -> Iterator[str]:
    """Give the phrases that name a time by themselves; 三 names a day only right behind 上周."""
    return (phrase for phrase, (unit, _) in _phrases().items() if unit != "behind")


@cache
def _pattern() -> str:
    """Return the pattern of a time. A word of a script with spaces is a whole one."""
    ordered = sorted(_phrases(), key=len, reverse=True)
    said = "|".join(map(_whole, sorted(_alone(), key=len, reverse=True)))
    day = "|".join(_whole(phrase) for phrase in ordered if _phrases()[phrase][0] in ("weekday", "behind"))
    forms = "|".join(_whole(form).replace(r"\{\}", rf"(?P<n{at}>[0-9]{{1,3}})") for at, form in enumerate(_counted()))
    return rf"(?:{forms})|(?P<said>{said})(?:{_BETWEEN}(?P<day>{day}))?"


def _whole(phrase: str) -> str:
    before = "" if is_unspaced(phrase[0]) or phrase[0] == "{" else r"(?<![^\W\d_])"
    after = "" if is_unspaced(phrase[-1]) else r"(?![^\W\d_])"
    return f"{before}{re.escape(phrase)}{after}"
