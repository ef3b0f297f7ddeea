"""The memories of a vault, read, listed, changed and archived by id and version, for every interface.

The id of a fact is its own, that of a note its path, that of an open item its path and line. The version of a memory
changes with its content; a change that names an older version is refused.

Each function raises MemtoolError where the vault or its index cannot be read or written; then nothing was changed.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import BrokenVaultFile, MemtoolError, NoteChanged, NoteNotFound, UsageError
from memtool.history.one_commit import Kept, alone, commit, keep_edits
from memtool.index.engine import catch_up, place_of, use_index
from memtool.index.filters import Filter, folded_tag
from memtool.index.lookup import find_note
from memtool.index.search import Page, newest
from memtool.memory import limits
from memtool.memory.fact_book import StoredFact, blob_of, read_facts, root_of
from memtool.memory.forget import find_target, forget, sort_of
from memtool.memory.new_memory import MemoryChange, prepared
from memtool.memory.remember import by_words, remember
from memtool.recall.ledger import key_of
from memtool.recall.uses import read_uses
from memtool.text.frontmatter import set_field, set_list, split_front_matter, with_body
from memtool.text.lines import one_line
from memtool.text.markdown import heading_text
from memtool.vault.facts import Fact, change, fields_of, parse_facts, update_facts
from memtool.vault.files import content_hash, hash_of, read_text, replace
from memtool.vault.layout import DAILY, area_folder
from memtool.vault.marks import UNSOLVED, holds_two_texts
from memtool.vault.memory import AGENT, FACT, KINDS, KNOWLEDGE, NOTE, TODO, Found, Location, Memory, NewMemory
from memtool.vault.reading import WHOLE, Ref, read_note
from memtool.vault.todos import change_todo, close_todo, find_todos
from memtool.workspace import Workspace

NEWEST, UPDATED, USES = "newest", "updated", "uses"
TICKED_OFF = "[x]"  # the new content of an open item that is done

_FIELDS_OF_NOTE = ("category", "expires", "summary")
_AT_VERSION = re.compile(r"(?P<id>.+)@(?P<version>[0-9a-f]{8})")


class StoredMemory(NamedTuple):
    """A memory in full: its *memory* has the whole text, and its version.

    Args:
        summary: a few words for lists; empty if none were written.
        uses: how often it was used or read.
        evidence, supersedes, superseded_by: of a fact.
    """

    memory: Memory
    summary: str
    uses: int
    evidence: str = ""
    supersedes: str = ""
    superseded_by: str = ""


class EntryPage(NamedTuple):
    """Page number *page* of a project's entries, with their versions; how many there are, and whether more follow."""

    entries: tuple[Memory, ...]
    page: int
    total: int
    more: bool


def get_memory(work: Workspace, memory_id: str) -> StoredMemory:
    """Return the memory *memory_id*.

    Raises:
        NoteNotFound: there is none.
        UsageError: several have that id.
    """
    with suppress(NoteNotFound):
        stored = read_facts(work.vault).get(memory_id)
        fact, key = stored.fact, key_of(stored.ref, memory_id)
        memory = stored.memory._replace(title=fact.fact, version=_version_of_fact(fact))
        uses = read_uses(work.index_folder, [key]).get(key, 0)
        return StoredMemory(memory, fact.summary, uses, fact.evidence, fact.supersedes, fact.superseded_by)
    ref = use_index(place_of(work), lambda index: find_note(index.db, memory_id))
    reading = read_note(work.vault, Ref(ref), level=WHOLE, max_bytes=work.max_bytes)
    if reading.problem == UNSOLVED:
        raise BrokenVaultFile(f"'{ref}': {UNSOLVED}", hint="Choose one with an editor.")
    text, version = reading.memory.text, str(hash_of(work.vault.path(ref)))[: limits.VERSION]
    body = "\n".join(text.split("\n")[split_front_matter(text)[1] - 1 :]).strip()
    summary, uses = str(reading.fields.get("summary") or ""), read_uses(work.index_folder, [ref]).get(ref, 0)
    return StoredMemory(reading.memory._replace(text=body, version=version), summary, uses)


