"""Observations: a view of what the vault holds, one for each statement of a session, edit of a day, fact and note.

An observation has its type, title, text, facts, concepts and files where they are known, and what it took to find out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.index.engine import Index, place_of, use_index
from memtool.index.filters import Filter
from memtool.index.lookup import find_fact, find_note, find_ref
from memtool.index.search import snippet_of
from memtool.memory.fact_book import read_facts
from memtool.memory.memories import get_memory, list_memories
from memtool.memory.timeline import EDIT, Event, events_of
from memtool.text.tokens import index_terms
from memtool.vault.authors import ASKED, SUMMARY, TITLE
from memtool.vault.files import read_head
from memtool.vault.kinds import FACT, SESSION
from memtool.vault.memory import Found
from memtool.vault.session_names import session_at
from memtool.vault.sessions import TOLD, Line, SessionNote, lines_of, parse_session
from memtool.web.request_search import SearchAsked, search_vault
from memtool.web.turn_figures import figures_of, figures_of_turn
from memtool.workspace import Workspace

OLD_TYPES = {"bugfix": "fix", "discovery": "finding"}
UNCLAIMED = "observation"  # the type of a statement that claims no role

_FOLDERS = ("sessions/", "archive/sessions/")
_LARGEST = 1_048_576  # bytes of a note
_AT_FIRST = 400  # notes and facts; where they do not fill a page, eight times as many
_TAG = re.compile(r"(?<!\S)#([^\s#]*[^\W\d][^\s#]*)")
_LINE = re.compile(r"(.+):(\d{1,7}(?:\.\d{1,3})?)")  # several statements may stand on one line


class Observation(NamedTuple):
    """Something that was found out or done. *discovery_tokens* is None where it is not known what that took."""

    id: str
    type: str
    title: str
    narrative: str
    project: str
    date: str
    time: str
    path: str
    line: int
    session: str = ""
    author: str = ""
    status: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    discovery_tokens: int | None = None

    def fields(self) -> dict[str, Any]:
        """Return it as the answer to a request."""
        return self._asdict() | {"created_at": f"{self.date}T{self.time}" if self.time else self.date}


class SessionSummary(NamedTuple):
    """A session, summed up: by who worked, where that was told, else from the lines of its note."""

    id: str
    session: str
    project: str
    created_at: str
    outcome: str
    request: str
    investigated: tuple[str, ...]
    learned: tuple[str, ...]
    completed: tuple[str, ...]
    next_steps: tuple[str, ...]
    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    discovery_tokens: int | None


def is_of_session(ref: str) -> bool:
    """Return whether *ref* is the note of a session."""
    return ref.startswith(_FOLDERS)


def find_hits(work: Workspace, query: str, wanted: Filter) -> tuple[Iterator[Found], tuple[str, ...]]:
    """Return all notes and facts, the best first, or the newest where nothing is asked; and notices.

    They are looked up a part at a time, as far as the caller reads on.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """

    def look(most: int) -> tuple[Sequence[Found], tuple[str, ...]]:
        if not query:
            return list_memories(work, wanted, limit=most).hits, ()
        asked = SearchAsked(query=query).model_copy(update={"limit": most})
        found = search_vault(work, asked, wanted=wanted, each_once=False)
        return found.hits, found.notices

    def all_of(hits: Sequence[Found]) -> Iterator[Found]:
        yield from hits
        most = _AT_FIRST
        while len(hits) == most:
            most *= 8
            hits = look(most)[0]
            yield from hits

    first, notices = look(_AT_FIRST)
    return all_of(first), notices


def observations_in(
    work: Workspace, hits: Iterable[Found], query: str, is_wanted: Callable[[Observation], bool]
) -> Iterator[Observation]:
    """Give what *hits* tell of and *is_wanted*; of a note with many statements those that speak of *query*.

    Files that only a transcript names are looked up for those that are wanted.
    """
    terms, read, seen = set(index_terms(query)), set[tuple[str, str]](), set[str]()
    for hit in hits:
        key = hit.memory.path, hit.memory.fact_id
        if key in read:
            continue
        read.add(key)
        for one in _of_hit(work, hit, terms):
            if one.id not in seen and is_wanted(one):
                seen.add(one.id)
                yield _with_figures(work, one)


def summaries_in(work: Workspace, hits: Iterable[Found]) -> Iterator[tuple[SessionSummary, tuple[Observation, ...]]]:
    """Give the sessions of which *hits* tell, each once, with their statements."""
    seen = set[str]()
    for hit in hits:
        if hit.memory.path not in seen and is_of_session(hit.memory.path) and (text := _text(work, hit.memory.path)):
            seen.add(hit.memory.path)
            yield _summary(work, hit.memory.path, text), tuple(_of_session(work, hit.memory.path))


def of_event(work: Workspace, event: Event) -> Observation:
    """Return what a timeline tells of as an observation."""
    session = session_at(work.vault, event.path) if is_of_session(event.path) else ""
    line = f"{event.path}:{event.line}"
    if session and event.id == line:  # a statement of a session
        found = next((one for one in _of_session(work, event.path) if one.id == line), None)
        if found:
            return _with_figures(work, found)
    one = Observation(
        event.id, event.kind, event.text, event.text, event.project, event.date, event.minute, event.path, event.line,
        session, event.author, event.status, files_modified=tuple(event.text.split(", ")) if event.kind == EDIT else (),
    )  # fmt: skip
    if event.kind != SESSION or not session:
        return one
    told, files = figures_of(work, event.path), parse_session(_text(work, event.path)).draft.files
    return one._replace(
        files_read=told.read, files_modified=told.changed or files, discovery_tokens=told.tokens or None
    )


def find_observation(work: Workspace, wanted: str) -> dict[str, Any] | None:
    """Return the observation with the id *wanted*, in full, as the answer to a request; None if there is none.

    Of a session it has the fields of its summary, too.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    named = _LINE.fullmatch(wanted)
    if named and is_of_session(named[1]):
        with suppress(MemtoolError):
            ref = _find_note_ref(work, named[1])
            found = _of_session(work, ref)
            return next((_with_figures(work, one).fields() for one in found if one.id == wanted), None)
    try:
        event = use_index(place_of(work), partial(_event, work, wanted))
        if event and event.kind not in (FACT, SESSION) and event.id != event.path:
            return of_event(work, event).fields()
        whole = get_memory(work, event.path if event and event.kind != FACT else wanted)
    except (NoteNotFound, UsageError):
        return None
    memory = whole.memory
    if event is None:  # a page, such as MEMORY.md, is no event
        event = Event(
            memory.date[:10], "", memory.kind, memory.project, memory.title, *memory.place[:2], memory.id,
            memory.status, memory.author,
        )  # fmt: skip
    one = of_event(work, event)
    facts = (whole.evidence,) if whole.evidence else _facts_of(work, one)
    fields = one._replace(narrative=memory.text, concepts=memory.tags, facts=facts).fields()
    if event.kind != SESSION or not one.session:
        return fields
    told = _summary(work, event.path, _text(work, event.path))._asdict()
    return {**fields, **{name: told[name] for name in ("outcome", *TOLD)}, "id": wanted}


