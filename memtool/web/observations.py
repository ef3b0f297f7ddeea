"""Observations: a view of what the vault holds, one for each statement of a session, edit of a day, fact and note.

An observation has its type, title, text, facts, concepts and files where they are known, and the tokens that it took
to find out (`memtool.web.turn_figures`).
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
from memtool.memory.timeline import EDIT, events_of
from memtool.text.tokens import index_terms
from memtool.vault.files import read_head
from memtool.vault.memory import ASKED, FACT, SESSION, SUMMARY, TITLE, Found, Location, Memory
from memtool.vault.session_names import session_at
from memtool.vault.sessions import SUMMARY_PARTS, lines_of, parse_session
from memtool.web.request_search import SearchAsked, search_vault
from memtool.web.turn_figures import figures_of_session, figures_of_statement
from memtool.workspace import Workspace

OLD_TYPES = {"bugfix": "fix", "discovery": "finding"}
UNCLAIMED = "observation"  # the type of a statement that claims no role

_FOLDERS = ("sessions/", "archive/sessions/")
_TAG = re.compile(r"(?<!\S)#([^\s#]*[^\W\d][^\s#]*)")
_LINE = re.compile(r"(.+):(\d{1,7}(?:\.\d{1,3})?)")  # several statements may be on one line


class Observation(NamedTuple):
    """A statement, edit, fact or note: a *memory* whose text is the narrative and whose tags are concepts.

    *tokens* is the number of tokens of its turn; None if unknown.
    """

    memory: Memory
    title: str
    session: str = ""
    facts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    tokens: int | None = None

    @property
    def id(self) -> str:
        """The id of its memory."""
        return self.memory.id

    def fields(self) -> dict[str, Any]:
        """Return it as the answer to a request."""
        memory = self.memory
        return {
            "id": memory.id, "type": memory.kind, "title": self.title, "narrative": memory.text,
            "project": memory.project, "date": memory.day, "time": memory.minute,
            "path": memory.path, "line": memory.place.start_line, "session": self.session,
            "author": memory.author, "status": memory.status, "facts": self.facts, "concepts": memory.tags,
            "files_read": self.files_read, "files_modified": self.files_modified, "discovery_tokens": self.tokens,
            "created_at": memory.date[:16],
        }  # fmt: skip


class SessionSummary(NamedTuple):
    """The summary of a session, by the agent if it sent one, else from the lines of its note."""

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


def find_hits(work: Workspace, query: str, wanted: Filter) -> tuple[Iterator[Found], tuple[str, ...]]:
    """Return all notes and facts, the best first, or without a query the newest first; and notices.

    They are looked up in parts, as far as the caller reads.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    first_part = 400  # of notes and facts; where they do not fill a page, eight times as many

    def look(most: int) -> tuple[Sequence[Found], tuple[str, ...]]:
        if not query:
            return list_memories(work, wanted, limit=most).hits, ()
        asked = SearchAsked(query=query).model_copy(update={"limit": most})
        found = search_vault(work, asked, wanted=wanted, each_once=False)
        return found.hits, found.notices

    def all_of(hits: Sequence[Found]) -> Iterator[Found]:
        yield from hits
        most = first_part
        while len(hits) == most:
            most *= 8
            hits = look(most)[0]
            yield from hits

    first, notices = look(first_part)
    return all_of(first), notices


def observations_in(
    work: Workspace, hits: Iterable[Found], query: str, is_wanted: Callable[[Observation], bool]
) -> Iterator[Observation]:
    """Give the observations in *hits* that *is_wanted*; of a note with many statements those that speak of *query*.

    Files that only a transcript names are looked up for those that are wanted.
    """
    terms, read, seen = set(index_terms(query)), set[str](), set[str]()
    for hit in hits:
        if hit.memory.key in read:
            continue
        read.add(hit.memory.key)
        for one in _of_hit(work, hit, terms):
            if one.id not in seen and is_wanted(one):
                seen.add(one.id)
                yield _with_turn(work, one)


def summaries_in(work: Workspace, hits: Iterable[Found]) -> Iterator[tuple[SessionSummary, tuple[Observation, ...]]]:
    """Give the sessions among *hits*, each once, with their statements."""
    for path in dict.fromkeys(hit.memory.path for hit in hits):
        if path.startswith(_FOLDERS) and (text := _text(work, path)):
            yield _summary(work, path, text), tuple(_of_session(work, path))


def of_event(work: Workspace, event: Memory) -> Observation:
    """Return an event of a timeline as an observation."""
    session = session_at(work.vault, event.path) if event.path.startswith(_FOLDERS) else ""
    if session and event.id == f"{event.path}:{event.place.start_line}":  # a statement of a session
        found = next((one for one in _of_session(work, event.path) if one.id == event.id), None)
        if found:
            return _with_turn(work, found)
    files = tuple(event.text.split(", ")) if event.kind == EDIT else ()
    one = Observation(event, event.text, session, files_modified=files)
    if event.kind != SESSION or not session:
        return one
    whole, files = figures_of_session(work, event.path), parse_session(_text(work, event.path)).draft.files
    return one._replace(files_read=whole.read, files_modified=whole.changed or files, tokens=whole.tokens or None)


