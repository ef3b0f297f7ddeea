"""Observations: a view of what the vault holds, one for each statement of a session, edit of a day, fact and note.

An observation has its type, title, text, facts, concepts and files where they are known, and the tokens that it took
to find out. Tokens and files come from the client's own transcript, which repeats the usage of a message in each of its
records. What a model reads again from its cache is no discovery and is not counted.
"""

from __future__ import annotations

import glob
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from memtool.capture.heard import READING_TOOL, heard_path
from memtool.capture.transcript import EDITING_TOOLS
from memtool.capture.transcript.record_fields import content_of, is_by_a_person, text_at, text_in
from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.index.engine import Index, place_of, use_index
from memtool.index.filters import Filter
from memtool.index.lookup import find_fact, find_note, find_ref
from memtool.index.search import snippet_of
from memtool.memory.fact_book import read_facts
from memtool.memory.memories import get_memory, list_memories
from memtool.memory.timeline import EDIT, events_of
from memtool.text.tokens import index_terms
from memtool.vault.authors import ASKED, SUMMARY, TITLE
from memtool.vault.files import read_head
from memtool.vault.kinds import FACT, SESSION
from memtool.vault.memory import Found, Location, Memory
from memtool.vault.project_area import shown_path
from memtool.vault.session_names import session_at
from memtool.vault.sessions import SUMMARY_PARTS, Line, SessionNote, lines_of, parse_session
from memtool.web import limits
from memtool.web.request_search import SearchAsked, search_vault
from memtool.workspace import Workspace

OLD_TYPES = {"bugfix": "fix", "discovery": "finding"}
UNCLAIMED = "observation"  # the type of a statement that claims no role

_FOLDERS = ("sessions/", "archive/sessions/")
_TAG = re.compile(r"(?<!\S)#([^\s#]*[^\W\d][^\s#]*)")
_LINE = re.compile(r"(.+):(\d{1,7}(?:\.\d{1,3})?)")  # several statements may stand on one line
_USAGE = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
_LETTERS = 40  # by which a note that shortened a text is known to be about it
_FEWEST = 8  # letters that are hardly said twice


