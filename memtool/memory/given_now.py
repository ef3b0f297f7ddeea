"""Records of what sessions were given, in the words of the vault now, and why each line was given or not.

Nothing is shown that is gone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from memtool.errors import MemtoolError
from memtool.index.engine import Index, place_of, use_index
from memtool.memory.forget import find_line
from memtool.recall.answers.question import pairs_of
from memtool.recall.given import (
    ALIKE,
    AT_START,
    BELOW_FLOOR,
    CONTRADICTED,
    NEVER_USED,
    OVER_LIMIT,
    OVER_ROOM,
    PALE,
    RESTS,
    START,
    GivenLine,
    Giving,
    read_givings,
    sessions_given,
)
from memtool.recall.ledger import ledger_folder
from memtool.recall.uses import fates_of_session, seldom_used
from memtool.text.lines import counted, one_line
from memtool.text.near_duplicates import letters
from memtool.text.tokens import fold, index_terms, is_stop_word, query_words, unspaced_runs
from memtool.vault.facts import parse_facts
from memtool.vault.files import read_text
from memtool.vault.layout import Vault, is_facts_file, is_outside, kind_of
from memtool.vault.memory import FACT, IMPORTED, SESSION, TODO, Location, Memory, is_past, signed_by
from memtool.vault.note import Note, parse_note
from memtool.vault.scan import Outside
from memtool.vault.sessions import lines_of
from memtool.vault.todos import find_todos
from memtool.workspace import Workspace

_ENDED = frozenset({"superseded", "archived"})
_RARE = 0.05  # share of the notes that hold a word

_parse_note = lru_cache(maxsize=8)(parse_note)  # most lines that are given come from a few files

_REASONS = {
    BELOW_FLOOR: "too unlikely",
    ALIKE: "says nearly the same as one that was given",
    PALE: "pales beside the best",
    CONTRADICTED: "another fact says otherwise, on a stronger or newer word",
    AT_START: "in what the session was given at its start",
    NEVER_USED: "arrived ten times and was never used, so it takes twice the likelihood",
    OVER_LIMIT: "over the number of memories for a prompt",
    OVER_ROOM: "no room was left",
}


def said_now(vault: Vault, line: GivenLine, outside: Outside, now: dt.datetime) -> Memory | None:
    """Return *line* as the vault has it now; None if it was forgotten, removed or changed since.

    The title of a fact are its tags: they and the title of a note say what surrounds it.
    """
    with suppress(MemtoolError, OSError, ValueError):
        path = outside.path_of(line.ref) if is_outside(line.ref) else vault.path(line.ref)
        if path is None:
            return None
        text = read_text(path)[0]
        if not is_facts_file(line.ref):
            return _line_of_note(line, text, now)
        for fact in parse_facts(text, line.ref).facts:
            is_named = fact.id == line.fact_id and (fact.id or letters(fact.fact) in letters(line.text))
            if is_named and fact.status == "active" and not is_past(fact.expires, now):
                return _memory(line, FACT, fact.fact, fact.author or IMPORTED, " ".join(fact.tags))
    return None


def _line_of_note(line: GivenLine, text: str, now: dt.datetime) -> Memory | None:
    note = _parse_note(line.ref, text.encode())
    readable = note if isinstance(note, Note) else Note(line.ref, note.text)
    expires = readable.field("expires")
    if readable.field("status").casefold() in _ENDED or is_past(expires, now):
        return None
    kind = kind_of(line.ref, readable.field("type"))
    if not line.text:
        about = ": ".join(dict.fromkeys(filter(None, (readable.title, readable.summary))))
        return _memory(line, kind, about, readable.field("author"))
    place = find_line(text, line.text, line.line)
    is_done = kind == TODO and any(
        place and place[0] <= todo.line <= place[1] and not todo.is_open for todo in find_todos(text)
    )
    if place is None or is_done:
        return None
    said, author = signed_by(line.text.lstrip("> ").removeprefix("- "))
    if kind == SESSION:
        author = author or next((each.author for each in lines_of(text) if said in each.text), "")
    return _memory(line, kind, said, author or readable.field("author"), readable.title)


def _memory(line: GivenLine, kind: str, text: str, author: str, title: str = "") -> Memory:
    return Memory(line.fact_id or line.ref, text, kind, Location(line.ref, line.line, line.line), title, author=author)


def reason(line: GivenLine) -> str:
    """Return why *line* was not given."""
    if line.left_out == RESTS:
        return f"given {counted(line.turns, 'turn')} before"
    return _REASONS.get(line.left_out, "")


def evidence(line: GivenLine, shared: Mapping[str, float]) -> str:
    """Return the reasons for which *line* was given, in words.

    *shared* are the words that it shares with the prompt, with the share of the notes that hold each (`shared_words`).
    """
    numbers = line.evidence
    rarest = sorted(shared, key=lambda word: shared[word])[:6]
    rare = [word for word in rarest if shared[word] <= _RARE]
    common = [word for word in rarest if word not in rare]
    groups = (f"{_quoted(rare)} (rare here)" if rare else "", _quoted(common))
    words = " and ".join(filter(None, groups))
    parts = [
        f"shares {words}" if words else "says it in other words",
        f"{'nearest' if numbers.get('gap', 0) > 0 else 'near'} in meaning ({numbers['cosine']:.2f})"
        if numbers.get("cosine")
        else "",
        f"holds {min(1.0, numbers['share']):.0%} of what was asked" if numbers.get("share") else "",
        "begins with it" if numbers.get("lead", 0) >= 0.5 else "",
        "of this project" if numbers.get("is_here") else "of another project" if numbers.get("is_elsewhere") else "",
        f"{line.relevance:.0%} likely",
    ]
    return "; ".join(filter(None, parts))


def shared_words(prompt: str, said: Memory, frequency: Mapping[str, float]) -> dict[str, float]:
    """Return the words of *prompt* that *said* holds as well, each with the share of the notes that hold it.

    *frequency* is that of the terms of the index; what it lacks is in no note.
    """
    held = frozenset(index_terms(f"{said.title}\n{said.text}"))
    shared = {}
    for word in query_words(prompt):
        terms = [term for term in index_terms(word) if not is_stop_word(term)]
        if terms and not held.isdisjoint(terms):
            shared[word] = min(frequency.get(term, 0.0) for term in terms if term in held)
    for run in _shared_runs(prompt, held):
        shared[run] = min(frequency.get(pair, 0.0) for pair in pairs_of(run))
    return shared


def terms_of(prompts: Iterable[str]) -> list[str]:
    """Return the terms whose frequency `shared_words` wants to know."""
    terms = dict.fromkeys(term for prompt in prompts for term in index_terms(fold(prompt)))
    return [term for term in terms if not is_stop_word(term)]


def _shared_runs(prompt: str, held: frozenset[str]) -> Iterable[str]:
    """Give the stretches of scripts without spaces of which *held* has each pair of characters."""
    for piece in unspaced_runs(prompt):
        run = piece[:1]
        for pair in pairs_of(piece):
            if pair in held:
                run += pair[1]
                continue
            yield from [run] if len(run) > 1 else []
            run = pair[1]
        yield from [run] if len(run) > 1 else []


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def givings_now(work: Workspace, session: str, givings: Sequence[Giving]) -> Iterator[dict[str, Any]]:
    """Give the fields of each of *givings* of *session*: what its lines say now, why each was given, and what was not.

    Once the session has ended, a line says how often it arrived, and whether the agent used it.
    """
    now = work.now()
    frequency = _frequency(work, terms_of(giving.prompt for giving in givings))
    fates = fates_of_session(work.index_folder, session)

    def look(line: GivenLine) -> Memory | None:
        return said_now(work.vault, line, work.outside, now)

    for giving in givings:
        lines = [
            fields and (fields | ({"arrived": fate.arrived, "used": fate.used} if fate else {}))
            for line in giving.lines
            for fields, fate in [(_fields(line, giving, look, frequency), fates.get(line.key))]
        ]
        team = [{"text": line.text, "place": line.ref, "relevance": line.relevance} for line in giving.team]
        if giving.event == START:
            team = [{"text": line.text, "place": line.ref} for line in giving.team]
        after = [_fields(line, giving, look, frequency) for line in giving.next]
        yield {
            "at": giving.at, "event": giving.event, "project": giving.project, "turn": giving.turn,
            "prompt": giving.prompt, "lines": [line for line in lines if line],
            "gone": sum(line is None for line in lines), "next": [line for line in after if line],
            "team": team,
        }  # fmt: skip


def never_used(work: Workspace, first: str, last: str) -> list[tuple[str, str]]:
    """Return the text and the path of each line that was given on the days *first* to *last* and is seldom used."""
    folder = ledger_folder(work)
    lines = {
        line.key: line
        for session in sessions_given(folder)
        for giving in read_givings(folder, session)
        if first <= giving.at[:10] <= last
        for line in giving.lines
    }
    idle = seldom_used(work.index_folder, list(lines)) if lines else frozenset()
    current = (said_now(work.vault, lines[key], work.outside, work.now()) for key in sorted(idle))
    return [(one_line(memory.text), memory.path) for memory in current if memory]


def _frequency(work: Workspace, terms: Sequence[str]) -> dict[str, float]:
    """Return the share of the chunks of the vault that hold each of *terms*."""

    def look(index: Index) -> dict[str, float]:
        count = index.db.chunk_count() or 1
        return {term: number / count for term, number in index.db.frequencies(terms).items() if number}

    return use_index(place_of(work), look) if terms else {}


def _fields(
    line: GivenLine, giving: Giving, look: Callable[[GivenLine], Memory | None], frequency: dict[str, float]
) -> dict[str, Any] | None:
    """Return the fields of *line* for JSON; None if the vault no longer holds it."""
    said = look(line)
    if said is None:
        return None
    fields = {"id": line.id, "text": said.text, "author": said.author, "path": line.ref, "line": line.line}
    if line.fact_id:
        fields["fact"] = line.fact_id
    if giving.event == START:
        return fields
    shared = shared_words(giving.prompt, said, frequency)
    fields |= {"relevance": line.relevance, "shared": list(shared), "evidence": dict(line.evidence)}
    fields["why"] = evidence(line, shared)
    return fields | ({"left_out": line.left_out, "because": reason(line)} if line.left_out else {})
