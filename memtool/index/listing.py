"""Lists without words: all that a filter leaves, newest first, in pages; and the nearest name to an unknown one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.search import Hit
from memtool.vault.fact_rules import CATEGORIES
from memtool.vault.sessions import parse_session

_FIELDS = (
    "c.start_line, c.end_line, c.heading, c.text, c.kind, c.project, c.date, c.category, c.fact_id, c.author,"
    " n.ref AS path, n.title"
)
_DAY = "iif(c.date <> '', c.date, date(n.mtime_ns / 1000000000, 'unixepoch', 'localtime'))"


class Page(NamedTuple):
    """Some of the notes and facts that a filter leaves, newest first, and how many there are in all."""

    hits: tuple[Hit, ...]
    total: int


def newest(index: Index, wanted: Filter, *, limit: int, page: int = 1) -> Page:
    """Return page number *page*, of *limit* notes and facts, of what *wanted* leaves. A note is listed once."""
    where, values = wanted.where()
    chunks = f"FROM chunk AS c JOIN note AS n ON n.id = c.note_id WHERE {where} GROUP BY c.note_id, c.fact_id"
    total = index.db.execute(f"SELECT count(*) FROM (SELECT 1 {chunks})", values).fetchone()[0]
    cursor = index.db.execute(
        f"SELECT {_FIELDS}, min(c.id) {chunks} ORDER BY {_DAY} DESC, n.mtime_ns DESC, n.ref, c.id LIMIT ? OFFSET ?",
        [*values, limit, limit * (page - 1)],
    )
    names = [column[0] for column in cursor.description[:-1]]
    rows = (dict(zip(names, row, strict=False)) for row in cursor)
    return Page(tuple(Hit(score=0.0, told=_told(row, wanted), **row) for row in rows), int(total))


def unknown_names(index: Index, wanted: Filter) -> Iterator[str]:
    """Give a sentence for each project and category of *wanted* that no note bears, with the nearest that one does."""
    for column, names in (("project", wanted.projects), ("category", wanted.categories)):
        rows = index.db.execute(f"SELECT DISTINCT {column} FROM chunk WHERE {column} <> ''") if names else ()
        known = {row[0].casefold(): row[0] for row in rows}
        for name in names:
            if name.casefold() not in known:
                from difflib import get_close_matches  # takes milliseconds, and mostly there is nothing to say

                names_there_are = [*known, *(CATEGORIES if column == "category" else ())]
                near = [known.get(each, each) for each in get_close_matches(name.casefold(), names_there_are, 1)]
                told = f"did you mean '{near[0]}'?" if near else f"there are {_listed(known.values())}"
                yield f"no note has the {column} '{name}'; {told if known else 'none has any'}"


def _told(row: dict[str, str], wanted: Filter) -> str:
    """Return the decisions in a session's chunk, if it is they that are asked for: then the list shows them."""
    asked = {*wanted.kinds, *wanted.categories}
    said = parse_session(row["text"]).decisions if row["kind"] == "session" and "decision" in asked else ()
    return " ".join(said)


def _listed(names: object) -> str:
    some = sorted(islice(iter(names), 9))  # type: ignore[call-overload]
    return ", ".join(map(str, some))
