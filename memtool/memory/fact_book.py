"""All facts of a vault, by file; the words and the files that they rest on; and their faults."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import MemtoolError, NoteNotFound, UsageError
from memtool.memory import limits
from memtool.text.json_places import LineRange
from memtool.text.languages import labels
from memtool.text.near_duplicates import contradicts, statement
from memtool.text.similarity import words
from memtool.vault.facts import Fact, FactFile, memory_of, parse_facts
from memtool.vault.layout import FACTS_FILE, Vault, facts_ref, project_of
from memtool.vault.memory import Memory, is_past
from memtool.vault.note import Note, parse_note
from memtool.vault.scan import scan
from memtool.vault.session_names import FOLDER, note_of, session_at
from memtool.vault.sessions import Line, hash_of_words, lines_of
from memtool.workspace import Workspace


class StoredFact(NamedTuple):
    """A fact in its place: the file *ref* and the lines in it."""

    ref: str
    fact: Fact
    place: LineRange

    @property
    def memory(self) -> Memory:
        """The fact as a memory."""
        return memory_of(self.fact, self.ref, self.place)

    @property
    def project(self) -> str:
        """The project that the fact belongs to; empty for none."""
        return self.fact.project or project_of(self.ref)

    def is_current(self, work: Workspace) -> bool:
        """Return whether the fact is active and has not expired."""
        return self.fact.status == "active" and not is_past(self.fact.expires, work.now())


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
            near = get_close_matches(fact_id, [stored.fact.id for stored in self], 1)
            error = NoteNotFound(fact_id)
            error.hint = f"Did you mean '{near[0]}'?" if near else "`memtool facts list` shows what there is."
            raise error
        return found[0]

    def history(self, stored: StoredFact) -> list[StoredFact]:
        """Return the chain of *stored*, oldest first: what it superseded, itself, and what superseded it."""
        found, seen = [stored], {stored.fact.id}
        while (old := self.find(found[0].fact.supersedes)) and old.fact.id not in seen:
            found.insert(0, old)
            seen.add(old.fact.id)
        while (new := self.find(found[-1].fact.superseded_by)) and new.fact.id not in seen:
            found.append(new)
            seen.add(new.fact.id)
        return found


def read_facts(vault: Vault) -> FactBook:
    """Return the facts of all areas of *vault*; a file that cannot be read hides no other."""
    book = FactBook()
    for ref in sorted(_fact_files(vault)):
        try:
            book.files[ref] = parse_facts(vault.read(ref)[0], ref)
        except MemtoolError as error:
            book.broken[ref] = str(error)
    return book


def _fact_files(vault: Vault) -> Iterator[str]:
    for folder, below, names in os.walk(vault.root / "areas"):
        below[:] = [name for name in below if not name.startswith(".")]
        if FACTS_FILE in names:
            yield os.path.relpath(os.path.join(folder, FACTS_FILE), vault.root).replace(os.sep, "/")  # noqa: PTH118


def rivals_of(facts: Sequence[StoredFact], unfinished: list[str] | None = None) -> dict[str, list[str]]:
    """Return for each fact, by its id, the facts of the same file that seem to contradict it.

    Of a file with very many similar facts only some pairs are compared; the file is then added to *unfinished*.
    """
    found: dict[str, list[str]] = {}
    by_file: dict[str, list[StoredFact]] = {}
    for stored in facts:
        if stored.fact.status == "active" and stored.fact.id:
            by_file.setdefault(stored.ref, []).append(stored)
    for ref, group in by_file.items():
        statement_of = cache(statement)  # few facts are similar, and to find out is cheaper
        entries = [(stored.fact.id, words(stored.fact.fact), stored.fact.fact) for stored in group]
        pairs = (
            (one, other)
            for at, one in enumerate(entries)
            for other in entries[:at]
            if (shared := len(one[1] & other[1])) >= 2 and 2 * shared >= min(len(one[1]), len(other[1]))
        )
        for one, other in islice(pairs, 20_000):
            if contradicts(statement_of(one[2]), statement_of(other[2]), in_one_place=True):
                found.setdefault(one[0], []).append(other[0])
                found.setdefault(other[0], []).append(one[0])
        if unfinished is not None and next(pairs, None):
            unfinished.append(ref)
    return found


# The files that a fact speaks of, each with the git blob id that it had when the fact was written or reviewed.


def root_of(vault: Vault, project: str) -> str:
    """Return the folder of *project* on this machine, or an empty string."""
    with suppress(MemtoolError):
        ref = f"areas/projects/{project}/summary.md"
        note = parse_note(ref, vault.read(ref)[0].encode("utf-8"))
        listed = note.fields.get("identities") if isinstance(note, Note) else None
        for identity in listed if isinstance(listed, list) else []:
            path = str(identity).removeprefix("path:")
            if path != identity and os.path.isabs(path) and os.path.isdir(path):  # noqa: PTH112, PTH117
                return path
    return ""


def blob_of(path: Path) -> str:
    """Return the id that git gives to the content of the file at *path*; empty if it cannot be read."""
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= limits.LARGEST_ANCHOR:
            return _blob(path.read_bytes())
    return ""


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def moved_anchors(vault: Vault, fact: Fact, project: str, language: str) -> list[str]:
    """Return a sentence for each file that the *fact* of *project* names and that has changed since."""
    root = root_of(vault, project) if fact.anchors and project else ""
    texts = labels("facts", language)
    return [sentence for anchor in fact.anchors if root and (sentence := _moved(Path(root), anchor, texts))]


def _moved(root: Path, anchor: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    name, known = str(anchor["path"]), str(anchor.get("blob") or "")
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()):
        return ""
    if not path.exists():
        return texts["gone"].format(name)
    if not known or not path.is_file() or len(known) != 40:  # of another kind of repository
        return ""
    with suppress(OSError):
        content = path.read_bytes() if path.stat().st_size <= limits.LARGEST_ANCHOR else None
        if content is not None and known not in (_blob(content), _blob(content.replace(b"\r\n", b"\n"))):
            return texts["changed"].format(name)
    return ""


# The words of sessions that a fact rests on. A span names a session and the hash of a statement there. Case, white
# space and the marks around a statement do not count, so that a note may be renamed, merged and moved; a statement that
# was reworded or deleted is not found.


class Span(NamedTuple):
    """Words of a session. *source* is its id, with `#` and the turn where that is known; *place* the note's line."""

    source: str
    text: str
    place: str = ""

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.source.partition("#")[0]

    def as_field(self) -> dict[str, str]:
        """Return the span as a fact holds it."""
        return {"source": self.source, "hash": hash_of_words(self.text)}


