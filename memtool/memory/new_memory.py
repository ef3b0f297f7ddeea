"""A memory to be saved: cleaned, redacted and checked before it is written; and the memories that say the same."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from memtool.errors import MemtoolError, UsageError
from memtool.history.one_commit import Kept
from memtool.index.engine import Index
from memtool.index.filters import Filter, parse_day
from memtool.index.rows import pieces_of
from memtool.index.search import search
from memtool.index.semantic import Vectors
from memtool.memory import limits
from memtool.text.lines import one_line
from memtool.text.near_duplicates import SAME_MEANING, contradicts, is_same, may_mean_the_same, statement
from memtool.text.tokens import index_terms
from memtool.vault.facts import parse_facts
from memtool.vault.layout import Vault, kind_of
from memtool.vault.memory import CATEGORIES, FACT, FOLDERS, STANDING, TODO, TOOL, Found, Location, Memory, NewMemory
from memtool.vault.note import Note, parse_note
from memtool.workspace import Workspace

_MARKER = re.compile(r"\[redacted: [a-z-]+\]")
_IN_DAYS = re.compile(r"(\d{1,4})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_KINDS_OF_FACT = ("fact", "memory", "rules")  # whose statements are understood alone


def prepared(work: Workspace, memory: NewMemory) -> NewMemory:
    """Return *memory* as it is written in the vault at hand: without secrets, its tags and its date in one form.

    Raises:
        UsageError: it cannot be written as it is, or would never be found again.
    """
    for name, value in (
        ("text", memory.text),
        ("evidence", memory.evidence),
        ("tag", "".join(memory.tags)),
        ("source", memory.source),
        ("summary", memory.summary),
    ):
        if "\0" in value:
            raise UsageError(f"the {name} holds a NUL character, so it is hardly text", hint="Leave it out.")
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise UsageError(f"the {name} holds half a character, which no file can hold", hint="Give it as UTF-8.")
    redact, today = work.redact, work.now().date()
    text = redact(memory.text.replace("\r\n", "\n")).strip()
    _check_text(memory.text, text, memory.kind, work.max_bytes)
    _check_options(memory)
    return memory._replace(
        text=text,
        tags=tuple(dict.fromkeys(_tag(redact(tag)) for tag in memory.tags)),
        expires=_expiry(memory.expires, today) if memory.expires else "",
        due=_coming_day(memory.due, today) if memory.due else "",
        evidence=one_line(redact(memory.evidence)),
        source=one_line(redact(memory.source)),
        summary=one_line(redact(memory.summary)),
    )


def _check_text(given: str, text: str, kind: str, max_bytes: int) -> None:
    if not given.strip():
        raise UsageError("there is nothing to remember", hint="Try `memtool remember 'The API listens on port 8080.'`.")
    if not index_terms(_MARKER.sub("", text[: limits.LONGEST_FACT])):
        raise UsageError("no word is left of the text, so that it could never be found", hint="Say it in words.")
    most = limits.LONGEST_FACT
    if kind == FACT and len(text) > most:
        hint = "A fact is one statement: write a note with `--kind knowledge`."
        raise UsageError(f"the text has {len(text):,} characters; a fact has {most:,} at most", hint=hint)
    if kind == TODO and (text != one_line(text) or len(text) > limits.TODO):
        hint = "Write it shorter, or a note with `--kind knowledge`."
        raise UsageError(f"a todo is one line of {limits.TODO} characters at most, without repeated spaces", hint=hint)
    if len(text.encode("utf-8")) > max_bytes - limits.LONGEST_FACT:  # the front matter needs room, too
        raise UsageError("the text is too large for a note", hint="Raise `[index] max_note_kb`, or cut it in parts.")


def _check_options(memory: NewMemory) -> None:
    if memory.category and memory.category not in CATEGORIES:
        raise UsageError(f"'{memory.category}' is no category", hint=f"Use one of {', '.join(CATEGORIES)}.")
    if memory.author == TOOL and (memory.category in STANDING or memory.kind == "decision"):
        hint = "If the user has decided it, add `--author user`; else leave out what sort of thing it is."
        raise UsageError("what the output of a tool says is neither a decision nor a preference", hint=hint)
    if memory.supersedes and memory.kind != FACT:
        raise UsageError("only a fact supersedes a fact", hint="Leave out --kind, or archive with `memtool forget`.")
    if memory.anchors and memory.kind != FACT:
        raise UsageError("only a fact has an anchor", hint="Leave out --kind, or name the file in the text.")
    if memory.kind == TODO:
        given = {"--category": memory.category, "--expires": memory.expires, "--evidence": memory.evidence}
        wrong = [option for option, value in given.items() if value]
        if wrong:
            raise UsageError(f"a todo has no {wrong[0]}", hint="Say it in the text, or by when with --due.")
    elif memory.type or memory.due:
        raise UsageError("only an open item has --type or --due", hint="Add `--kind todo`.")


def _tag(text: str) -> str:
    tag = "-".join(one_line(text).lstrip("#").replace(",", " ").split())[:100]
    if not index_terms(tag):
        raise UsageError(f"'{one_line(text)}' is no tag", hint="Write one word, such as `--tag auth`.")
    return tag


def _expiry(text: str, today: dt.date) -> str:
    """Return the moment or the last day that *text* names."""
    day = ""
    with suppress(ValueError):
        day = dt.datetime.fromisoformat(text).isoformat(timespec="seconds") if ":" in text else ""
    day = day or _coming_day(text, today)
    if day[:10] < today.isoformat():
        raise UsageError(f"'{text}' is over, so it would be forgotten at once", hint="Name a day that is to come.")
    return day


def _coming_day(text: str, today: dt.date) -> str:
    """Return the day that *text* names. `2w` is in two weeks: unlike a search, it looks ahead."""
    match = _IN_DAYS.fullmatch(text.strip().lower())
    if match:
        return (today + dt.timedelta(days=int(match[1]) * _DAYS[match[2]])).isoformat()
    return parse_day(text, today, end=True)


class MemoryChange(NamedTuple):
    """A memory as it is after a change, and the commit.

    Args:
        changed: whether anything was changed.
        contradictions: memories that a new one seems to contradict.
        superseded: the id of the fact that a new one replaces.
        redacted: how many secrets were removed from a new one, by their kind.
        notices: what the user should know.
    """

    memory: Memory
    changed: bool = True
    kept: Kept = Kept()
    contradictions: tuple[Memory, ...] = ()
    superseded: str = ""
    redacted: Mapping[str, int] = {}
    notices: tuple[str, ...] = ()


class Neighbours(NamedTuple):
    """The memories around a new one: the *twin* that says the same, if any, and facts that seem to contradict it."""

    twin: Memory | None = None
    contradictions: tuple[Memory, ...] = ()


def find_neighbours(
    index: Index, text: str, kind: str, project: str, today: dt.date, *, ref: str, besides: str, vectors: Vectors | None
) -> Neighbours:
    """Return the neighbours of *text*, which is to be written, in *project* and among what belongs to none.

    Args:
        index: an open index.
        text: a statement, or the body of a note.
        kind: `fact`, or that of a note.
        project: where it belongs; empty for none.
        today: what has expired does not count.
        ref: the file that a fact would be added to: contradictions are looked for there.
        besides: the id of a fact that does not count, because it is to be superseded.
        vectors: for statements that mean the same in other words; None compares words only.
    """
    wanted = Filter(today, kinds=_KINDS_OF_FACT if kind == FACT else tuple(FOLDERS), projects=(project, ""))
    hits = search(index, text, wanted, limit=20).hits
    new = statement(text)
    candidates = [one for one in _statements(index.place.vault, hits) if not besides or one.id != besides]
    compared = [(one, statement(one.text)) for one in candidates]
    twin = next((one for one, other in compared if is_same(new, other)), None)
    if kind != FACT:
        return Neighbours(twin)
    if twin is None and vectors is not None:
        twin = _of_same_meaning(index, text, wanted, vectors, besides)
    against = (one for one, other in compared if one.fact_id and one.path == ref and contradicts(new, other))
    return Neighbours(twin, tuple(islice(against, 3)))


def _of_same_meaning(index: Index, text: str, wanted: Filter, vectors: Vectors, besides: str) -> Memory | None:
    """Return the statement whose vector is nearest to that of *text*, if it is near enough; no failure is an error."""
    with suppress(MemtoolError):
        hits = search(index, text, wanted, limit=20, mode="hybrid", vectors=vectors).hits
        found = [
            one
            for one in _statements(index.place.vault, hits)
            if may_mean_the_same(text, one.text) and (not besides or one.id != besides)
        ][:20]
        if found:
            rows = vectors.embedder.embed_notes([text, *(one.text for one in found)])
            likeness = (rows[1:] @ rows[0]).tolist()
            best = max(range(len(found)), key=likeness.__getitem__)
            if likeness[best] >= SAME_MEANING:
                return found[best]
    return None


def _statements(vault: Vault, hits: Iterable[Found]) -> Iterator[Memory]:
    """Give the statements of *hits*: facts without their evidence, lines of a list one by one, notes whole."""
    facts: dict[str, dict[str, Memory]] = {}
    seen: set[str] = set()
    for memory in (hit.memory for hit in hits):
        if memory.fact_id:
            if memory.path not in facts:
                facts[memory.path] = {}
                with suppress(MemtoolError, OSError):
                    file = parse_facts(vault.read(memory.path)[0], memory.path)
                    facts[memory.path] = {one.id: one for one in file.memories()}
            if memory.id in facts[memory.path]:
                yield facts[memory.path][memory.id]
        elif memory.kind in FOLDERS:
            ref = memory.path
            with suppress(MemtoolError, OSError):
                note = parse_note(ref, vault.path(ref).read_bytes()) if ref not in seen else None
                if isinstance(note, Note):
                    lines = note.text.rstrip("\n").count("\n") + 1
                    yield _of_note(Location(ref, 1, lines), note.body, kind_of(ref, note.field("type")))
            seen.add(ref)
        else:
            for piece in pieces_of(memory.text) or [memory.text]:
                yield _of_note(memory.place, piece.lstrip("-*+ "), memory.kind)


def _of_note(place: Location, text: str, kind: str) -> Memory:
    """Return what a note says at *place*, which is its id."""
    end = f"-{place.end_line}" if place.end_line > place.start_line else ""
    return Memory(f"{place.path}:{place.start_line}{end}", text, kind, place)