def _facts_of(work: Workspace, one: Observation) -> tuple[str, ...]:
    """Return the standing facts that name a session or a note as their source."""
    sources = {one.path, one.session, PurePosixPath(one.path).stem if one.session else ""} - {""}
    stored = read_facts(work.vault) if one.type != FACT else ()
    return tuple(each.fact.fact for each in stored if each.fact.status == "active" and each.fact.source in sources)


def _find_note_ref(work: Workspace, name: str) -> str:
    """Return the path of a note.

    Raises:
        NoteNotFound: there is none.
    """
    return use_index(place_of(work), lambda index: find_note(index.db, name))


def _event(work: Workspace, wanted: str, index: Index) -> Event | None:
    fact = find_fact(index.db, wanted)
    ref = fact.path if fact else find_ref(index.db, wanted).name
    found = events_of(work, index, ref)
    of_note = (event for event in found if event.path == ref and event.id in (ref, PurePosixPath(ref).stem))
    return next((event for event in found if event.id == wanted), None) or next(of_note, None)


def _of_hit(work: Workspace, hit: Found, terms: set[str]) -> Iterator[Observation]:
    memory = hit.memory
    if memory.fact_id:
        said, _, evidence = memory.text.partition("\n")
        yield Observation(
            memory.id, FACT, said, said, memory.project, memory.date, "", *memory.place[:2], "", memory.author,
            facts=(evidence,) if evidence else (), concepts=memory.tags,
        )  # fmt: skip
        return
    found: list[Observation] = []
    if is_of_session(memory.path):
        found = list(_of_session(work, memory.path))
    elif memory.kind == "daily":
        found = use_index(
            place_of(work), lambda index: [of_event(work, one) for one in events_of(work, index, memory.path)]
        )
        found = [one for one in found if one.type == EDIT]
    near = [one for one in found if not terms or terms.intersection(index_terms(f"{one.title} {one.narrative}"))]
    yield from near
    if not near and not is_of_session(memory.path):
        told = snippet_of(hit).line
        yield Observation(
            memory.id, memory.kind, memory.title, told, memory.project, memory.date, "", *memory.place[:2], "",
            memory.author, concepts=memory.tags,
        )  # fmt: skip