class TurnFigures(NamedTuple):
    """The words, tokens and files of one turn, or of several together.

    Args:
        prompt, said: what was typed, and what the agent said and ran; letters only.
        tokens: 0 where the client gave no figures.
        read, changed: files, as a person would name them.
    """

    prompt: str = ""
    said: str = ""
    tokens: int = 0
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class Observation(NamedTuple):
    """Something that was found out or done: a *memory* of which the text is the narrative and the tags are concepts.

    *tokens* is what it took to find out; None where that is not known.
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
    """A session, summed up: by the agent, where it did so, else from the lines of its note."""

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
        most = limits.FIRST_HITS
        while len(hits) == most:
            most *= 8
            hits = look(most)[0]
            yield from hits

    first, notices = look(limits.FIRST_HITS)
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
    whole, files = _whole(work, event.path), parse_session(_text(work, event.path)).draft.files
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
            yield _of_line(ref, note, line, f"{ref}:{number}")


def _of_line(ref: str, note: SessionNote, line: Line, name: str) -> Observation:
    memory = Memory(
        name, f"{line.asked} → {line.text}" if line.asked else line.text, line.role or UNCLAIMED,
        Location(ref, line.number, line.number), author=line.author, project=note.project,
        date=note.updated[:16].replace(" ", "T"), tags=tuple(_TAG.findall(line.text)),
    )  # fmt: skip
    files = tuple(file for file in note.draft.files if PurePosixPath(file).name in line.text)
    return Observation(memory, line.text, note.id or PurePosixPath(ref).stem, files_modified=files)


def _with_turn(work: Workspace, one: Observation) -> Observation:
    """Return the statement of a session with the files and the tokens of its turn, as far as a transcript has them."""
    memory = one.memory
    if not one.session or memory.kind == SESSION:
        return one
    asked = memory.text.removesuffix(f" → {one.title}") if memory.text != one.title else ""
    turn = _turn_of(_turns(work, memory.path), asked, one.title)
    modified = one.files_modified or turn.changed
    return one._replace(files_read=turn.read, files_modified=modified, tokens=turn.tokens or None)


def _summary(work: Workspace, ref: str, text: str) -> SessionSummary:
    note, whole = parse_session(text), _whole(work, ref)
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
        return read_head(work.vault.path(ref), limits.NOTE).decode("utf-8", "replace")
    return ""


def turns_in(lines: Iterable[bytes], home: Path) -> tuple[TurnFigures, ...]:
    """Return the turns of a transcript."""
    return tuple(_read_turns(lines, home))


def _whole(work: Workspace, ref: str) -> TurnFigures:
    """Return the figures of the whole session whose note lies at *ref*, as far as its transcript is there."""
    turns = _turns(work, ref)
    return TurnFigures(
        tokens=sum(turn.tokens for turn in turns),
        read=_each_once(file for turn in turns for file in turn.read),
        changed=_each_once(file for turn in turns for file in turn.changed),
    )


def _turn_of(turns: Sequence[TurnFigures], asked: str, statement: str) -> TurnFigures:
    """Return the turn that a *statement* is about, below the prompt *asked* if there is one; none if that is unsure."""
    wanted = _telling(asked or statement)
    if asked:
        return next((turn for turn in turns if wanted and wanted in turn.prompt), TurnFigures())
    found = [turn for turn in turns if len(wanted) >= _FEWEST and (wanted in turn.said or wanted in turn.prompt)]
    return found[0] if len(found) == 1 else TurnFigures()


def _turns(work: Workspace, ref: str) -> tuple[TurnFigures, ...]:
    session_id = session_at(work.vault, ref)
    with suppress(OSError, ValueError):
        of_client = (work.claude_folder / "projects").glob(f"*/{glob.escape(session_id)}.jsonl")
        for path in (*of_client, heard_path(work.vault, session_id)):
            if path.is_file() and (about := path.stat()).st_size <= limits.CLIENT_TRANSCRIPT:
                return _turns_at(path, work.home, about.st_size, about.st_mtime_ns)
    return ()


@lru_cache(maxsize=32)
def _turns_at(path: Path, home: Path, _size: int, _mtime_ns: int) -> tuple[TurnFigures, ...]:
    with path.open("rb") as lines:
        return turns_in(lines, home)


def _read_turns(lines: Iterable[bytes], home: Path) -> Iterator[TurnFigures]:
    prompt, tokens, seen, root = "", 0, set[str](), ""
    said, read, changed = list[str](), list[str](), list[str]()

    def turn() -> TurnFigures:
        return TurnFigures(prompt, "".join(said)[: limits.TURN_LETTERS], tokens, _each_once(read), _each_once(changed))

    for line in lines:
        if b'"assistant"' not in line and b'"user"' not in line:
            continue
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if not isinstance(record, dict) or record.get("isSidechain") is True:
                continue
            root = root or text_at(record, "cwd")
            content = content_of(record)
            if record.get("type") == "assistant":
                message = text_at(record, "message", "id")
                tokens += _used(record) if message not in seen else 0
                seen |= {message} if message else set()
                said.append(_letters(text_in(content)))
                for tool, target in _used_tools(content):
                    if tool == "Bash":
                        said.append(_letters(target))
                    elif target:
                        (read if tool == READING_TOOL else changed).append(shown_path(target, Path(root), home))
            elif record.get("type") == "user" and is_by_a_person(record) and (typed := text_in(content)):
                yield turn()
                prompt, tokens, said, read, changed = _letters(typed), 0, [], [], []
    yield turn()


def _used_tools(content: object) -> Iterator[tuple[str, str]]:
    """Give the tools in a message that read, change or run, each with its file or command."""
    for block in content if isinstance(content, list) else ():
        tool = text_at(block, "name") if isinstance(block, dict) and block.get("type") == "tool_use" else ""
        if tool == "Bash":
            yield tool, text_at(block, "input", "command")
        elif tool == READING_TOOL or tool in EDITING_TOOLS:
            yield tool, text_at(block, "input", "file_path") or text_at(block, "input", "notebook_path")


def _used(record: dict[str, object]) -> int:
    message = record.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    figures = [usage.get(name) for name in _USAGE] if isinstance(usage, dict) else []
    return sum(figure for figure in figures if type(figure) is int and 0 <= figure <= limits.MESSAGE_TOKENS)


def _telling(text: str) -> str:
    """Return the first letters of the longest piece of *text* that a note left whole."""
    pieces = text.replace("…", "\n").replace("→", "\n").split("\n")
    return max(map(_letters, pieces), key=len)[:_LETTERS]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _each_once(files: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(files))[: limits.FILES]
