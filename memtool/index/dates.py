"""Dates: the words a date is asked for by, and the dates that a question names."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache
from itertools import product

from memtool.text.languages import ENGLISH, languages, listed, words
from memtool.text.scripts import CJK_ON

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
    query = re.sub(_HAN_MONTH, lambda match: str(_han_number(match[0])), query)
    asked = {_iso_pattern(match.groupdict()) for form in _forms() for match in re.finditer(form, query, re.IGNORECASE)}
    return [re.compile(pattern) for pattern in sorted(asked - {""})]


def is_date(text: str) -> re.Pattern[str] | None:
    """Return the pattern of the ISO dates that *text* is the name of (`8 May`, `in March`, 三月); else None."""
    named = re.sub(_HAN_MONTH, lambda match: str(_han_number(match[0])), text)
    first, _, rest = named.partition(" ")
    named = rest if first.lower() in words("before_months") else named
    ways = (named, f"{words('before_months')[0]} {named}")
    for form, way in product(_forms()[1:], ways):  # the first is of digits alone
        match = re.fullmatch(form, way, re.IGNORECASE)
        if match and (pattern := _iso_pattern(match.groupdict())):
            return re.compile(pattern)
    return None


def _han_number(text: str) -> int:
    _, ten, ones = text.rpartition("十")
    return (10 if ten else 0) + (_HAN.index(ones) + 1 if ones else 0)


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