def list_memories(work: Workspace, wanted: Filter, *, limit: int, offset: int = 0, order: str = NEWEST) -> Page:
    """Return *limit* of the memories that *wanted* leaves, from number *offset* on, in the *order* wanted."""
    most = offset + limit if order == NEWEST else 10_000  # of more, the newest are sorted by their uses or changes
    found = use_index(place_of(work), lambda index: newest(index, wanted, limit=most))
    hits: Sequence[Found] = found.hits
    if order == USES:
        uses = uses_of(work, hits)
        hits = sorted(hits, key=lambda hit: -uses.get(hit.memory.id, 0))
    if order == UPDATED:
        hits = sorted(hits, key=_changed_at(work), reverse=True)
    return Page(tuple(hits[offset : offset + limit]), found.total)


def list_entries(work: Workspace, *, page: int = 1) -> EntryPage:
    """Return the open items of the project at hand, on the first page, then its notes and facts, newest first."""
    project, limit = work.area().name, 20
    wanted = Filter(work.now(), kinds=tuple(KINDS.keys() - {DAILY, TODO}), projects=(project,))
    found = list_memories(work, wanted, limit=limit, offset=limit * (page - 1))
    todos = list(_todos(work, project))
    listed = list(todos) if page == 1 else []
    for memory in (hit.memory for hit in found.hits):
        with suppress(MemtoolError, OSError):
            now = current(work, memory)
            listed.append(memory._replace(text=now.text if memory.fact_id else memory.title, version=now.version))
    return EntryPage(tuple(listed), page, found.total + len(todos), more=found.total > limit * page)


def find_entry(work: Workspace, named: str, *, or_overview: bool = False) -> tuple[Memory, str]:
    """Return the memory of the project at hand, or of none, that *named* means, and the version in `id@version`.

    With *or_overview* the overview of the project may be meant; no other page of the vault is a memory.

    Raises:
        NoteNotFound: there is none.
        UsageError: it belongs to another project, or several have that name.
    """
    match = _AT_VERSION.fullmatch(named.strip())
    name, version = (match["id"], match["version"]) if match else (named.strip(), "")
    here = work.area()
    if or_overview and name == here.ref and work.vault.path(name).is_file():
        return Memory(name, here.name, "project", Location(name), title=here.name, project=here.name), version
    memory = find_target(work, name)
    if memory.project.casefold() not in ("", here.name.casefold()):
        hint = "Give the path of that project as project_path."
        raise UsageError(f"'{memory.id}' belongs to the project '{memory.project}'", hint=hint)
    return memory, version


def archive_memory(work: Workspace, memory: Memory, version: str = "") -> MemoryChange:
    """Archive *memory*; an open item is struck out.

    Raises:
        NoteChanged: it no longer has *version*.
    """
    if version:
        _check_version(work, memory, version)
    done = forget(work, memory)
    catch_up(work)
    return done


def change_entry(work: Workspace, named: str, content: str) -> MemoryChange:
    """Put *content* in the place of what *named* says, an id with the version that an agent has read.

    Raises:
        UsageError: *named* has no version, or belongs to another project.
    """
    memory, version = find_entry(work, named, or_overview=True)
    if not version:
        hint = "Take it from `list`; it changes whenever the entry does."
        raise UsageError(f"'{memory.id}' needs its version, such as {memory.id}@3f2a9c01", hint=hint)
    values = {"content": content}
    return change_memory(by_words(work), memory, values, version=version, author=AGENT, source=work.session_id)


def change_memory(
    work: Workspace, memory: Memory, values: Mapping[str, Any], *, version: str, author: str, source: str = ""
) -> MemoryChange:
    """Change *memory* in part, in one commit, and return it as it is then: a fact with another text is another fact.

    Args:
        work: its vault is written.
        memory: a fact, a note, or an open item, which is done with the content `[x]`.
        values: `content`, `summary`, `tags`, `category`, `expires`; an open item has only its content.
        version: the one that was read; empty to change whatever the vault holds.
        author: who says so.
        source: the session in which it was said.

    Raises:
        NoteChanged: it was changed since.
        UsageError: a value is none, or it is a single line of a note.
    """
    if version:
        _check_version(work, memory, version)
    if memory.kind == FACT:
        done = _change_fact(work, memory, values, version, author, source)
    elif (sort := sort_of(memory)) == TODO:
        done = _change_todo(work, memory, str(values["content"]))
    elif sort == NOTE:
        checked = _of_a_note(work, values)
        done = _rewrite(work, memory, version, lambda text: _rewritten(text, checked))
    else:
        raise UsageError(f"'{memory.id}' is one line of a note", hint="Update the note as a whole.")
    catch_up(work)
    return done


