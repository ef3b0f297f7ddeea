"""The feed of the page: what happened, newest first, a part at a time; and what a filter or a search leaves of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlencode

from pydantic import BaseModel, Field

from memtool.consolidate.memories import id_of, list_memories
from memtool.errors import UsageError
from memtool.index.engine import place_of, use_index
from memtool.index.filters import projects_in
from memtool.index.search import Hit
from memtool.recall.timeline import DAY, EDIT, Event, timeline
from memtool.web.calls import LONGEST_NAME, LONGEST_QUERY
from memtool.web.finding import SearchAsked, filter_of, search_vault
from memtool.workspace import Workspace

PART = 30  # cards

_TRIES = 3  # parts of the timeline that are looked through for edits at once; the next part goes on there
_LAST = "24:01"  # behind all minutes of a day, and behind what has none


class Wanted(BaseModel):
    """The part of the memory that the page shows: the query of its address. *cursor* is where the part before ended."""

    q: str = Field(default="", max_length=LONGEST_QUERY)
    project: str = Field(default="", max_length=LONGEST_NAME)
    kind: str = Field(default="", max_length=LONGEST_NAME)
    category: str = Field(default="", max_length=LONGEST_NAME)
    since: str = Field(default="", max_length=LONGEST_NAME)
    cursor: str = Field(default="", max_length=LONGEST_NAME)

    def query(self, **changes: str) -> str:
        """Return it as the query of an address, with *changes*."""
        return urlencode({name: value for name, value in {**self.model_dump(), **changes}.items() if value})


class Card(NamedTuple):
    """One entry of the feed. *pieces* is its text, cut into pieces that match the search and pieces that do not."""

    id: str
    kind: str
    when: str
    project: str
    category: str
    title: str
    pieces: tuple[tuple[str, bool], ...]
    author: str
    status: str
    place: str


class Part(NamedTuple):
    """Some cards, where the next ones begin (empty: there are none), and what the reader should know."""

    cards: tuple[Card, ...]
    cursor: str = ""
    notices: tuple[str, ...] = ()


def read_part(work: Workspace, wanted: Wanted) -> Part:
    """Return the part of the feed that is *wanted*.

    Raises:
        MemtoolError: the vault or its index cannot be read, or a filter is none.
    """
    if wanted.q.strip():
        return _searched(work, wanted)
    if wanted.category or wanted.kind not in ("", EDIT):
        return _listed(work, wanted)
    return _happened(work, wanted)


def read_projects(work: Workspace) -> list[str]:
    """Return the names of the projects that the vault knows."""
    return use_index(place_of(work)._replace(is_followed=True), lambda index: projects_in(index.db))


def _asked(wanted: Wanted) -> SearchAsked:
    return SearchAsked(
        query=wanted.q,
        limit=PART,
        project=wanted.project or None,
        kind=wanted.kind if wanted.kind != EDIT else "daily",
        category=wanted.category,
        since=wanted.since,
    )


def _searched(work: Workspace, wanted: Wanted) -> Part:
    try:
        found = search_vault(work, _asked(wanted))
    except UsageError as error:
        return Part((), notices=(str(error),))
    return Part(tuple(map(_card_of_hit, found.hits)), notices=found.notices)


def _listed(work: Workspace, wanted: Wanted) -> Part:
    offset = int(wanted.cursor) if wanted.cursor.isdecimal() else 0
    listing = list_memories(work, filter_of(work, _asked(wanted)), limit=PART, offset=offset)
    more = offset + PART < listing.total
    return Part(tuple(map(_card_of_hit, listing.hits)), str(offset + PART) if more else "")


def _happened(work: Workspace, wanted: Wanted) -> Part:
    cards: list[Event] = []
    cursor = wanted.cursor
    for _ in range(_TRIES):
        events, cursor = _older(work, wanted, cursor)
        cards += (event for event in events if _is_wanted(event, wanted))
        if len(cards) >= PART or not cursor:
            break
    return Part(tuple(map(_card_of_event, cards)), cursor)


def _is_wanted(event: Event, wanted: Wanted) -> bool:
    is_of_project = not wanted.project or event.project.casefold() == wanted.project.casefold()
    return is_of_project and wanted.kind in ("", event.kind)


def _older(work: Workspace, wanted: Wanted, cursor: str) -> tuple[list[Event], str]:
    """Return the events before *cursor*, newest first, and where the ones before them begin."""
    date, minute, shown = (*cursor.split("_"), "", "", "")[:3]
    skip = int(shown) if shown.isdecimal() else 0
    projects = (wanted.project, "") if wanted.project else ()  # the note of a day tells of all projects
    asked = f"{date} {_behind(minute)}" if date else ""
    kinds = (DAY,) if wanted.kind == EDIT else ()
    found = use_index(
        place_of(work)._replace(is_followed=bool(cursor)),  # who reads on has just had the vault looked at
        lambda index: timeline(work, index, asked, projects=projects, kinds=kinds, before=PART + skip, after=0),
    )
    events = list(reversed(found.events))[skip:]
    kept = [event for event in events if event.date >= wanted.since] if wanted.since else events
    if not events or not found.earlier or len(kept) < len(events):
        return kept, ""
    last = events[-1]
    same = sum(event.when[:2] == last.when[:2] for event in events)
    before = skip if (date, minute) == (last.date, last.minute or "-") else 0
    return kept, f"{last.date}_{last.minute or '-'}_{same + before}"


def _behind(minute: str) -> str:
    """Return the time right behind *minute*; it need not be one that a clock shows."""
    return _LAST if minute in ("", "-") else f"{minute[:3]}{int(minute[3:]) + 1:02d}"


def _card_of_event(event: Event) -> Card:
    return Card(
        event.id if event.kind == "fact" else event.path,
        event.kind,
        f"{event.date} {event.minute}".strip(),
        event.project,
        "",
        "",
        ((event.text, False),),
        event.author,
        event.status,
        f"{event.path}:{event.line}",
    )


def _card_of_hit(hit: Hit) -> Card:
    shown = hit.snippet()
    return Card(
        id_of(hit),
        hit.kind,
        hit.date,
        hit.project,
        hit.category,
        "" if hit.fact_id else hit.title,
        tuple(_pieces(shown.text, shown.marks)),
        hit.author,
        "",
        f"{hit.path}:{hit.start_line}",
    )


def _pieces(text: str, marks: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, bool]]:
    seen = 0
    for start, end in marks:
        if start > seen:
            yield text[seen:start], False
        yield text[max(start, seen) : end], True
        seen = max(seen, end)
    if text[seen:]:
        yield text[seen:], False
