"""Memories: facts and notes under one id, as whoever asks over HTTP knows them. They are read, listed and changed.

The id of a fact is its own, that of a note its path. The version of a memory changes whenever its content does.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from memtool.errors import BrokenVaultFile, NoteChanged, NoteNotFound
from memtool.history.one_commit import alone, commit, keep_edits
from memtool.index.engine import catch_up, place_of, use_index
from memtool.index.filters import Filter, folded_tag
from memtool.index.lookup import find_note
from memtool.index.search import newest
from memtool.memory.fact_book import StoredFact, change_fact, checked_values, read_facts
from memtool.memory.new_memory import NewMemory, prepared
from memtool.memory.remember import remember
from memtool.recall.ledger import key_of
from memtool.recall.uses import read_uses
from memtool.text.frontmatter import set_field, set_list, split_front_matter, with_body
from memtool.vault.authors import IMPORTED
from memtool.vault.facts import Fact, change, fields_of
from memtool.vault.files import content_hash, read_text, replace
from memtool.vault.kinds import FACT, KNOWLEDGE
from memtool.vault.layout import is_archived
from memtool.vault.marks import UNSOLVED
from memtool.vault.memory import Found
from memtool.vault.reading import WHOLE, Ref, read_note
from memtool.workspace import Workspace

NEWEST, UPDATED, USES = "newest", "updated", "uses"

_VERSION = 16  # characters
_MOST_SORTED = 10_000  # memories; of more, the newest are sorted by their uses
_FIELDS_OF_NOTE = ("category", "expires", "summary")
_LONGEST_SUMMARY = 500  # characters


class StoredMemory(NamedTuple):
    """A memory.

    Args:
        id: of a fact its own, of a note its path.
        version: changes whenever the content does.
        kind: `fact`, or that of a note.
        content: the statement, or the text of the note below its front matter.
        summary: a few words for lists, as somebody gave them.
        created: ISO date or time.
        status: `active`, `superseded` or `archived`.
        uses: how often it was used or read.
        path, start_line, end_line: where it stands.
    """

    id: str
    version: str
    kind: str
    content: str
    title: str
    summary: str
    category: str
    tags: tuple[str, ...]
    project: str
    author: str
    status: str
    created: str
    expires: str
    uses: int
    path: str
    start_line: int
    end_line: int
    evidence: str = ""
    supersedes: str = ""
    superseded_by: str = ""


class MemoryPage(NamedTuple):
    """Some memories of a list, and how many there are in all."""

    hits: tuple[Found, ...]
    total: int


def get_memory(work: Workspace, memory_id: str) -> StoredMemory:
    """Return the memory *memory_id*.

    Raises:
        NoteNotFound: there is none.
        UsageError: several have that id.
        MemtoolError: the vault or its index cannot be read.
    """
    stored = _find_fact(work, memory_id)
    return _of_fact(work, stored) if stored else _of_note(work, memory_id)


def list_memories(work: Workspace, wanted: Filter, *, limit: int, offset: int = 0, order: str = NEWEST) -> MemoryPage:
    """Return *limit* of the memories that *wanted* leaves, from number *offset* on, in the *order* wanted.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    most = offset + limit if order == NEWEST else _MOST_SORTED
    found = use_index(place_of(work), lambda index: newest(index, wanted, limit=most))
    hits: Sequence[Found] = found.hits
    if order == USES:
        uses = uses_of(work, hits)
        hits = sorted(hits, key=lambda hit: -uses.get(id_of(hit), 0))
    if order == UPDATED:
        updated = _changed_at(work)
        hits = sorted(hits, key=updated, reverse=True)
    return MemoryPage(tuple(hits[offset : offset + limit]), found.total)


def change_memory(work: Workspace, memory_id: str, values: Mapping[str, Any], *, version: str, author: str) -> str:
    """Change a memory in part, in one commit, and return its id: a fact that says something else is another fact.

    Args:
        work: its vault is written.
        memory_id: what is changed.
        values: `content`, `summary`, `tags`, `category`, `expires`.
        version: the one that was read; empty to change whatever stands.
        author: who says so.

    Raises:
        NoteChanged: it was changed since.
        UsageError: a value is none, or it is of a sort that has no such field.
        MemtoolError: nothing was changed.
    """
    stored = _find_fact(work, memory_id)
    if stored is None:
        changed_id = _change_note(work, memory_id, values, version)
    elif "content" in values and values["content"] != stored.fact.fact:
        changed_id = _supersede(work, stored, values, version, author)
    else:
        changed_id = _change_fact(work, stored, values, version)
    catch_up(work)
    return changed_id


def id_of(hit: Found) -> str:
    """Return the id of the memory that was found."""
    return hit.memory.id


def uses_of(work: Workspace, hits: Sequence[Found]) -> dict[str, int]:
    """Return how often each of *hits* was used, by its id."""
    keys = {hit.memory.key: id_of(hit) for hit in hits}
    counted = read_uses(work.index_folder, list(keys)) if keys else {}
    return {keys[key]: count for key, count in counted.items()}


def _changed_at(work: Workspace) -> Callable[[Found], float]:
    """Return what gives the time at which a memory was changed last: a note's by its file, a fact's as it says."""
    facts = {stored.fact.id: stored.fact.updated or stored.fact.timestamp for stored in read_facts(work.vault)}
    zone = work.now().tzinfo

    def changed_at(hit: Found) -> float:
        with suppress(OSError, ValueError, OverflowError):
            if not hit.memory.fact_id:
                return (work.vault.root / hit.memory.path).stat().st_mtime
            moment = dt.datetime.fromisoformat(facts.get(hit.memory.fact_id, ""))
            return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()
        return 0.0

    return changed_at