def change_fact(
    work: Workspace, fact_id: str, what: str, changed: Callable[[tuple[Fact, ...]], Sequence[Fact]]
) -> tuple[StoredFact, Kept]:
    """Apply *changed* to the file that holds *fact_id*; return the fact then, and the commit, which begins with *what*.

    Raises:
        NoteNotFound, UsageError, MemtoolError: nothing was changed.
    """
    with alone(work.vault):
        found = read_facts(work.vault).get(fact_id)
        keep_edits(work.vault, [found.ref])
        file = update_facts(work.vault, found.ref, changed)
        at = next(at for at, fact in enumerate(file.facts) if fact.id == fact_id)
        kept = commit(work.vault, [found.ref], what, f"{fact_id}: {found.fact.fact}")
    return StoredFact(found.ref, file.facts[at], file.places[at]), kept


def checked_values(work: Workspace, fact_id: str, values: Mapping[str, Any], *, reviewed: bool) -> dict[str, Any]:
    """Return *values* as a fact holds them: redacted, dates in full; *reviewed* anchors have the blobs of today.

    Raises:
        NoteNotFound: there is no such fact.
        UsageError: a value is none.
    """
    stored = read_facts(work.vault).get(fact_id)
    given = {name: value for name, value in values.items() if name in ("tags", "expires", "evidence", "category")}
    memory = prepared(work, NewMemory(stored.fact.fact, author=stored.fact.author, **given))
    result = dict(values) | {name: getattr(memory, name) for name in given}
    for name in ("domain", "summary"):
        if name in result:
            result[name] = one_line(work.redact(str(result[name])))
    if reviewed:
        root = root_of(work.vault, stored.project)
        anchors = ({**anchor, "blob": blob_of(Path(root) / str(anchor["path"]))} for anchor in stored.fact.anchors)
        result |= {"review": "", "anchors": tuple(anchors) if root else stored.fact.anchors}
    return result


def uses_of(work: Workspace, hits: Sequence[Found]) -> dict[str, int]:
    """Return how often each of *hits* was used, by its id."""
    ids = {hit.memory.key: hit.memory.id for hit in hits}
    counted = read_uses(work.index_folder, list(ids)) if ids else {}
    return {ids[key]: count for key, count in counted.items()}


def current(work: Workspace, memory: Memory) -> Memory:
    """Return *memory* with the text and the version that the vault has now; the text of a note is its whole file.

    Raises:
        NoteNotFound: a fact is gone.
    """
    if sort_of(memory) == TODO:
        return memory._replace(version=_version_of(memory.text))
    text, digest = work.vault.read(memory.path)
    if memory.kind != FACT:
        return memory._replace(text=text, version=digest[: limits.VERSION])
    fact = next((fact for fact in parse_facts(text, memory.path).facts if fact.id == memory.id), None)
    if fact is None:
        raise NoteNotFound(memory.id)
    return memory._replace(text=fact.fact, version=_version_of_fact(fact))


def _check_version(work: Workspace, memory: Memory, version: str) -> None:
    now = current(work, memory)
    if now.version != version:
        raise NoteChanged(
            f"'{memory.id}' changed since you read it; it says now: {one_line(now.text)[:500]}",
            hint=f"If your change still holds, make it again with {now.at_version}.",
        )


def _version_of_fact(fact: Fact) -> str:
    return _version_of(json.dumps(fields_of(fact), sort_keys=True))


def _version_of(text: str) -> str:
    return content_hash(text.encode("utf-8", "replace"))[: limits.VERSION]


def _todos(work: Workspace, project: str) -> Iterator[Memory]:
    ref = f"{area_folder(project)}/{KINDS[TODO].file}"
    with suppress(MemtoolError, OSError):
        text = work.vault.read(ref)[0]
        for todo in () if holds_two_texts(text) else find_todos(text):
            if todo.is_open:
                place = Location(ref, todo.line, todo.line)
                yield Memory(f"{ref}:{todo.line}", todo.text, TODO, place, version=_version_of(todo.text))


