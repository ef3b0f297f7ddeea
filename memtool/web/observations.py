"""Observations: a view of what the vault holds, one for each statement of a session, edit of a day, fact and note.

An observation has its type, title, text, facts, concepts and files where they are known, and what it took to find out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from memtool.consolidate.fact_book import read_facts
from memtool.consolidate.memories import get_memory, list_memories
from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.index.engine import Index, place_of, use_index
from memtool.index.lookup import find_fact, find_note, find_ref
from memtool.index.search import Hit
from memtool.recall.timeline import EDIT, FACT, SESSION, Event, events_of
from memtool.text.tokens import index_terms
from memtool.vault.authors import ASKED
from memtool.vault.files import read_head
from memtool.vault.session_lines import Line, lines_of
from memtool.vault.sessions import SessionNote, parse_session
from memtool.web.request_search import SearchAsked, filter_of, search_vault
from memtool.web.turn_figures import figures_of, figures_of_turn
from memtool.workspace import Workspace

OLD_TYPES = {"bugfix": "fix", "discovery": "finding"}
UNCLAIMED = "observation"  # the type of a statement that claims no role

_FOLDERS = ("sessions/", "archive/sessions/")
_LARGEST = 1_048_576  # bytes of a note
_MOST = 400  # notes and facts that are looked at for a page
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
    """A session, summed up."""

    id: str
    session: str
    project: str
    created_at: str
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


def find_hits(work: Workspace, asked: SearchAsked, most: int) -> tuple[Sequence[Hit], tuple[str, ...]]:
    """Return at most *most* notes and facts, the best first, or the newest where nothing is asked; and notices.

    Raises:
        MemtoolError: the vault or its index cannot be read, or a filter is none.
    """
    if asked.query:
        found = search_vault(work, asked.model_copy(update={"limit": min(most, _MOST)}))
        return found.hits, found.notices
    return list_memories(work, filter_of(work, asked), limit=min(most, _MOST)).hits, ()


def observations_in(work: Workspace, hits: Sequence[Hit], query: str) -> Iterator[Observation]:
    """Give what *hits* tell of; of a note with many statements those that speak of *query*."""
    terms, seen = set(index_terms(query)), set[str]()
    for hit in hits:
        for one in _of_hit(work, hit, terms):
            if one.id not in seen:
                seen.add(one.id)
                yield one


def summaries_in(work: Workspace, hits: Sequence[Hit]) -> Iterator[SessionSummary]:
    """Give the sessions of which *hits* tell, each once."""
    for ref in dict.fromkeys(hit.path for hit in hits if is_of_session(hit.path)):
        text = _text(work, ref)
        if text:
            yield _summary(work, ref, text)


def of_event(work: Workspace, event: Event) -> Observation:
    """Return what a timeline tells of as an observation."""
    session = PurePosixPath(event.path).stem if is_of_session(event.path) else ""
    line = f"{event.path}:{event.line}"
    if session and event.id == line:  # a statement of a session
        found = next((one for one in _of_session(work, event.path, event.project) if one.id == line), None)
        if found:
            return found
    one = Observation(
        event.id, event.kind, event.text, event.text, event.project, event.date, event.minute, event.path, event.line,
        session, event.author, event.status, files_modified=tuple(event.text.split(", ")) if event.kind == EDIT else (),
    )  # fmt: skip
    if event.kind != SESSION or not session:
        return one
    told, files = figures_of(work, session), parse_session(_text(work, event.path)).files
    return one._replace(
        files_read=told.read, files_modified=told.changed or files, discovery_tokens=told.tokens or None
    )


def find_observation(work: Workspace, wanted: str) -> Observation | None:
    """Return the observation with the id *wanted*, in full; None if there is none.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    named = _LINE.fullmatch(wanted)
    if named and is_of_session(named[1]):
        with suppress(MemtoolError):
            found = _of_session(work, _find_note_ref(work, named[1]), None)
            return next((one for one in found if one.id == wanted), None)
    try:
        event = use_index(place_of(work), partial(_event, work, wanted))
        if event is None:
            return None
        whole = get_memory(work, event.id if event.kind == FACT else event.path)
    except (NoteNotFound, UsageError):
        return None
    one = of_event(work, event)
    if event.kind not in (FACT, SESSION) and event.id != event.path:
        return one
    facts = (whole.evidence,) if whole.evidence else _facts_of(work, one)
    return one._replace(narrative=whole.content, concepts=whole.tags, facts=facts)


