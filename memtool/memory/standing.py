"""Statements that the vault holds already: candidates from the index, compared one by one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from memtool.errors import MemtoolError
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.rows import pieces_of
from memtool.index.search import search
from memtool.index.semantic import Vectors
from memtool.text.near_duplicates import (
    SAME_MEANING,
    contradicts,
    is_same,
    may_mean_the_same,
    statement,
)
from memtool.vault.authors import IMPORTED
from memtool.vault.facts import parse_facts
from memtool.vault.files import read_text
from memtool.vault.kinds import FACT, FOLDERS
from memtool.vault.layout import Vault
from memtool.vault.memory import Found
from memtool.vault.note import Note, parse_note

_LOOKED_AT = 20  # hits
_MOST_SHOWN = 3  # contradictions
_KINDS_OF_FACT = ("fact", "memory", "rules")  # where one statement stands by itself


class Standing(NamedTuple):
    """A statement of the vault. *id* is that of a fact; anything else is named by its path and lines."""

    path: str
    start_line: int
    end_line: int
    text: str
    id: str = ""
    author: str = ""

    @property
    def name(self) -> str:
        """The name by which the user knows it: the id of a fact, or a path."""
        end = f"-{self.end_line}" if self.end_line > self.start_line else ""
        return self.id or f"{self.path}:{self.start_line}{end}"


class Neighbours(NamedTuple):
    """The statements in force: the *twin* that says the same, if any, and facts that seem to say otherwise."""

    twin: Standing | None = None
    contradictions: tuple[Standing, ...] = ()


def find_standing(
    index: Index, text: str, kind: str, project: str, today: dt.date, *, ref: str, besides: str, vectors: Vectors | None
) -> Neighbours:
    """Return the neighbours of *text*, which is to be written, in *project* and among what belongs to none.

    Args:
        index: an open index.
        text: a statement, or the body of a note.
        kind: `fact`, or that of a note.
        project: where it belongs; empty for none.
        today: what has expired does not stand.
        ref: the file that a fact would be added to: contradictions are looked for there.
        besides: the id of a fact that does not count, because it is to be superseded.
        vectors: for statements that mean the same in other words; None compares words only.
    """
    wanted = Filter(today, kinds=_KINDS_OF_FACT if kind == FACT else tuple(FOLDERS), projects=(project, ""))
    hits = search(index, text, wanted, limit=_LOOKED_AT).hits
    new = statement(text)
    candidates = [one for one in _statements(index.place.vault, hits) if not besides or one.id != besides]
    compared = [(one, statement(one.text)) for one in candidates]
    twin = next((one for one, other in compared if is_same(new, other)), None)
    if kind != FACT:
        return Neighbours(twin)
    if twin is None and vectors is not None:
        twin = _of_same_meaning(index, text, wanted, vectors, besides)
    against = (one for one, other in compared if one.id and one.path == ref and contradicts(new, other))
    return Neighbours(twin, tuple(islice(against, _MOST_SHOWN)))


def _of_same_meaning(index: Index, text: str, wanted: Filter, vectors: Vectors, besides: str) -> Standing | None:
    """Return the statement whose vector is nearest to that of *text*, if it is near enough. No failure stops a deed."""
    with suppress(MemtoolError):
        hits = search(index, text, wanted, limit=_LOOKED_AT, mode="hybrid", vectors=vectors).hits
        found = [
            one
            for one in _statements(index.place.vault, hits)
            if may_mean_the_same(text, one.text) and (not besides or one.id != besides)
        ][:_LOOKED_AT]
        if found:
            rows = vectors.embedder.embed_notes([text, *(one.text for one in found)])
            likeness = (rows[1:] @ rows[0]).tolist()
            best = max(range(len(found)), key=likeness.__getitem__)
            if likeness[best] >= SAME_MEANING:
                return found[best]
    return None


def _statements(vault: Vault, hits: Iterable[Found]) -> Iterator[Standing]:
    """Give the statements of *hits*: facts without their evidence, lines of a list one by one, notes whole."""
    facts: dict[str, dict[str, Standing]] = {}
    seen: set[str] = set()
    for memory in (hit.memory for hit in hits):
        if memory.fact_id:
            if memory.path not in facts:
                facts[memory.path] = _facts_in(vault, memory.path)
            if memory.id in facts[memory.path]:
                yield facts[memory.path][memory.id]
        elif memory.kind in FOLDERS:
            if memory.path not in seen:
                seen.add(memory.path)
                yield from _note_at(vault, memory.path)
        else:
            for piece in pieces_of(memory.text) or [memory.text]:
                yield Standing(*memory.place, piece.lstrip("-*+ "))


def _facts_in(vault: Vault, ref: str) -> dict[str, Standing]:
    with suppress(MemtoolError, OSError):
        file = parse_facts(read_text(vault.path(ref))[0], ref)
        return {
            fact.id: Standing(ref, place.start_line, place.end_line, fact.fact, fact.id, fact.author or IMPORTED)
            for fact, place in zip(file.facts, file.places, strict=True)
        }
    return {}


def _note_at(vault: Vault, ref: str) -> Iterator[Standing]:
    with suppress(MemtoolError, OSError):
        note = parse_note(ref, vault.path(ref).read_bytes())
        if isinstance(note, Note):
            yield Standing(ref, 1, note.text.rstrip("\n").count("\n") + 1, note.body)
