"""The faults of a vault's facts: broken rules and chains, rivals, lost evidence, anchors that moved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from memtool.memory.anchors import moved_anchors
from memtool.memory.fact_book import FactBook, StoredFact, read_facts, rivals_of
from memtool.memory.spans import hashes_by_session, missing_spans, session_of_span
from memtool.vault.authors import is_past
from memtool.vault.facts import FactFile, check_facts
from memtool.workspace import Workspace

# The kinds of what is found; those that break a rule of the format, or the chain of facts, fail `facts verify`.
BROKEN, DOUBLE_ID, CHAIN = "broken", "double id", "chain"
CONTRADICTION, EVIDENCE, ANCHOR, EXPIRED, REVIEW = "contradiction", "evidence", "anchor", "expired", "review"
FAILING = frozenset({BROKEN, DOUBLE_ID, CHAIN})


class FactFinding(NamedTuple):
    """One thing that is wrong, or to be looked at, with the fact *id* in the file *ref*."""

    kind: str
    ref: str
    id: str
    sentence: str
    line: int = 0


def verify(work: Workspace, book: FactBook | None = None) -> list[FactFinding]:
    """Return the faults of the facts of the vault, file by file."""
    book = book or read_facts(work.vault)
    found = [FactFinding(BROKEN, ref, "", sentence) for ref, sentence in book.broken.items()]
    for ref, file in book.files.items():
        found += _faults(ref, file)
    found += [*_double_ids(book), *_chains(book), *_rivals(book)]
    found += [finding for stored in book for finding in _state(work, stored)]
    found += _evidence(work, book)
    order = [*book.broken, *book.files]
    return sorted(found, key=lambda finding: (order.index(finding.ref), finding.line))


def _faults(ref: str, file: FactFile) -> Iterator[FactFinding]:
    """Give what the schema finds in the file *ref*, each with its line and the id of its fact."""
    ids = {place.start_line: fact.id for fact, place in zip(file.facts, file.places, strict=True)}
    for sentence in check_facts(file.text, ref):
        where = re.match(r" line (\d+): |: ", said := sentence.removeprefix(f"'{ref}'"))
        line = int(where[1] or 0) if where else 0
        yield FactFinding(BROKEN, ref, ids.get(line, ""), said[where.end() :] if where else sentence, line)


def _double_ids(book: FactBook) -> Iterator[FactFinding]:
    counts = Counter((stored.fact.id) for stored in book if stored.fact.id)
    for stored in book:
        if counts[stored.fact.id] > 1:
            sentence = f"{counts[stored.fact.id]} facts have this id, so none of them can be changed"
            yield _finding(DOUBLE_ID, stored, sentence)


def _chains(book: FactBook) -> Iterator[FactFinding]:
    for stored in book:
        fact = stored.fact
        new, old = book.find(fact.superseded_by), book.find(fact.supersedes)
        if fact.superseded_by and new is None:
            yield _finding(CHAIN, stored, f"its successor '{fact.superseded_by}' does not exist")
        elif new and new.fact.supersedes not in ("", fact.id) and not _is_before(book, stored, new):
            yield _finding(CHAIN, stored, f"its successor '{new.fact.id}' names another one, '{new.fact.supersedes}'")
        if fact.supersedes and old is None:
            yield _finding(CHAIN, stored, f"the fact that it supersedes, '{fact.supersedes}', does not exist")
        elif old and old.fact.status == "active":
            yield _finding(CHAIN, stored, f"it supersedes '{old.fact.id}', which is active")
        if (fact.id and fact.superseded_by == fact.id) or (
            new and any(one is stored.fact for one in _after(book, new))
        ):
            yield _finding(CHAIN, stored, "its chain runs in a circle")


def _is_before(book: FactBook, stored: StoredFact, new: StoredFact) -> bool:
    """Return whether two facts were superseded by one, of which *new* can name only the other."""
    rival = book.find(new.fact.supersedes)
    return rival is not None and rival.fact.superseded_by == new.fact.id == stored.fact.superseded_by


def _after(book: FactBook, stored: StoredFact | None) -> Iterator[object]:
    seen: set[str] = set()
    while stored and stored.fact.id not in seen:
        seen.add(stored.fact.id)
        yield stored.fact
        stored = book.find(stored.fact.superseded_by)


def _rivals(book: FactBook) -> Iterator[FactFinding]:
    stored_by_id = {stored.fact.id: stored for stored in book}
    unfinished: list[str] = []
    for fact_id, others in rivals_of(list(book), unfinished).items():
        named = ", ".join(f"'{other}'" for other in others)
        yield _finding(CONTRADICTION, stored_by_id[fact_id], f"it seems to contradict {named}")
    for ref in unfinished:
        yield FactFinding(CONTRADICTION, ref, "", "it holds so many alike facts that not all of them were compared")


def _state(work: Workspace, stored: StoredFact) -> Iterator[FactFinding]:
    fact = stored.fact
    if fact.status != "active":
        return
    if is_past(fact.expires, work.now()):
        yield _finding(EXPIRED, stored, f"it was over on {fact.expires[:10]}")
    for sentence in moved_anchors(work.vault, fact, stored.project, work.language):
        yield _finding(ANCHOR, stored, sentence)
    if fact.review:
        yield _finding(REVIEW, stored, f"it is to be looked at again: {fact.review}")


def _evidence(work: Workspace, book: FactBook) -> Iterator[FactFinding]:
    active = [stored for stored in book if stored.fact.status == "active"]
    notes = hashes_by_session(work.vault, {session_of_span(span) for stored in active for span in stored.fact.spans})
    for stored in active:
        if missing := missing_spans(stored.fact.spans, notes):
            sentence = f"the words of its evidence do not stand in {', '.join(missing)} any more"
            yield _finding(EVIDENCE, stored, sentence)


def _finding(kind: str, stored: StoredFact, sentence: str) -> FactFinding:
    return FactFinding(kind, stored.ref, stored.fact.id, sentence, stored.place.start_line)
