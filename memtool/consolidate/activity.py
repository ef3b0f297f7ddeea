"""What happened in a week: edits and sessions by day, the files that were edited most, what the sessions were about."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtool.consolidate.sessions import SessionView
from memtool.consolidate.week import Week
from memtool.errors import MemtoolError
from memtool.vault.daily import DailyEntry, parse_daily
from memtool.vault.files import read_text
from memtool.vault.layout import Vault


class Activity(NamedTuple):
    """The figures of a week.

    Args:
        days: edits (a file in a minute) and sessions of each day.
        files: project and path of the files that were edited most, with how often.
        topics: the topics of each project's sessions, with their ids, newest first.
    """

    days: dict[dt.date, tuple[int, int]]
    files: list[tuple[str, str, int]]
    topics: dict[str, list[tuple[str, str]]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not self.topics and not any(edits for edits, _ in self.days.values())


_MOST_FILES = 10


def activity_of(
    week: Week, entries: Mapping[dt.date, Sequence[DailyEntry]], sessions: Iterable[SessionView]
) -> Activity:
    """Return what happened in *week*, from the *entries* of its daily notes and from all *sessions*. Pure."""
    own = [view for view in sessions if week.holds(view.date)]
    days = {
        day: (
            sum(len(entry.files) for entry in entries.get(day, ())),
            sum(view.date[:10] == day.isoformat() for view in own),
        )
        for day in week.days()
    }
    counts = Counter(
        (entry.project, file) for day in week.days() for entry in entries.get(day, ()) for file in entry.files
    )
    files = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_FILES]
    topics: dict[str, list[tuple[str, str]]] = {}
    for view in sorted(own, key=lambda view: (view.project, view.date), reverse=True):
        topics.setdefault(view.project, []).append((view.topic, view.id))
    return Activity(days, [(project, file, count) for (project, file), count in files], dict(sorted(topics.items())))


def read_entries(vault: Vault, days: Iterable[dt.date]) -> dict[dt.date, tuple[DailyEntry, ...]]:
    """Return the edits that the daily notes of *days* tell of; archived ones, too."""
    found = {}
    for day in days:
        for folder in (vault.daily, f"archive/{vault.daily}"):
            with suppress(OSError, MemtoolError):
                found[day] = parse_daily(read_text(vault.path(f"{folder}/{day.isoformat()}.md"))[0])
                break
    return found
