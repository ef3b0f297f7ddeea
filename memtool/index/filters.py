"""Filters: which chunks a search may give back, as values and as SQL."""

from __future__ import annotations

import datetime as dt
import re
from typing import NamedTuple

from memtool.errors import UsageError
from memtool.text.languages import words
from memtool.text.tokens import fold

DECISION = "decision"  # a kind, a category, and the tag of a session's chunk that holds one

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class Filter(NamedTuple):
    """The part of the vault to search in. Superseded, archived and expired things are out unless asked for.

    *since* and *until* are ISO dates, both inclusive; notes without a date match neither. With *status*, what bears it
    is wanted and nothing else; `archived` takes in what lies in the archive.
    """

    today: dt.date
    kinds: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    archived: bool = False
    everything: bool = False
    status: str = ""

    @property
    def narrows(self) -> bool:
        """Whether the user asked for a part of the vault, so that most chunks may be out."""
        return bool(self.kinds or self.projects or self.categories or self.tags or self.since or self.until)

    def where(self) -> tuple[str, list[object]]:
        """Return the condition on a row `c` of the table `chunk`, and its parameters."""
        parts: list[str] = []
        values: list[object] = []
        for column, wanted in (("kind", self.kinds), ("project", self.projects), ("category", self.categories)):
            if wanted:
                condition = f"lower(c.{column}) IN ({', '.join(['lower(?)'] * len(wanted))})"
                values += map(_speakable, wanted)
                if column != "project" and DECISION in map(str.casefold, wanted):  # a session's note holds some, too
                    condition = f"({condition} OR (c.kind = 'session' AND instr(c.tags, ' {DECISION} ')))"
                parts.append(condition)
        for tag in self.tags:
            parts.append("(instr(c.tags, ?) OR instr(c.tags, ?))")  # `project` finds `project/web` as well
            values += [f" {folded_tag(_speakable(tag).lstrip('#'))}{end}" for end in (" ", "/")]
        if self.since:
            parts.append("c.date >= ?")
            values.append(self.since)
        if self.until:
            parts.append("c.date <> '' AND c.date <= ?")
            values.append(self.until)
        return " AND ".join([*parts, *self._living(values)]) or "1", values

    def _living(self, values: list[object]) -> list[str]:
        if self.status:
            values.append(self.status)
            return ["(c.status = ? OR c.archived)" if self.status == "archived" else "c.status = ?"]
        if self.everything:
            return []
        values.append(self.today.isoformat())
        living = ["(c.expires = '' OR c.expires >= ?)"]
        if self.archived:
            return [*living, "c.status <> 'superseded'"]
        return [*living, "c.status NOT IN ('superseded', 'archived')", "NOT c.archived"]


def folded_tag(tag: str) -> str:
    """Return *tag* as the index holds it: without differences of case, a dash for each space."""
    return "-".join(fold(tag).split())


def parse_day(text: str, today: dt.date, *, end: bool = False) -> str:
    """Return the ISO date that *text* names: `2026-02-10`, `2026-02`, `2026`, `7d`, `2w`, `today`, `yesterday`.

    A month or a year stands for its first day, or with *end* for its last.

    Raises:
        UsageError: the text is no date, or one that the calendar does not have.
    """
    word = text.strip().lower()
    if word in (*words("today"), *words("yesterday")):
        return (today - dt.timedelta(days=word in words("yesterday"))).isoformat()
    relative = re.fullmatch(r"(\d{1,4})\s*([dwmy])", word)
    if relative:
        days = int(relative[1]) * _DAYS[relative[2]]
        return (today - dt.timedelta(days=min(days, today.toordinal() - 1))).isoformat()
    match = re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", word)
    if not match:
        raise UsageError(f"'{text}' is not a date", hint="Write 2026-02-10, 2026-02, 2026, 7d, 2w, today or yesterday.")
    year, month, day = (int(group) if group else None for group in match.groups())
    try:
        return _edge(year or 0, month, day, end=end).isoformat()
    except (ValueError, OverflowError):
        raise UsageError(f"the calendar has no '{text}'", hint="Write a date such as 2026-02-10.") from None


def _edge(year: int, month: int | None, day: int | None, *, end: bool) -> dt.date:
    from calendar import monthrange

    if month is None:
        month = 12 if end else 1
    if day is None:
        day = monthrange(year, month)[1] if end else 1
    return dt.date(year, month, day)


def _speakable(value: str) -> str:
    """Return *value* without lone surrogates, which a command line can hold and SQLite cannot."""
    return value.encode("utf-8", "replace").decode("utf-8")