def session_of_span(span: Mapping[str, Any]) -> str:
    """Return the id of the session that *span*, as a fact holds it, is of."""
    return str(span["source"]).partition("#")[0]


def hashes_of(lines: Iterable[Line]) -> frozenset[str]:
    """Return the hashes of all statements of a session's note with *lines*."""
    texts = ((line.text, f"{line.asked} → {line.text}" if line.asked else line.text) for line in lines)
    return frozenset(hash_of_words(text) for pair in texts for text in pair)


def hashes_by_session(vault: Vault, sessions: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the hashes of the notes of *sessions*, by their ids, wherever the owner has put them."""
    found: dict[str, frozenset[str]] = {}
    wanted = set(sessions)
    refs = chain((note_of(vault, session) for session in wanted), _notes(vault))
    while found.keys() != wanted and (ref := next(refs, "")):
        if (session := session_at(vault, ref)) in wanted and session not in found:
            with suppress(MemtoolError):
                found[session] = hashes_of(lines_of(vault.read(ref)[0]))
    return found


def _notes(vault: Vault) -> Iterator[str]:
    """Give the paths of all notes, those of sessions first; the vault is walked when the first one is asked for."""
    refs = scan(vault.root).stamps
    yield from sorted((ref for ref in refs if ref.endswith(".md")), key=lambda ref: FOLDER not in ref)


def missing_spans(spans: Iterable[Mapping[str, Any]], notes: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the sources of the *spans* whose words their session no longer holds.

    *notes* holds the hashes of each session by its id. Of an unknown session all words are missing.
    """
    return [
        str(span["source"]) for span in spans if span.get("hash") not in notes.get(session_of_span(span), frozenset())
    ]


# The kinds of findings; those that break a rule of the format, or the chain of facts, fail `facts verify`.
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
    counts = Counter(stored.fact.id for stored in book if stored.fact.id)
    for stored in book:
        if (count := counts[stored.fact.id]) > 1:
            found.append(_finding(DOUBLE_ID, stored, f"{count} facts have this id, so none of them can be changed"))
    found += [*_chains(book), *_rivals(book), *_states(work, [one for one in book if one.fact.status == "active"])]
    order = [*book.broken, *book.files]
    return sorted(found, key=lambda finding: (order.index(finding.ref), finding.line))


def _finding(kind: str, stored: StoredFact, sentence: str) -> FactFinding:
    return FactFinding(kind, stored.ref, stored.fact.id, sentence, stored.place.start_line)


def _faults(ref: str, file: FactFile) -> Iterator[FactFinding]:
    """Give what breaks a rule in the file *ref*, each with its line and the id of its fact."""
    ids = {place.start_line: fact.id for fact, place in zip(file.facts, file.places, strict=True)}
    for sentence in file.problems:
        where = re.match(r" line (\d+): |: ", rest := sentence.removeprefix(f"'{ref}'"))
        line = int(where[1] or 0) if where else 0
        yield FactFinding(BROKEN, ref, ids.get(line, ""), rest[where.end() :] if where else sentence, line)


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


def _states(work: Workspace, active: Sequence[StoredFact]) -> Iterator[FactFinding]:
    """Give what is to be looked at in facts that hold: their day, their files, their evidence."""
    notes = hashes_by_session(work.vault, {session_of_span(span) for stored in active for span in stored.fact.spans})
    for stored in active:
        fact = stored.fact
        if is_past(fact.expires, work.now()):
            yield _finding(EXPIRED, stored, f"it was over on {fact.expires[:10]}")
        for sentence in moved_anchors(work.vault, fact, stored.project, work.language):
            yield _finding(ANCHOR, stored, sentence)
        if fact.review:
            yield _finding(REVIEW, stored, f"it is to be looked at again: {fact.review}")
        if missing := missing_spans(fact.spans, notes):
            sentence = f"the words of its evidence are no longer in {', '.join(missing)}"
            yield _finding(EVIDENCE, stored, sentence)
