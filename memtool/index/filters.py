"""Filters: which chunks a search may give back, as values and as SQL; and whose may surface unasked.

What belongs to a project stays there. What belongs to none is everybody's, and another project's is only for who asks
for it, by an option or by its name (`reach`): search, prompts, routes and the interfaces for agents all ask here.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from memtool.errors import UsageError
from memtool.named_tuple import NamedTuple
from memtool.text.lines import without_surrogates
from memtool.text.scripts import is_unspaced
from memtool.text.tokens import fold

if TYPE_CHECKING:
    from memtool.index.tables import Tables

DECISION = "decision"  # a kind, a category, and the tag of a session's chunk that holds one
SHIPPED = ("CLAUDE.md", "MEMORY.md", "rules/memory-loader.md")  # notes that `memtool init` makes

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_SHORTEST_NAME = 3  # characters of a name by which a text asks for a project; two where words have no spaces
# One step of the index for each project: `SELECT DISTINCT` would walk over all chunks.
_PROJECTS = """
WITH RECURSIVE each (name) AS (
    SELECT min(project) FROM chunk
    UNION ALL SELECT (SELECT min(project) FROM chunk WHERE project > name) FROM each WHERE name IS NOT NULL
)
SELECT name FROM each WHERE name <> ''
"""


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


def parse_day(text: str, today: dt.date, *, end: bool = False) -> str:
    """Return the ISO date that *text* names: `2026-02-10`, `2026-02`, `2026`, `7d`, `2w`, `yesterday`, `last month`.

    Of a month, a week or a year it is the first day, or with *end* the last.

    Raises:
        UsageError: the text is no date, or one that the calendar does not have.
    """
    from memtool.index.times import span_of

    word = text.strip().lower()
    if span := span_of(word, today):
        return span.until if end else span.since
    relative = re.fullmatch(r"(\d{1,4})\s*([dwmy])", word)
    if relative:
        days = int(relative[1]) * _DAYS[relative[2]]
        return (today - dt.timedelta(days=min(days, today.toordinal() - 1))).isoformat()
    match = re.fullmatch(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", word)
    if not match:
        raise UsageError(f"'{text}' is not a date", hint="Write 2026-02-10, 2026-02, 7d, 2w, yesterday, last month.")
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


def reach(db: Tables, here: str, text: str = "") -> tuple[str, ...]:
    """Return the projects whose chunks may surface, as a `Filter` takes them: an empty name is that of none.

    Args:
        db: an open index.
        here: the project at hand; without one, everything may surface, and the answer is empty.
        text: what somebody says; it asks for the projects that it names.
    """
    if not here:
        return ()
    others = (name for name in projects_in(db) if name.casefold() != here.casefold()) if text else ()
    return (here, "", *(name for name in others if is_named(name, text)))


def projects_in(db: Tables) -> list[str]:
    """Return the names of the projects that the index *db* holds anything of."""
    return [row[0] for row in db.execute(_PROJECTS)]


def is_named(project: str, text: str) -> bool:
    """Return whether *text* holds the name of *project* as a whole, whatever its case."""
    name, text = fold(project), fold(text)
    at = text.find(name) if len(name) >= _SHORTEST_NAME - any(map(is_unspaced, name)) else -1
    while at >= 0:
        around = (text[at - 1 : at], name[:1]), (text[at + len(name) :][:1], name[-1:])
        if not any(_goes_on(beside, edge) for beside, edge in around):
            return True
        at = text.find(name, at + 1)
    return False


def _goes_on(beside: str, edge: str) -> bool:
    """Return whether a word, or a name with dashes, goes on from *edge* to the character *beside* it."""
    spaced = not is_unspaced(beside) and not is_unspaced(edge) if beside else False
    return spaced and (beside.isalnum() or beside in "_-")


def _as_lower_does(name: str) -> str:
    """Return *name* with letters of ASCII in lower case, as SQLite has them."""
    return without_surrogates(name).encode().lower().decode()