def _facts_of(work: Workspace, one: Observation) -> tuple[str, ...]:
    """Return the standing facts that name a session or a note as their source."""
    sources = {one.path, one.session} - {""}
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
    of_note = (event for event in found if event.path == ref and event.kind not in (EDIT, FACT))
    return next((event for event in found if event.id == wanted), None) or next(of_note, None)


def _of_hit(work: Workspace, hit: Hit, terms: set[str]) -> Iterator[Observation]:
    if hit.fact_id:
        said, _, evidence = hit.text.partition("\n")
        yield Observation(
            hit.fact_id, FACT, said, said, hit.project, hit.date, "", hit.path, hit.start_line, "", hit.author,
            facts=(evidence,) if evidence else (), concepts=tuple(hit.tags.split()),
        )  # fmt: skip
        return
    found: list[Observation] = []
    if is_of_session(hit.path):
        found = list(_of_session(work, hit.path, hit.project))
    elif hit.kind == "daily":
        found = use_index(
            place_of(work), lambda index: [of_event(work, one) for one in events_of(work, index, hit.path)]
        )
        found = [one for one in found if one.type == EDIT]
    near = [one for one in found if not terms or terms.intersection(index_terms(f"{one.title} {one.narrative}"))]
    yield from near
    if not near and not is_of_session(hit.path):
        told = hit.snippet().line
        yield Observation(
            hit.path, hit.kind, hit.title, told, hit.project, hit.date, "", hit.path, hit.start_line, "", hit.author,
            concepts=tuple(hit.tags.split()),
        )  # fmt: skip


def _of_session(work: Workspace, ref: str, project: str | None) -> Iterator[Observation]:
    text = _text(work, ref)
    note, on_line = parse_session(text), Counter[int]()
    for line in lines_of(text):
        if line.role != ASKED:
            on_line[line.number] += 1
            one = _of_line(work, ref, note, note.project if project is None else project, line)
            yield one._replace(id=f"{one.id}.{on_line[line.number]}") if on_line[line.number] > 1 else one


def _of_line(work: Workspace, ref: str, note: SessionNote, project: str, line: Line) -> Observation:
    session, day = PurePosixPath(ref).stem, note.updated
    turn = figures_of_turn(work, session, line.asked, line.text)
    named = tuple(file for file in note.files if PurePosixPath(file).name in line.text)
    return Observation(
        f"{ref}:{line.number}",
        line.role or UNCLAIMED,
        line.text,
        f"{line.asked} → {line.text}" if line.asked else line.text,
        project,
        day[:10],
        day[11:16],
        ref,
        line.number,
        session,
        line.author,
        concepts=tuple(_TAG.findall(line.text)),
        files_read=turn.read,
        files_modified=named or turn.changed,
        discovery_tokens=turn.tokens or None,
    )


def _summary(work: Workspace, ref: str, text: str) -> SessionSummary:
    note, lines, session = parse_session(text), lines_of(text), PurePosixPath(ref).stem
    figures = figures_of(work, session)

    def said(*roles: str) -> tuple[str, ...]:
        return tuple(line.text for line in lines if line.role in roles)

    asked = next((line.text for line in lines if line.role == ASKED), note.topic)
    return SessionSummary(
        ref,
        session,
        note.project,
        note.updated.replace(" ", "T"),
        asked,
        said("investigated", "refuted"),
        (*said("decision", "rule", "finding", "fix"), *said("")),
        said("done", "feature", "change", "refactor"),
        said("open"),
        figures.read,
        note.files,
        figures.tokens or None,
    )


def _text(work: Workspace, ref: str) -> str:
    with suppress(OSError, MemtoolError):
        return read_head(work.vault.path(ref), _LARGEST).decode("utf-8", "replace")
    return ""
