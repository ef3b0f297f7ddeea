"""The feed of the page: all entries, newest first, one part at a time, or those that match a filter or a search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import quote, urlencode

from pydantic import BaseModel, Field

from memtool.errors import MemtoolError, UsageError
from memtool.index.engine import place_of, use_index
from memtool.index.reach import projects_in
from memtool.index.search import snippet_of
from memtool.memory.event_log import GIVEN, prompts_given
from memtool.memory.memories import list_memories
from memtool.memory.timeline import DAY, EDIT, UNTIMED, timeline, when
from memtool.vault.files import read_head
from memtool.vault.memory import FACT, SESSION, Found, Memory
from memtool.vault.note import Note, parse_note
from memtool.web.calls import Day, Name, Words
from memtool.web.request_search import SearchAsked, filter_of, search_vault
from memtool.workspace import Workspace

CARDS = 30  # of one part of the feed
_LAST = "24:01"  # behind all minutes of a day, and behind what has none
_FIRST_TIME, _LAST_TIME = ("", ""), ("9999", "")


class FeedQuery(BaseModel):
    """The part of the memory that the page shows: the query of its address. *cursor* is where the part before ended.

    It is `day_offset` in a list or among prompts, and `day_minute_shown` (`-` without a minute) among events.
    """

    q: Words = ""
    project: Name = ""
    kind: Name = ""
    category: Name = ""
    since: Day = ""
    until: Day = ""
    cursor: str = Field(default="", pattern=r"^(|[0-9-]{0,10}_([0-9]{2}:[0-9]{2}_|-_)?[0-9]{1,9})$")

    def query(self, **changes: str) -> str:
        """Return it as the query of an address, with *changes*."""
        return urlencode({name: value for name, value in {**self.model_dump(), **changes}.items() if value})

    @property
    def day(self) -> str:
        """The day on which the part before has ended; empty for the first part."""
        return self.cursor.partition("_")[0]

    def holds(self, project: str, date: str) -> bool:
        """Return whether something of a *project* and a *date* is wanted."""
        is_of_project = not self.project or project.casefold() == self.project.casefold()
        return is_of_project and date >= self.since and (not self.until or date <= self.until)


class Card(NamedTuple):
    """One entry of the feed.

    Args:
        memory: a note, a fact, an edit, or a prompt (`memtool.memory.event_log.event_of`).
        href: where it is read.
        pieces: its text, cut into pieces that match the search and pieces that do not.
        title, summary: of a note.
        given: of a prompt, how many lines it was given.
    """

    memory: Memory
    href: str
    pieces: tuple[tuple[str, bool], ...]
    title: str = ""
    summary: str = ""
    given: int = 0


class Part(NamedTuple):
    """Some cards, where the next ones begin (empty: there are none), and what the reader should know."""

    cards: tuple[Card, ...]
    cursor: str = ""
    notices: tuple[str, ...] = ()


def read_part(work: Workspace, wanted: FeedQuery) -> Part:
    """Return the part of the feed that is *wanted*.

    Raises:
        MemtoolError: the vault or its index cannot be read, or a filter is none.
    """
    if wanted.q.strip():
        return _searched(work, wanted)
    if wanted.kind == GIVEN:
        return _prompts(work, wanted)
    if wanted.category or wanted.kind not in ("", EDIT):
        return _listed(work, wanted)
    return _happened(work, wanted)


def read_projects(work: Workspace) -> list[str]:
    """Return the names of the projects that the vault knows."""
    return use_index(place_of(work)._replace(is_followed=True), lambda index: projects_in(index.db))


def _asked(wanted: FeedQuery) -> SearchAsked:
    return SearchAsked(
        query=wanted.q,
        limit=CARDS,
        project=wanted.project or None,
        kind=wanted.kind if wanted.kind != EDIT else DAY,
        category=wanted.category,
        since=wanted.since,
        until=wanted.until,
        transcripts="no",
    )


def _searched(work: Workspace, wanted: FeedQuery) -> Part:
    try:
        found = search_vault(work, _asked(wanted))
    except UsageError as error:
        return Part((), notices=(str(error),))
    return Part(tuple(map(_card_of_hit, found.hits)), notices=found.notices)


def _listed(work: Workspace, wanted: FeedQuery) -> Part:
    offset = int(wanted.cursor.rpartition("_")[2] or 0)
    listing = list_memories(work, filter_of(work, _asked(wanted)), limit=CARDS, offset=offset)
    more = offset + CARDS < listing.total
    cursor = f"{listing.hits[-1].memory.date}_{offset + CARDS}" if more else ""
    return Part(tuple(map(_card_of_hit, listing.hits)), cursor)


def _prompts(work: Workspace, wanted: FeedQuery) -> Part:
    offset = int(wanted.cursor.rpartition("_")[2] or 0)
    found = [each for each in prompts_given(work) if wanted.holds(each.project, each.day)]
    shown = found[offset : offset + CARDS]
    more = offset + CARDS < len(found)
    return Part(tuple(map(_card_of_prompt, shown)), f"{shown[-1].day}_{offset + CARDS}" if more else "")


def _happened(work: Workspace, wanted: FeedQuery) -> Part:
    events: list[Memory] = []
    cursor = wanted.cursor
    for _ in range(3):  # where little is wanted, the next part goes on
        found, cursor = _older(work, wanted, cursor)
        events += (
            event for event in found if wanted.kind in ("", event.kind) and wanted.holds(event.project, event.day)
        )
        if len(events) >= CARDS or not cursor:
            break
    cards = [(when(event)[:2], _card_of_event(work, event)) for event in events]
    if not wanted.kind:
        newest = _moment(wanted.cursor) if wanted.cursor else _LAST_TIME
        oldest = _moment(cursor) if cursor else _FIRST_TIME
        cards += (
            ((each.day, each.minute), _card_of_prompt(each))
            for each in prompts_given(work)
            if oldest <= (each.day, each.minute) < newest and wanted.holds(each.project, each.day)
        )
        cards.sort(key=lambda pair: pair[0], reverse=True)
    return Part(tuple(card for _, card in cards), cursor)


def _moment(cursor: str) -> tuple[str, str]:
    """Return the place in time of the last event before *cursor*."""
    date, minute = (*cursor.split("_"), "-")[:2]
    return date, UNTIMED if minute == "-" else minute


def _older(work: Workspace, wanted: FeedQuery, cursor: str) -> tuple[list[Memory], str]:
    """Return the events before *cursor*, newest first, and where the ones before them begin."""
    date, minute, shown = (*cursor.split("_"), "", "", "")[:3]
    skip = int(shown) if shown.isdecimal() else 0
    projects = (wanted.project, "") if wanted.project else ()  # the note of a day tells of all projects
    kinds = (DAY,) if wanted.kind == EDIT else ()
    asked = f"{date} {_behind(minute)}" if date else f"{wanted.until} {_LAST}" if wanted.until else ""
    found = use_index(
        place_of(work)._replace(is_followed=bool(cursor)),  # who reads on has just had the vault looked at
        lambda index: timeline(work, index, asked, projects=projects, kinds=kinds, before=CARDS + skip, after=0),
    )
    events = list(reversed(found.events))[skip:]
    if not events or not found.earlier or events[-1].day < wanted.since:
        return events, ""
    last = events[-1]
    same = sum(when(event)[:2] == when(last)[:2] for event in events)
    before = skip if (date, minute) == (last.day, last.minute or "-") else 0
    return events, f"{last.day}_{last.minute or '-'}_{same + before}"


def _behind(minute: str) -> str:
    """Return the time right behind *minute*; it need not be one that a clock shows."""
    return _LAST if minute in ("", "-") else f"{minute[:3]}{int(minute[3:]) + 1:02d}"


def _card_of_event(work: Workspace, event: Memory) -> Card:
    is_note = event.kind not in (FACT, EDIT) and ":" not in event.id
    summary = _summary(work, event.path, event.kind) if is_note else ""
    summary = "" if summary.casefold() == event.text.casefold() else summary
    address = _address(event.id if event.kind == FACT else event.path)
    return Card(event, address, ((event.text, False),), summary=summary)


def _summary(work: Workspace, ref: str, event_kind: str) -> str:
    with suppress(OSError, MemtoolError):
        note = parse_note(ref, read_head(work.vault.path(ref), 8_192))
        if isinstance(note, Note):
            return note.field("summary") if event_kind == SESSION else note.summary
    return ""


def _card_of_prompt(prompt: Memory) -> Card:
    session, _, turn = prompt.id.rpartition("#")
    address = f"/given/{quote(session)}/{turn}"
    return Card(prompt, address, ((prompt.text or "…", False),), given=prompt.place.start_line)


def _card_of_hit(hit: Found) -> Card:
    memory, shown = hit.memory, snippet_of(hit)
    title = "" if memory.fact_id else memory.title
    return Card(memory, _address(memory.id), tuple(_pieces(shown.text, shown.marks)), title)


def _address(memory_id: str) -> str:
    return f"/read/{quote(memory_id)}"


def _pieces(text: str, marks: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, bool]]:
    seen = 0
    for start, end in marks:
        if start > seen:
            yield text[seen:start], False
        yield text[max(start, seen) : end], True
        seen = max(seen, end)
    if text[seen:]:
        yield text[seen:], False