def _find_fact(work: Workspace, memory_id: str) -> StoredFact | None:
    book = read_facts(work.vault)
    with suppress(NoteNotFound):
        return book.get(memory_id)
    return None


def _of_fact(work: Workspace, stored: StoredFact) -> StoredMemory:
    fact = stored.fact
    key = key_of(stored.ref, fact.id)
    return StoredMemory(
        fact.id, _version_of_fact(fact), FACT, fact.fact, fact.fact, fact.summary,
        fact.category, fact.tags, stored.project, fact.author or IMPORTED, fact.status, fact.timestamp, fact.expires,
        read_uses(work.index_folder, [key]).get(key, 0),
        stored.ref, stored.place.start_line, stored.place.end_line, fact.evidence, fact.supersedes, fact.superseded_by,
    )  # fmt: skip


def _of_note(work: Workspace, name: str) -> StoredMemory:
    ref = _ref_of(work, name)
    reading = read_note(work.vault, Ref(ref), level=WHOLE, max_bytes=work.max_bytes)
    if reading.problem == UNSOLVED:
        raise BrokenVaultFile(f"'{ref}': {UNSOLVED}", hint="Choose one with an editor.")
    fields = {key: str(value) for key, value in reading.fields.items() if not isinstance(value, list | dict)}
    tags = reading.fields.get("tags")
    first = split_front_matter(reading.text)[1]
    archived = is_archived(ref) or fields.get("status") == "archived"
    return StoredMemory(
        ref, _version_of(reading.text), reading.kind, "\n".join(reading.text.split("\n")[first - 1 :]).strip(),
        reading.title, fields.get("summary", ""), fields.get("category", ""),
        tuple(map(str, tags)) if isinstance(tags, list) else (), reading.project, fields.get("author", ""),
        "archived" if archived else fields.get("status") or "active",
        fields.get("date") or fields.get("created", ""), fields.get("expires", ""),
        read_uses(work.index_folder, [ref]).get(ref, 0), ref, reading.start_line, reading.end_line,
    )  # fmt: skip


def _ref_of(work: Workspace, name: str) -> str:
    return use_index(place_of(work), lambda index: find_note(index.db, name))


def _change_fact(work: Workspace, stored: StoredFact, values: Mapping[str, Any], version: str) -> str:
    wanted = {name: value for name, value in values.items() if name != "content"}
    wanted = checked_values(work, stored.fact.id, wanted, reviewed=False)
    wanted["updated"] = work.now().isoformat(timespec="seconds")

    def new(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        _check_version(facts, stored.fact.id, version)
        return change(facts, stored.fact.id, **wanted)

    return change_fact(work, stored.fact.id, "update", new).stored.fact.id


def _supersede(work: Workspace, stored: StoredFact, values: Mapping[str, Any], version: str, author: str) -> str:
    old = stored.fact
    _check_version((old,), old.id, version)
    memory = NewMemory(
        values["content"],
        category=values.get("category", old.category),
        tags=tuple(values.get("tags", old.tags)),
        expires=values.get("expires", old.expires),
        author=author,
        supersedes=old.id,
        summary=values.get("summary", ""),
    )
    return remember(work, memory).id


def _change_note(work: Workspace, name: str, values: Mapping[str, Any], version: str) -> str:
    ref = _ref_of(work, name)
    values = _checked(work, values)
    with alone(work.vault):
        keep_edits(work.vault, [ref])
        path = work.vault.path(ref).resolve()
        with work.vault.lock():
            text, expected = read_text(path)
            if version and _version_of(text) != version:
                raise NoteChanged(f"'{ref}' was changed by someone else")
            replace(path, _rewritten(text, values), expected=expected)
        commit(work.vault, [ref], "update", ref)
    return ref


def _checked(work: Workspace, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return *values* without secrets, as a note holds them."""
    given = {name: values[name] for name in ("category", "expires", "tags") if name in values}
    text = values.get("content", "a note keeps its text")
    memory = prepared(
        NewMemory(text, kind=KNOWLEDGE, **given), work.redact, work.now().date(), max_bytes=work.max_bytes
    )
    checked = {name: getattr(memory, name) for name in given}
    if "content" in values:
        checked["content"] = memory.text
    if "summary" in values:
        checked["summary"] = " ".join(work.redact(str(values["summary"])).split())[:_LONGEST_SUMMARY]
    return checked


def _rewritten(text: str, values: Mapping[str, Any]) -> str:
    if "content" in values:
        text = with_body(text, values["content"])
    for name in _FIELDS_OF_NOTE:
        text = set_field(text, name, values[name]) if name in values else text
    return set_list(text, "tags", map(folded_tag, values["tags"])) if "tags" in values else text


def _check_version(facts: Sequence[Fact], fact_id: str, version: str) -> None:
    fact = next((each for each in facts if each.id == fact_id), None)
    if version and (fact is None or _version_of_fact(fact) != version):
        raise NoteChanged(f"'{fact_id}' was changed by someone else")


def _version_of_fact(fact: Fact) -> str:
    return _version_of(json.dumps(fields_of(fact), sort_keys=True))


def _version_of(text: str) -> str:
    return content_hash(text.encode("utf-8", "replace"))[:_VERSION]
