"""The figures of the page, as columns of charts: contents of a week, given memories, growth of a project."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memtool.consolidate.week import Week, week_of
from memtool.index.engine import Index, place_of, use_index
from memtool.index.lookup import find_fact
from memtool.memory import limits as memory_limits
from memtool.memory.event_log import prompts_given
from memtool.memory.timeline import events_on
from memtool.recall.given import read_givings, sessions_given
from memtool.recall.ledger import ledger_folder
from memtool.recall.uses import Sums, fates_between, sums_of
from memtool.workspace import Workspace

HELD = ("session", "decision", "fact", "note", "edit")
GIVEN = ("given", "nothing")
HEIGHT = 120  # of a chart

_SERIES = {"session": "session", "decision": "decision", "change": "decision", "fact": "fact", "edit": "edit"}


class Column(NamedTuple):
    """One column of a chart: its day or week, what it *counts*, and its pieces as (series, y, height), bottom first."""

    label: str
    counts: Mapping[str, int]
    pieces: tuple[tuple[str, float, float], ...]


class WeekFigures(NamedTuple):
    """The figures of a week. *projects* are those in which most happened, with their counts."""

    columns: tuple[Column, ...]
    totals: Mapping[str, int]
    projects: tuple[tuple[str, int], ...]


class GivenInWeek(NamedTuple):
    """Memories that prompts received in a week: columns by day, sums, and the use of all lines.

    *most* are the most frequent lines, each with the id of its memory and its count.
    """

    columns: tuple[Column, ...]
    prompts: int
    lines: int
    most: tuple[tuple[str, str, int], ...]
    sums: Sums | None = None


def columns_of(rows: Sequence[tuple[str, Mapping[str, int]]], series: Sequence[str]) -> tuple[Column, ...]:
    """Return a column for each of *rows*, which are labels with counts by series. Pure."""
    highest = max((sum(counts.values()) for _, counts in rows), default=0) or 1

    def pieces(counts: Mapping[str, int]) -> Iterator[tuple[str, float, float]]:
        y = float(HEIGHT)
        for name in series:
            if counts.get(name):
                height = HEIGHT * counts[name] / highest
                y -= height
                yield name, round(y, 1), round(height, 1)

    return tuple(Column(label, counts, tuple(pieces(counts))) for label, counts in rows)


def held_in(work: Workspace, week: Week) -> WeekFigures:
    """Return the figures of a week.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    events = use_index(place_of(work), lambda index: events_on(work, index, week.days()))
    counts: dict[str, Counter[str]] = {day.isoformat(): Counter() for day in week.days()}
    for event in events:
        counts[event.day][_SERIES.get(event.kind, "note")] += 1
    projects = Counter(event.project for event in events if event.project)
    return WeekFigures(
        columns_of(list(counts.items()), HELD), sum(counts.values(), Counter()), tuple(projects.most_common(8))
    )


def given_in(work: Workspace, week: Week) -> GivenInWeek:
    """Return the memories that prompts received in a week, as far as records are kept.

    Raises:
        MemtoolError: the index cannot be read.
    """
    prompts = [each for each in prompts_given(work) if week.holds(each.day)]
    counts: dict[str, Counter[str]] = {day.isoformat(): Counter() for day in week.days()}
    for each in prompts:
        counts[each.day]["given" if each.place.start_line else "nothing"] += 1
    folder = ledger_folder(work)
    times = Counter(
        (line.fact_id, line.ref, line.text)
        for session in sessions_given(folder)
        for giving in read_givings(folder, session)
        if week.holds(giving.at)
        for line in giving.lines
    )

    def most(index: Index) -> Iterator[tuple[str, str, int]]:
        for (fact_id, ref, text), count in times.most_common(6):
            fact = find_fact(index.db, fact_id) if fact_id else None
            shown = fact.text.split("\n", 1)[0] if fact else text or ref
            yield shown, fact_id if fact else ref, count

    given = use_index(place_of(work)._replace(is_followed=True), lambda index: tuple(most(index))) if times else ()
    columns = columns_of(list(counts.items()), GIVEN)
    sums = sums_of(fates_between(work.index_folder, week.first.isoformat(), week.last.isoformat()))
    return GivenInWeek(columns, len(prompts), sum(each.place.start_line for each in prompts), given, sums)


def totals(work: Workspace) -> dict[str, int]:
    """Return the number of sessions, decisions, facts, other notes and projects in the vault, as far as it is indexed.

    Raises:
        Unbuilt: there is no index yet, and building one takes too long for a page.
        MemtoolError: the vault or its index cannot be read.
    """
    query = (
        "SELECT kind, count(DISTINCT note_id), count(DISTINCT fact_id), count(DISTINCT project) FROM chunk"
        " WHERE status <> 'superseded' GROUP BY kind"
    )
    projects = "SELECT count(DISTINCT project) FROM chunk WHERE project <> ''"

    def look(index: Index) -> dict[str, int]:
        found = {kind: (notes, facts) for kind, notes, facts, _ in index.db.execute(query)}
        notes = {kind: counted[0] for kind, counted in found.items()}
        others = sum(count for kind, count in notes.items() if kind not in ("session", "decision", "fact", "daily"))
        return {
            "session": notes.get("session", 0), "decision": notes.get("decision", 0),
            "fact": found.get("fact", (0, 0))[1], "note": others,
            "project": index.db.execute(projects).fetchone()[0],
        }  # fmt: skip

    return use_index(place_of(work)._replace(is_followed=True, at_once=memory_limits.FILES_AT_ONCE), look)


def growth_of(work: Workspace, project: str) -> tuple[Column, ...]:
    """Return the number of entries of a *project* in each week since its first, without edits.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    query = (
        "SELECT date, kind, count(DISTINCT note_id || fact_id) FROM chunk"
        " WHERE project = ? AND date <> '' AND kind IN ('session', 'decision', 'change', 'fact', 'knowledge')"
        " GROUP BY date, kind"
    )
    rows = use_index(place_of(work), lambda index: index.db.execute(query, (project,)).fetchall())
    counts: dict[str, Counter[str]] = {}
    for date, kind, count in rows:
        counts.setdefault(week_of(dt.date.fromisoformat(date)).first.isoformat(), Counter())[
            _SERIES.get(kind, "note")
        ] += count
    return columns_of([(monday, counts.get(monday, {})) for monday in _mondays(sorted(counts))], HELD)


def _mondays(known: Sequence[str]) -> list[str]:
    """Return all Mondays from the first to the last of those *known*; of very many, the last ones."""
    if not known:
        return []
    last = dt.date.fromisoformat(known[-1])
    weeks = min(104, (last - dt.date.fromisoformat(known[0])).days // 7 + 1)
    return [(last - dt.timedelta(weeks=before)).isoformat() for before in range(weeks - 1, -1, -1)]
