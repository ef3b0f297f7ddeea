"""The feed of the page: the entries that match its filters, newest first, or the hits of a search; page by page."""

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

CARDS = 30  # of a page
_AFTER_LAST = "24:01"  # later than each minute of a day, and than `UNTIMED`


class Cursor(NamedTuple):
    """The end of a page: the day and minute (`-` without one) of its last entry, and how many entries to skip.

    In the timeline, entries of that minute are skipped; in other lists, entries of the whole list.
    """

    day: str = ""
    minute: str = "-"
    skipped: int = 0

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Return the cursor that *text* writes; that of the first page if it is empty."""
        day, minute, skipped = text.split("_") if text else cls()
        return cls(day, minute, int(skipped))

    def __str__(self) -> str:
        return f"{self.day}_{self.minute}_{self.skipped}"

    @property
    def time(self) -> tuple[str, str]:
        """The day and the minute, in the order of `memtool.memory.timeline.when`."""
        return self.day, UNTIMED if self.minute == "-" else self.minute


class FeedQuery(BaseModel):
    """The filters of the page, as its address holds them; *cursor* is the `Cursor` of the previous page."""

    q: Words = ""
    project: Name = ""
    kind: Name = ""
    category: Name = ""
    since: Day = ""
    until: Day = ""
    cursor: str = Field(default="", pattern=r"^([0-9-]{0,10}_([0-9]{2}:[0-9]{2}|-)_[0-9]{1,9})?$")

    def query(self, **changes: str) -> str:
        """Return it as the query of an address, with *changes*."""
        return urlencode({name: value for name, value in {**self.model_dump(), **changes}.items() if value})

    @property
    def day(self) -> str:
        """The day of the last entry of the previous page; empty on the first page."""
        return Cursor.parse(self.cursor).day

    def matches(self, project: str, date: str) -> bool:
        """Return whether an entry of *project* and *date* passes the filters."""
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


class FeedPage(NamedTuple):
    """The cards of a page, the cursor of the next one (empty if this is the last), and notices for the reader."""

    cards: tuple[Card, ...]
    cursor: str = ""
    notices: tuple[str, ...] = ()


def read_projects(work: Workspace) -> list[str]:
    """Return the names of the projects that the vault knows."""
    return use_index(place_of(work)._replace(is_followed=True), lambda index: projects_in(index.db))


def read_feed(work: Workspace, wanted: FeedQuery) -> FeedPage:
    """Return the page of the feed that *wanted* names.

    Raises:
        MemtoolError: the vault or its index cannot be read, or a filter is not valid.
    """
    asked = SearchAsked(
        query=wanted.q, limit=CARDS, project=wanted.project or None, category=wanted.category, since=wanted.since,
        until=wanted.until, kind=DAY if wanted.kind == EDIT else wanted.kind, transcripts="no",
    )  # fmt: skip
    if wanted.q.strip():
        try:
            found = search_vault(work, asked)
        except UsageError as error:
            return FeedPage((), notices=(str(error),))
        return FeedPage(tuple(map(_card_of_hit, found.hits)), notices=found.notices)
    start = Cursor.parse(wanted.cursor).skipped
    if wanted.kind == GIVEN:
        prompts = [each for each in prompts_given(work) if wanted.matches(each.project, each.day)]
        return _list_page(
            [(each.day, _card_of_prompt(each)) for each in prompts[start : start + CARDS]], start, len(prompts)
        )
    if wanted.category or wanted.kind not in ("", EDIT):
        listing = list_memories(work, filter_of(work, asked), limit=CARDS, offset=start)
        return _list_page([(hit.memory.date, _card_of_hit(hit)) for hit in listing.hits], start, listing.total)
    return _timeline_page(work, wanted)


def _list_page(cards: list[tuple[str, Card]], start: int, total: int) -> FeedPage:
    """Return the page with *cards*, each with its day, of a list of *total* entries of which *start* were skipped."""
    end = start + CARDS
    return FeedPage(tuple(card for _, card in cards), str(Cursor(cards[-1][0], skipped=end)) if end < total else "")


def _timeline_page(work: Workspace, wanted: FeedQuery) -> FeedPage:
    events: list[Memory] = []
    newest: Cursor | None = Cursor.parse(wanted.cursor) if wanted.cursor else None
    oldest = newest
    for _ in range(3):  # filters may leave few of the first events
        found, oldest = _events_before(work, wanted, oldest)
        events += (one for one in found if wanted.kind in ("", one.kind) and wanted.matches(one.project, one.day))
        if len(events) >= CARDS or not oldest:
            break
    cards = [(when(event)[:2], _card_of_event(work, event)) for event in events]
    if not wanted.kind:
        cards += (
            ((each.day, each.minute), _card_of_prompt(each))
            for each in prompts_given(work)
            if (oldest.time if oldest else ("", ""))
            <= (each.day, each.minute)
            < (newest.time if newest else ("9999", ""))
            and wanted.matches(each.project, each.day)
        )
        cards.sort(key=lambda pair: pair[0], reverse=True)
    return FeedPage(tuple(card for _, card in cards), str(oldest or ""))


def _events_before(work: Workspace, wanted: FeedQuery, cursor: Cursor | None) -> tuple[list[Memory], Cursor | None]:
    """Return the events before *cursor*, newest first, and the cursor of those before them, if there are any."""
    projects = (wanted.project, "") if wanted.project else ()  # the note of a day is about all projects
    kinds = (DAY,) if wanted.kind == EDIT else ()
    around = f"{wanted.until} {_AFTER_LAST}" if wanted.until else ""
    if cursor:  # the timeline shows what is before a time, so a minute later also shows the rest of that minute
        hour, _, minute = cursor.minute.partition(":")
        around = f"{cursor.day} {f'{hour}:{int(minute) + 1:02d}' if minute else _AFTER_LAST}"
    skipped = cursor.skipped if cursor else 0
    found = use_index(
        place_of(work)._replace(is_followed=bool(cursor)),  # the index was refreshed for the first page
        lambda index: timeline(work, index, around, projects=projects, kinds=kinds, before=CARDS + skipped, after=0),
    )
    events = list(reversed(found.events))[skipped:]
    if not events or not found.earlier or events[-1].day < wanted.since:
        return events, None
    last = events[-1]
    same = sum(when(event)[:2] == when(last)[:2] for event in events)
    is_same_minute = cursor and (cursor.day, cursor.minute) == (last.day, last.minute or "-")
    return events, Cursor(last.day, last.minute or "-", same + (skipped if is_same_minute else 0))


def _card_of_event(work: Workspace, event: Memory) -> Card:
    is_note = event.kind not in (FACT, EDIT) and ":" not in event.id
    summary = _summary(work, event.path, event.kind) if is_note else ""
    summary = "" if summary.casefold() == event.text.casefold() else summary
    address = f"/read/{quote(event.id if event.kind == FACT else event.path)}"
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
    return Card(memory, f"/read/{quote(memory.id)}", tuple(_pieces(shown.text, shown.marks)), title)


def _pieces(text: str, marks: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, bool]]:
    seen = 0
    for start, end in marks:
        if start > seen:
            yield text[seen:start], False
        yield text[max(start, seen) : end], True
        seen = max(seen, end)
    if text[seen:]:
        yield text[seen:], False
