"""The timeline: what happened around an anchor, in order.

Sessions with their decisions, edits, facts and dated notes. The index knows the days; the minutes are read
from the files of those days.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.index.engine import Index
from memtool.index.filters import Filter, parse_day
from memtool.index.lookup import find_fact, find_ref
from memtool.index.search import search
from memtool.text.lines import one_line
from memtool.text.tokens import index_terms
from memtool.vault.daily import listed_entries, listed_sessions
from memtool.vault.facts import parse_facts
from memtool.vault.files import read_head
from memtool.vault.layout import session_name
from memtool.vault.memory import DECISION, FACT, PAGES, SESSION, Location, Memory
from memtool.vault.sessions import SessionNote, lines_of, parse_session
from memtool.workspace import Workspace

EDIT, DAY = "edit", "daily"
UNTIMED = "24:00"  # the place in a day of what has no minute
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d\S*)?")
_FROM = " FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
_COLUMNS = f"n.ref, n.title, c.fact_id, c.kind, c.project, c.date, c.status, c.author, c.start_line, c.text{_FROM}"


def when(event: Memory) -> tuple[str, str, str, int]:
    """Return the place of *event* in the order of time; what has no minute comes last in its day."""
    return event.day, event.minute or UNTIMED, event.path, event.place.start_line


def event_fields(event: Memory) -> dict[str, Any]:
    """Return *event* as JSON holds it."""
    path, line, _ = event.place
    return {
        "date": event.day, "minute": event.minute, "kind": event.kind, "project": event.project, "text": event.text,
        "path": path, "line": line, "id": event.id, "status": event.status, "author": event.author,
    }  # fmt: skip


class Timeline(NamedTuple):
    """Memories with their date, in order; *anchor* is the number of the one that was asked for, None for a time.

    *earlier* and *later*: whether there are more.
    """

    events: tuple[Memory, ...]
    anchor: int | None = None
    earlier: bool = False
    later: bool = False


class _Anchor(NamedTuple):
    """The moment to look around, and what is known of the event there: its path, its lines or its fact, its project."""

    date: str
    minute: str = ""
    path: str = ""
    lines: tuple[int, ...] = (0, 0)
    fact_id: str = ""
    project: str = ""

    def is_at(self, event: Memory) -> bool:
        if self.fact_id:
            return event.id == self.fact_id
        first, last = self.lines
        return bool(self.path) and event.path == self.path and (not first or first <= event.place.start_line <= last)


_NOWHERE = _Anchor("")


def _dated(row: tuple[Any, ...]) -> Memory:
    """Return the note or the fact in a *row* of `_COLUMNS`; the id of a note is its path."""
    ref, title, fact_id, kind, project, date, status, author, line, text = row
    return Memory(
        fact_id or ref, text, kind, Location(ref, line, line), title, author=author, project=project, date=date,
        status=status if status in ("superseded", "archived") else "",
    )  # fmt: skip


def timeline(
    work: Workspace,
    index: Index,
    asked: str,
    *,
    projects: tuple[str, ...] = (),
    kinds: tuple[str, ...] = (),
    before: int = 5,
    after: int = 5,
) -> Timeline:
    """Return so many events *before* and *after* what *asked* names: the newest, where it is empty.

    Args:
        work: its vault is read.
        index: an open index of it.
        asked: a day or a time; the id or the path of a fact, a note or a session; else words to search for.
        projects: those whose events are wanted, as `memtool.index.filters` gives them; empty for all.
        kinds: of the notes whose events are wanted, such as `DAY`; empty for all.
        before: the events before the anchor.
        after: the events after it. Of a time, what happened from then on counts.

    Raises:
        NoteNotFound: nothing with a date is meant by *asked*.
    """
    past = _Events(work, index, projects, kinds)
    anchor = past.anchor(asked.strip())
    if projects and anchor.project:  # named by its id, it is asked for
        past = _Events(work, index, (*projects, anchor.project), kinds)
    middle = sorted(past.events(past.rows(anchor.date)), key=when)
    at = next((at for at, event in enumerate(middle) if anchor.is_at(event)), None)
    is_line_of_day = anchor.lines[0] and anchor.path.startswith(f"{work.vault.daily}/")
    if at is None and anchor.path and not is_line_of_day:  # a line of a note, or a day's own text
        at = next((at for at, event in enumerate(middle) if event.path == anchor.path), None)
    moment = (anchor.date, anchor.minute)
    split = sum(when(event)[:2] < moment for event in middle) if at is None else at
    older, newer = middle[:split], middle[split:] if at is None else middle[split + 1 :]
    if len(older) <= before:
        older = past.beyond(before, older, newest_first=True, than=anchor.date)
    if len(newer) <= after:
        newer = past.beyond(after, newer, newest_first=False, than=anchor.date)
    shown = [*older[len(older) - min(before, len(older)) :], *([] if at is None else [middle[at]]), *newer[:after]]
    place = None if at is None else min(before, len(older))
    return Timeline(tuple(shown), place, earlier=len(older) > before, later=len(newer) > after)


def events_on(work: Workspace, index: Index, days: Iterable[dt.date]) -> list[Memory]:
    """Return the events of some *days*, in order."""
    past = _Events(work, index)
    found = [event for day in days for event in past.events(past.rows(day.isoformat()))]
    return sorted(found, key=when)


def events_of(work: Workspace, index: Index, ref: str) -> list[Memory]:
    """Return the events in the note at *ref*, dated or not; a session that is only listed there, too."""
    found = index.db.execute(
        _first_chunks(f"n.ref = ? AND c.kind NOT IN ({_marks(PAGES)})", "c.note_id, c.fact_id"),
        (ref, *PAGES),
    )
    return _Events(work, index).events(map(_dated, found))


def _first_chunks(where: str, group: str) -> str:
    """Return a statement for the first chunk of each *group* of those that *where* leaves."""
    return f"SELECT {_COLUMNS} WHERE c.id IN (SELECT min(c.id){_FROM} WHERE {where} GROUP BY {group}) ORDER BY {group}"


class _Events:
    """The events in the index and the files of a vault."""

    def __init__(
        self, work: Workspace, index: Index, projects: tuple[str, ...] = (), kinds: tuple[str, ...] = ()
    ) -> None:
        self._work, self._index = work, index
        self._projects = frozenset(name.casefold() for name in projects)
        where, values = Filter(work.now().date(), kinds=kinds, projects=projects, everything=True).where()
        self._dated = f"c.date <> '' AND c.kind NOT IN ({_marks(PAGES)}) AND {where}"
        self._values = (*PAGES, *values)
        self._minutes: dict[str, dict[str, str]] = {}
        self._noted = set[str]()  # the names, former ones too, of the sessions of a day that have notes

    @cached_property
    def _readers(self) -> dict[str, Callable[[Memory], Iterator[Memory]]]:
        return {DAY: self._of_day, SESSION: self._of_session, FACT: self._of_fact}

    def anchor(self, asked: str) -> _Anchor:
        """Return the meaning of *asked*: a time, else the id of something, else words."""
        now = self._work.now()
        if not asked:
            return _Anchor((now.date() + dt.timedelta(days=1)).isoformat())
        return _moment(asked, now.date()) or self._named(asked) or self._searched(asked)

    def _named(self, asked: str) -> _Anchor | None:
        db = self._index.db
        fact = find_fact(db, asked)
        if fact:
            date = fact.date
            return _Anchor(date, path=fact.path, fact_id=asked, project=fact.project) if date else None
        with suppress(NoteNotFound, UsageError):
            named = find_ref(db, asked)
            path, lines = named.name, (named.first, named.last)
            ours = _first_chunks(f"n.ref = ? AND c.kind NOT IN ({_marks(PAGES)})", "c.note_id")
            for row in map(_dated, db.execute(ours, (path, *PAGES))):
                if not row.date or row.kind == FACT:
                    return None
                return _Anchor(row.date, path=path, lines=lines, project=row.project)
        return None

    def _searched(self, asked: str) -> _Anchor:
        today, projects = self._work.now().date(), tuple(self._projects)
        for archived in (False, True):
            dated = Filter(today, projects=projects, since="0000-01-01", archived=archived)
            for hit in search(self._index, asked, dated, limit=10).hits:
                memory = hit.memory
                anchor = _Anchor(memory.date, path=memory.path, lines=memory.place[1:], fact_id=memory.fact_id)
                if memory.kind == DAY:
                    anchor = self._line_of_day(anchor, hit.terms) or _NOWHERE
                if memory.kind not in PAGES and anchor.date:
                    return anchor
        raise NoteNotFound(asked)

    def _line_of_day(self, found: _Anchor, terms: frozenset[str]) -> _Anchor | None:
        """Return the event with most of *terms* in the lines *found* of a day's note; None if it is hidden.

        A day's note is about all projects, and lists sessions that have notes of their own.
        """
        lines = range(found.lines[0], found.lines[1] + 1)
        of_day = (event for event in self.events(self.rows(found.date)) if event.path == found.path)
        near = [event for event in of_day if event.place.start_line in lines]
        near = [event for event in near if terms.intersection(index_terms(event.text))]
        if near:
            best = max(near, key=lambda event: len(terms.intersection(index_terms(event.text))))
            return found._replace(minute=best.minute, lines=best.place[1:])
        own = [
            line for line in self._text(found.path).split("\n")[found.lines[0] - 1 : found.lines[1]] if line[:2] != "- "
        ]
        is_own = not self._projects and bool(terms.intersection(index_terms("\n".join(own))))
        return found._replace(lines=(0, 0)) if is_own else None

    def rows(self, date: str) -> list[Memory]:
        """Return the notes and facts of the day *date*, each once."""
        found = self._index.db.execute(
            _first_chunks(f"{self._dated} AND c.date = ?", "c.note_id, c.fact_id"),
            (*self._values, date),
        )
        return [_dated(row) for row in found.fetchmany(5_000)]

    def beyond(self, count: int, nearest: Sequence[Memory], *, newest_first: bool, than: str) -> list[Memory]:
        """Return *nearest* and events of other days, more than *count* of them if there are so many, in order."""
        sign, order = ("<", "DESC") if newest_first else (">", "ASC")
        next_day = f"SELECT c.date{_FROM} WHERE {self._dated} AND c.date {sign} ? ORDER BY c.date {order} LIMIT 1"
        found = list(nearest)
        while len(found) <= count and (row := self._index.db.execute(next_day, (*self._values, than)).fetchone()):
            than = row[0]
            found += self.events(self.rows(than))
        return sorted(found, key=when)

    def events(self, rows: Iterable[Memory]) -> list[Memory]:
        """Return the events that *rows* of one day bring; a session that has a note is taken from that."""
        self._noted.clear()
        found = [event for row in rows for event in self._readers.get(row.kind, self._of_note)(row)]
        return [one for one in found if one.id not in self._noted or one.path.endswith(f"/{one.id}.md")]

    def _of_note(self, row: Memory) -> Iterator[Memory]:
        yield _event(row, row.kind, row.title, id=row.path)

    def _of_fact(self, row: Memory) -> Iterator[Memory]:
        if row.path not in self._minutes:
            with suppress(MemtoolError):
                facts = parse_facts(self._text(row.path)).facts
                zone = self._work.now().tzinfo
                self._minutes[row.path] = {fact.id: _minute_of(fact.timestamp, zone) for fact in facts}
        minute = self._minutes.get(row.path, {}).get(row.fact_id, "")
        yield _event(row, FACT, row.text.split("\n", 1)[0], id=row.fact_id, minute=minute)

    def _of_session(self, row: Memory) -> Iterator[Memory]:
        text = self._text(row.path)
        note = parse_session(text) if text else SessionNote()
        minute = note.updated[11:16] if note.updated.startswith(row.date) else ""
        name = row.path.rsplit("/", 1)[-1].removesuffix(".md")
        self._noted |= {name, *note.aliases, *([note.id, session_name(note.id)] if note.id else ())}
        yield _event(row, SESSION, row.title, id=name, minute=minute)
        for line in lines_of(text):
            if line.role == DECISION:
                event = _event(row, DECISION, line.text, id=f"{row.path}:{line.number}", minute=minute)
                yield event._replace(place=Location(row.path, line.number, line.number), author=line.author)

    def _of_day(self, row: Memory) -> Iterator[Memory]:
        text = self._text(row.path)
        edits, sessions = listed_entries(text), listed_sessions(text)
        if not edits and not sessions:
            yield from self._of_note(row)
        lines: dict[str, list[tuple[int, str]]] = {}  # by the minute with which they begin
        for number, said in enumerate(text.split("\n"), 1):
            lines.setdefault(said[2:7], []).append((number, said))
        for edit in edits:
            line = _line_with(lines.get(edit.minute, ()), f"`{edit.files[0]}`")
            event = _event(row, EDIT, ", ".join(edit.files), id=f"{row.path}:{line}", minute=edit.minute)
            yield from self._if_wanted(event._replace(project=edit.project, place=Location(row.path, line, line)))
        for session in sessions:
            line = _line_with(lines.get(session.minute, ()), f"/{session.session_id}.md")
            event = _event(row, SESSION, session.topic, id=session.session_id, minute=session.minute)
            yield from self._if_wanted(event._replace(project=session.project, place=Location(row.path, line, line)))

    def _if_wanted(self, event: Memory) -> Iterator[Memory]:
        if not self._projects or event.project.casefold() in self._projects:
            yield event

    def _text(self, ref: str) -> str:
        """Return the text of the note at *ref*; empty if it cannot be read, which costs no more than its minutes."""
        with suppress(OSError, MemtoolError):
            return read_head(self._work.vault.path(ref), 4_194_304).decode("utf-8", "replace")
        return ""


def _event(row: Memory, kind: str, text: str, *, id: str, minute: str = "") -> Memory:
    date = f"{row.date}T{minute}" if minute else row.date
    return row._replace(id=id, text=one_line(text), kind=kind, title="", date=date)


def _moment(text: str, today: dt.date) -> _Anchor | None:
    """Return the day or the minute that *text* names; None if it names none, such as the number 8443."""
    if match := _MOMENT.fullmatch(text):
        return _Anchor(match[1], match[2])
    with suppress(UsageError):
        day = parse_day(text, today)
        return _Anchor(day) if day[:4] <= str(today.year + 1) else None
    return None


def _minute_of(timestamp: str, zone: dt.tzinfo | None) -> str:
    """Return the minute of an ISO *timestamp* in *zone*; empty without a time, and where it is another day there."""
    with suppress(ValueError, OverflowError):
        moment = dt.datetime.fromisoformat(timestamp)
        local = moment.astimezone(zone) if moment.tzinfo else moment
        if "T" in timestamp and local.date().isoformat() == timestamp[:10]:
            return f"{local:%H:%M}"
    return ""


def _line_with(lines: Iterable[tuple[int, str]], part: str) -> int:
    """Return the number of the first of the numbered *lines* that holds *part*."""
    return next((number for number, line in lines if part in line), 1)


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