def _changed_at(work: Workspace) -> Callable[[Found], float]:
    """Return a function that gives the time of a memory's last change: a note's by its file, a fact's as it says."""
    facts = {stored.fact.id: stored.fact.updated or stored.fact.timestamp for stored in read_facts(work.vault)}
    zone = work.now().tzinfo

    def changed_at(hit: Found) -> float:
        with suppress(OSError, ValueError, OverflowError):
            if not hit.memory.fact_id:
                return (work.vault.root / hit.memory.path).stat().st_mtime
            moment = dt.datetime.fromisoformat(facts.get(hit.memory.id, ""))
            return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()
        return 0.0

    return changed_at


def _change_fact(
    work: Workspace, memory: Memory, values: Mapping[str, Any], version: str, author: str, source: str
) -> MemoryChange:
    if values.get("content", memory.text) != memory.text:
        old = read_facts(work.vault).get(memory.id).fact
        new = NewMemory(
            values["content"],
            category=values.get("category", old.category),
            tags=tuple(values.get("tags", old.tags)),
            expires=values.get("expires", old.expires),
            author=author,
            source=source,
            supersedes=old.id,
            summary=values.get("summary", ""),
        )
        return remember(work, new)
    wanted = {name: value for name, value in values.items() if name != "content"}
    wanted = checked_values(work, memory.id, wanted, reviewed=False)
    wanted["updated"] = work.now().isoformat(timespec="seconds")

    def changed(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        fact = next((each for each in facts if each.id == memory.id), None)
        if version and (fact is None or _version_of_fact(fact) != version):
            raise NoteChanged(f"'{memory.id}' was changed by someone else")
        return change(facts, memory.id, **wanted)

    _, kept = change_fact(work, memory.id, "update", changed)
    return MemoryChange(memory, kept=kept)


def _change_todo(work: Workspace, memory: Memory, content: str) -> MemoryChange:
    is_done = content.strip() == TICKED_OFF
    said = "" if is_done else one_line(prepared(work, NewMemory(content, kind=KNOWLEDGE)).text)

    def changed(text: str) -> str:
        line = next((todo.line for todo in find_todos(text) if todo.text == memory.text and todo.is_open), 0)
        return change_todo(text, line, said) if said else close_todo(text, line, work.session_id, work.language)

    return _rewrite(work, memory, "", changed)


def _of_a_note(work: Workspace, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return *values* without secrets, as a note holds them."""
    given = {name: values[name] for name in ("category", "expires", "tags") if name in values}
    text = values.get("content", "a note keeps its text")
    memory = prepared(work, NewMemory(text, kind=KNOWLEDGE, **given))
    checked = {name: getattr(memory, name) for name in given}
    if "content" in values:
        checked["content"] = memory.text
    if "summary" in values:
        checked["summary"] = one_line(work.redact(str(values["summary"])))[:500]
    return checked


def _rewritten(text: str, values: Mapping[str, Any]) -> str:
    """Return the note *text* with other *values*; a title in its front matter follows the new heading."""
    if "content" in values:
        matter, _ = split_front_matter(text)
        text = with_body(text, values["content"])
        title = heading_text(values["content"].partition("\n")[0])
        if title and matter is not None and re.search(r"(?m)^title:", matter):
            text = set_field(text, "title", title)
    for name in _FIELDS_OF_NOTE:
        text = set_field(text, name, values[name]) if name in values else text
    return set_list(text, "tags", map(folded_tag, values["tags"])) if "tags" in values else text


def _rewrite(work: Workspace, memory: Memory, version: str, change: Callable[[str], str]) -> MemoryChange:
    """Write the file of *memory* over the version that was read, and commit it."""
    path = work.vault.path(memory.path).resolve()
    with alone(work.vault):
        keep_edits(work.vault, [memory.path])
        with work.vault.lock():
            text, digest = read_text(path)
            if version and not digest.startswith(version):
                _check_version(work, memory, version)
            new = change(text)
            if new != text:
                digest = replace(path, new, expected=digest)
        kept = commit(work.vault, [memory.path], "update", memory.title or memory.text) if new != text else Kept()
    version = digest[: limits.VERSION] if sort_of(memory) == NOTE else ""
    return MemoryChange(memory._replace(version=version), changed=new != text, kept=kept)
