"""Filters: which chunks a search may give back, as values and as SQL; and whose may surface unasked.

What belongs to a project stays there. What belongs to none is everybody's, and another project's is only for who asks
for it, by an option or by its name (`reach`): search, prompts, routes and the interfaces for agents all ask here.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal, TypeAlias

from memtool.errors import UsageError
from memtool.named_tuple import NamedTuple
from memtool.text.lines import without_surrogates
from memtool.text.tokens import fold, index_terms, is_stop_word

DECISION = "decision"  # a kind, a category, and the tag of a session's chunk that holds one
SHIPPED = ("CLAUDE.md", "MEMORY.md", "rules/memory-loader.md")  # notes that `memtool init` makes

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


Transcripts: TypeAlias = Literal["auto", "only", "no"]


class Filter(NamedTuple):
    """The part of the vault to search in. Superseded, archived and expired things are out unless asked for.

    *today* may be the moment of asking: then the hour at which something expires counts, too.
    *since* and *until* are ISO dates, both inclusive; notes without a date match neither. With *status*, what bears it
    is wanted and nothing else; `archived` takes in what lies in the archive. *transcripts* are the kept turns of the
    sessions whose notes are wanted: searched where no note answers (`auto`), alone (`only`), or not at all.
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
    transcripts: Transcripts = "no"

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
                condition = f"lower(c.{column}) IN ({', '.join('?' * len(wanted))})"
                values += map(_as_lower_does, wanted)
                if column != "project" and DECISION in map(str.casefold, wanted):  # a session's note holds some, too
                    condition = f"({condition} OR (c.kind = 'session' AND instr(c.tags, ' {DECISION} ') > 0))"
                parts.append(condition)
        for tag in self.tags:
            parts.append("(instr(c.tags, ?) > 0 OR instr(c.tags, ?) > 0)")  # `project` finds `project/web` as well
            values += [f" {folded_tag(without_surrogates(tag).lstrip('#'))}{end}" for end in (" ", "/")]
        if self.since:
            parts.append("c.date >= ?")
            values.append(self.since)
        if self.until:
            parts.append("c.date <> '' AND c.date <= ?")
            values.append(self.until)
        return " AND ".join([*parts, *self._living(values)]) or "1 = 1", values

    def _living(self, values: list[object]) -> list[str]:
        if self.status:
            values.append(self.status)
            return ["(c.status = ? OR c.archived)" if self.status == "archived" else "c.status = ?"]
        if self.everything:
            return []
        moment = self.today.astimezone(dt.UTC) if isinstance(self.today, dt.datetime) else self.today
        values += [self.today.isoformat()[:10], moment.isoformat()]
        living = ["(c.expires = '' OR CASE WHEN length(c.expires) = 10 THEN c.expires >= ? ELSE c.expires > ? END)"]
        if self.archived:
            return [*living, "c.status <> 'superseded'"]
        return [*living, "c.status NOT IN ('superseded', 'archived')", "NOT c.archived"]


def folded_tag(tag: str) -> str:
    """Return *tag* as the index holds it: without differences of case, a dash for each space."""
    return "-".join(fold(tag).split())


def only_time(text: str, wanted: Filter) -> tuple[str, Filter]:
    """Return *text* and *wanted*; where the text only names a time ("what did we do last week"), that as a filter."""
    from memtool.index.times import spoken_times  # a prompt does without

    spoken = spoken_times(text, wanted.today)
    if len(spoken.spans) != 1 or not all(map(is_stop_word, index_terms(spoken.rest))):
        return text, wanted
    since, until = spoken.spans[0]
    return "", wanted._replace(since=max(since, wanted.since), until=min(until, wanted.until or until))


def parse_day(text: str, today: dt.date, *, end: bool = False) -> str:
    """Return the ISO date that *text* names: `2026-02-10`, `2026-02`, `2026`, `7d`, `2w`, `yesterday`, `last month`.

    Of a month, a week or a year it is the first day, or with *end* the last.

    Raises:
        UsageError: the text is no date, or one that the calendar does not have.
    """
    from calendar import monthrange

    from memtool.index.times import span_of

    word = text.strip().lower()
    if span := span_of(word, today):
        return span.until if end else span.since
    if relative := re.fullmatch(r"(\d{1,4})\s*([dwmy])", word):
        days = int(relative[1]) * _DAYS[relative[2]]
        return (today - dt.timedelta(days=min(days, today.toordinal() - 1))).isoformat()
    match = re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", word)
    if not match:
        raise UsageError(f"'{text}' is not a date", hint="Write 2026-02-10, 2026-02, 7d, 2w, yesterday, last month.")
    try:
        year, month = int(match[1]), int(match[2] or (12 if end else 1))
        return dt.date(year, month, int(match[3] or (monthrange(year, month)[1] if end else 1))).isoformat()
    except (ValueError, OverflowError):
        raise UsageError(f"the calendar has no '{text}'", hint="Write a date such as 2026-02-10.") from None


def _as_lower_does(name: str) -> str:
    """Return *name* with letters of ASCII in lower case, as SQLite has them."""
    return without_surrogates(name).encode().lower().decode()