def _of_session(work: Workspace, ref: str) -> Iterator[Observation]:
    text = _text(work, ref)
    note, on_line = parse_session(text), Counter[int]()
    for line in lines_of(text):
        if line.role not in (TITLE, SUMMARY, ASKED):
            on_line[line.number] += 1
            one = _of_line(ref, note, line)
            yield one._replace(id=f"{one.id}.{on_line[line.number]}") if on_line[line.number] > 1 else one


def _of_line(ref: str, note: SessionNote, line: Line) -> Observation:
    return Observation(
        f"{ref}:{line.number}",
        line.role or UNCLAIMED,
        line.text,
        f"{line.asked} → {line.text}" if line.asked else line.text,
        note.project,
        note.updated[:10],
        note.updated[11:16],
        ref,
        line.number,
        note.id or PurePosixPath(ref).stem,
        line.author,
        concepts=tuple(_TAG.findall(line.text)),
        files_modified=tuple(file for file in note.draft.files if PurePosixPath(file).name in line.text),
    )


def _with_figures(work: Workspace, one: Observation) -> Observation:
    """Return the statement of a session with the files and the tokens of its turn, as far as a transcript has them."""
    if not one.session or one.type == SESSION:
        return one
    asked = one.narrative.removesuffix(f" → {one.title}") if one.narrative != one.title else ""
    turn = figures_of_turn(work, one.path, asked, one.title)
    return one._replace(
        files_read=turn.read,
        files_modified=one.files_modified or turn.changed,
        discovery_tokens=turn.tokens or None,
    )


def _summary(work: Workspace, ref: str, text: str) -> SessionSummary:
    note, session = parse_session(text), session_at(work.vault, ref)
    draft = note.draft
    figures = figures_of(work, ref)
    asked = draft.asked or next((line.text for line in draft.lines if line.role == ASKED), draft.title)

    def said(name: str, *groups: tuple[str, ...]) -> tuple[str, ...]:
        if note.told:
            return tuple(filter(None, [note.told.get(name)]))
        return tuple(line.text for roles in groups for line in draft.lines if line.role in roles)

    return SessionSummary(
        ref,
        session,
        note.project,
        note.updated.replace(" ", "T"),
        note.told.get("completed") or draft.summary or draft.title,
        note.told.get("request") or asked,
        said("investigated", ("refuted",)),
        said("learned", ("decision", "rule", "finding", "fix")),
        said("completed", ("",)),
        said("next_steps", ("open",)),
        figures.read,
        draft.files,
        figures.tokens or None,
    )


def _text(work: Workspace, ref: str) -> str:
    with suppress(OSError, MemtoolError):
        return read_head(work.vault.path(ref), _LARGEST).decode("utf-8", "replace")
    return ""
