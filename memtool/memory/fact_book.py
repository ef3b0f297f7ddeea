"""All facts of a vault, and single changes to them, each of them one commit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.history.one_commit import Kept, alone, commit, keep_edits
from memtool.memory.anchors import blob_of, root_of
from memtool.text.json_places import LineRange
from memtool.text.lines import one_line
from memtool.text.near_duplicates import contradicts, statement
from memtool.text.similarity import words
from memtool.vault.authors import is_past
from memtool.vault.facts import Fact, FactFile, parse_facts, update_facts
from memtool.vault.files import read_text
from memtool.vault.layout import FACTS_FILE, Vault, facts_ref, project_of
from memtool.workspace import Workspace

_AREAS = "areas"
_MOST_PAIRS = 20_000  # of alike facts of one file: some two seconds
_SHARED = 2  # words that two facts have in common at least, to be compared


class StoredFact(NamedTuple):
    """A fact in its place: the file *ref* and the lines in it."""

    ref: str
    fact: Fact
    place: LineRange

    @property
    def project(self) -> str:
        """The project that the fact belongs to; empty for none."""
        return self.fact.project or project_of(self.ref)


@dataclass(frozen=True)
class FactBook:
    """All facts of a vault, by file. *broken* says of each file that cannot be read why."""

    files: dict[str, FactFile] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[StoredFact]:
        for ref, file in self.files.items():
            for fact, place in zip(file.facts, file.places, strict=True):
                yield StoredFact(ref, fact, place)

    def is_broken(self, project: str) -> bool:
        """Return whether the facts of *project* cannot be read."""
        return facts_ref(project) in self.broken

    def find(self, fact_id: str) -> StoredFact | None:
        """Return the fact with *fact_id*, or None. An empty id names none: other tools write facts without one."""
        return next((stored for stored in self if stored.fact.id == fact_id), None) if fact_id else None

    def get(self, fact_id: str) -> StoredFact:
        """Return the one fact with *fact_id*.

        Raises:
            NoteNotFound: there is none.
            UsageError: several have that id.
        """
        found = [stored for stored in self if stored.fact.id == fact_id]
        if len(found) > 1:
            places = ", ".join(f"{stored.ref}:{stored.place.start_line}" for stored in found)
            raise UsageError(f"{len(found)} facts have the id '{fact_id}': {places}", hint="Give each its own by hand.")
        if not found:
            raise self._unknown(fact_id)
        return found[0]

    def history(self, stored: StoredFact) -> list[StoredFact]:
        """Return the chain of *stored*, oldest first: what it superseded, itself, and what superseded it."""
        chain, seen = [stored], {stored.fact.id}
        while (old := self.find(chain[0].fact.supersedes)) and old.fact.id not in seen:
            chain.insert(0, old)
            seen.add(old.fact.id)
        while (new := self.find(chain[-1].fact.superseded_by)) and new.fact.id not in seen:
            chain.append(new)
            seen.add(new.fact.id)
        return chain

    def _unknown(self, fact_id: str) -> NoteNotFound:
        near = get_close_matches(fact_id, [stored.fact.id for stored in self], 1)
        error = NoteNotFound(fact_id)
        error.hint = f"Did you mean '{near[0]}'?" if near else "`memtool facts list` shows what there is."
        return error


def read_facts(vault: Vault) -> FactBook:
    """Return the facts of all areas of *vault*; a file that cannot be read hides no other."""
    book = FactBook()
    for ref in sorted(_fact_files(vault)):
        try:
            book.files[ref] = parse_facts(read_text(vault.path(ref))[0], ref)
        except MemtoolError as error:
            book.broken[ref] = str(error)
        except OSError as error:
            book.broken[ref] = f"'{ref}' cannot be read: {error.strerror}"
    return book


def _fact_files(vault: Vault) -> Iterator[str]:
    for folder, below, names in os.walk(vault.root / _AREAS):
        below[:] = [name for name in below if not name.startswith(".")]
        if FACTS_FILE in names:
            yield os.path.relpath(os.path.join(folder, FACTS_FILE), vault.root).replace(os.sep, "/")  # noqa: PTH118


def rivals_of(facts: Sequence[StoredFact], unfinished: list[str] | None = None) -> dict[str, list[str]]:
    """Return for each fact, by its id, those of the same file that say something else of the same thing.

    Of a file with very many alike facts only so many pairs are compared; it is then added to *unfinished*.
    """
    found: dict[str, list[str]] = {}
    by_file: dict[str, list[StoredFact]] = {}
    for stored in facts:
        if stored.fact.status == "active" and stored.fact.id:
            by_file.setdefault(stored.ref, []).append(stored)
    for ref, group in by_file.items():
        statement_of = cache(statement)  # few facts are alike, and it takes longer than to tell so
        told = [(stored.fact.id, words(stored.fact.fact), stored.fact.fact) for stored in group]
        pairs = ((one, other) for at, one in enumerate(told) for other in told[:at] if _are_alike(one[1], other[1]))
        for one, other in islice(pairs, _MOST_PAIRS):
            if contradicts(statement_of(one[2]), statement_of(other[2]), in_one_place=True):
                found.setdefault(one[0], []).append(other[0])
                found.setdefault(other[0], []).append(one[0])
        if unfinished is not None and next(pairs, None):
            unfinished.append(ref)
    return found


def _are_alike(words_of_one: frozenset[str], words_of_other: frozenset[str]) -> bool:
    shared = len(words_of_one & words_of_other)
    return shared >= _SHARED and 2 * shared >= min(len(words_of_one), len(words_of_other))


def stands(stored: StoredFact, work: Workspace) -> bool:
    """Return whether the fact is active and not over."""
    return stored.fact.status == "active" and not is_past(stored.fact.expires, work.now())


class Deed(NamedTuple):
    """The outcome of a change: the fact as it now is, and its commit."""

    stored: StoredFact
    kept: Kept


def change_fact(work: Workspace, fact_id: str, deed: str, change: Callable[[tuple[Fact, ...]], Sequence[Fact]]) -> Deed:
    """Apply *change* to the file that holds *fact_id*, and commit it as *deed*.

    Raises:
        NoteNotFound, UsageError, MemtoolError: nothing was changed.
    """
    with alone(work.vault):
        found = read_facts(work.vault).get(fact_id)
        keep_edits(work.vault, [found.ref])
        file = update_facts(work.vault, found.ref, change)
        at = next(at for at, fact in enumerate(file.facts) if fact.id == fact_id)
        kept = commit(work.vault, [found.ref], deed, f"{fact_id}: {found.fact.fact}")
    return Deed(StoredFact(found.ref, file.facts[at], file.places[at]), kept)


def checked_values(work: Workspace, fact_id: str, values: Mapping[str, Any], *, reviewed: bool) -> dict[str, Any]:
    """Return *values* as a fact holds them: redacted, dates in full; *reviewed* anchors have the blobs of today.

    Raises:
        NoteNotFound: there is no such fact.
        UsageError: a value is none.
    """
    from memtool.memory.new_memory import NewMemory, prepared

    stored = read_facts(work.vault).get(fact_id)
    given = {name: value for name, value in values.items() if name in ("tags", "expires", "evidence", "category")}
    memory = prepared(
        NewMemory(stored.fact.fact, author=stored.fact.author, **given),
        work.redact,
        work.now().date(),
        max_bytes=work.max_bytes,
    )
    result = dict(values) | {name: getattr(memory, name) for name in given}
    for name in ("domain", "summary"):
        if name in result:
            result[name] = one_line(work.redact(str(result[name])))
    if reviewed:
        root = root_of(work.vault, stored.project)
        anchors = ({**anchor, "blob": blob_of(Path(root) / str(anchor["path"]))} for anchor in stored.fact.anchors)
        result |= {"review": "", "anchors": tuple(anchors) if root else stored.fact.anchors}
    return result