def find_observation(work: Workspace, wanted: str) -> dict[str, Any] | None:
    """Return the observation with the id *wanted*, in full, as the answer to a request; None if there is none.

    Of a session it has the fields of its summary, too.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    named = _LINE.fullmatch(wanted)
    if named and named[1].startswith(_FOLDERS):
        with suppress(MemtoolError):
            ref = use_index(place_of(work), lambda index: find_note(index.db, named[1]))
            return next((_with_turn(work, one).fields() for one in _of_session(work, ref) if one.id == wanted), None)
    try:
        event = use_index(place_of(work), partial(_event, work, wanted))
        if event and event.kind not in (FACT, SESSION) and event.id != event.path:
            return of_event(work, event).fields()
        stored = get_memory(work, event.path if event and event.kind != FACT else wanted)
    except (NoteNotFound, UsageError):
        return None
    whole = stored.memory
    if event is None:  # a page, such as MEMORY.md, is no event
        event = whole._replace(text=whole.title, date=whole.day)
    one = of_event(work, event)
    facts = (stored.evidence,) if stored.evidence else _facts_of(work, one)
    one = one._replace(memory=one.memory._replace(text=whole.text, tags=whole.tags), facts=facts)
    if event.kind != SESSION or not one.session:
        return one.fields()
    summary = _summary(work, event.path, _text(work, event.path))._asdict()
    return {**one.fields(), **{name: summary[name] for name in ("outcome", *SUMMARY_PARTS)}, "id": wanted}


def _facts_of(work: Workspace, one: Observation) -> tuple[str, ...]:
    """Return the active facts that name a session or a note as their source."""
    path = one.memory.path
    sources = {path, one.session, PurePosixPath(path).stem if one.session else ""} - {""}
    stored = read_facts(work.vault) if one.memory.kind != FACT else ()
    return tuple(each.fact.fact for each in stored if each.fact.status == "active" and each.fact.source in sources)


def _event(work: Workspace, wanted: str, index: Index) -> Memory | None:
    fact = find_fact(index.db, wanted)
    ref = fact.path if fact else find_ref(index.db, wanted).name
    found = events_of(work, index, ref)
    of_note = (event for event in found if event.path == ref and event.id in (ref, PurePosixPath(ref).stem))
    return next((event for event in found if event.id == wanted), None) or next(of_note, None)


def _of_hit(work: Workspace, hit: Found, terms: set[str]) -> Iterator[Observation]:
    memory = hit.memory
    if memory.fact_id:
        statement, _, evidence = memory.text.partition("\n")
        yield Observation(memory._replace(text=statement), statement, facts=(evidence,) if evidence else ())
        return
    found: list[Observation] = []
    if is_session := memory.path.startswith(_FOLDERS):
        found = list(_of_session(work, memory.path))
    elif memory.kind == "daily":
        events = use_index(place_of(work), lambda index: events_of(work, index, memory.path))
        found = [of_event(work, event) for event in events if event.kind == EDIT]
    near = [one for one in found if not terms or terms.intersection(index_terms(f"{one.title} {one.memory.text}"))]
    yield from near
    if not near and not is_session:
        yield Observation(memory._replace(text=snippet_of(hit).line), memory.title)


def _of_session(work: Workspace, ref: str) -> Iterator[Observation]:
    text = _text(work, ref)
    note, on_line = parse_session(text), Counter[int]()
    for line in lines_of(text):
        if line.role not in (TITLE, SUMMARY, ASKED):
            on_line[line.number] += 1
            number = f"{line.number}.{on_line[line.number]}" if on_line[line.number] > 1 else str(line.number)
            memory = Memory(
                f"{ref}:{number}", f"{line.asked} → {line.text}" if line.asked else line.text, line.role or UNCLAIMED,
                Location(ref, line.number, line.number), author=line.author, project=note.project,
                date=note.updated[:16].replace(" ", "T"), tags=tuple(_TAG.findall(line.text)),
            )  # fmt: skip
            files = tuple(file for file in note.draft.files if PurePosixPath(file).name in line.text)
            yield Observation(memory, line.text, note.id or PurePosixPath(ref).stem, files_modified=files)


def _with_turn(work: Workspace, one: Observation) -> Observation:
    """Return the statement of a session with the files and the tokens of its turn, as far as a transcript has them."""
    memory = one.memory
    if not one.session or memory.kind == SESSION:
        return one
    asked = memory.text.removesuffix(f" → {one.title}") if memory.text != one.title else ""
    turn = figures_of_statement(work, memory.path, asked, one.title)
    modified = one.files_modified or turn.changed
    return one._replace(files_read=turn.read, files_modified=modified, tokens=turn.tokens or None)


def _summary(work: Workspace, ref: str, text: str) -> SessionSummary:
    note, whole = parse_session(text), figures_of_session(work, ref)
    draft = note.draft
    asked = draft.asked or next((line.text for line in draft.lines if line.role == ASKED), draft.title)

    def part(name: str, *roles: str) -> tuple[str, ...]:
        if note.parts:
            return tuple(filter(None, [note.parts.get(name)]))
        return tuple(line.text for line in draft.lines if line.role in roles)

    return SessionSummary(
        ref,
        session_at(work.vault, ref),
        note.project,
        note.updated.replace(" ", "T"),
        note.parts.get("completed") or draft.summary or draft.title,
        note.parts.get("request") or asked,
        part("investigated", "refuted"),
        part("learned", "decision", "rule", "finding", "fix"),
        part("completed", ""),
        part("next_steps", "open"),
        whole.read,
        draft.files,
        whole.tokens or None,
    )


def _text(work: Workspace, ref: str) -> str:
    with suppress(OSError, MemtoolError):
        return read_head(work.vault.path(ref), 1 << 20).decode("utf-8", "replace")
    return ""
