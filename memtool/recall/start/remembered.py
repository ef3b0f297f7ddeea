"""What the vault holds for a session to begin with: each kind of thing as a part, most important first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING

from memtool.errors import BrokenVaultFile, MemtoolError
from memtool.recall.budget import Line, Part
from memtool.recall.framing import defused, quoted
from memtool.recall.prompts.recalled import key_of
from memtool.recall.start.excerpt import Excerpt, names_in, read_bytes, read_excerpt
from memtool.recall.start.timeline import last_sessions
from memtool.vault.authors import TOOL, named, standing_category, trust
from memtool.vault.layout import FACTS_FILE, Vault

if TYPE_CHECKING:
    from memtool.vault.facts import Fact, Place

MEMORY = "MEMORY.md"
GLOBAL_FACTS = f"areas/global/{FACTS_FILE}"

_LONGEST_BODY = 16_000  # characters of a note; no budget holds more
_MOST_LINES, _LONGEST_LINE = 300, 400
_LARGEST_FACTS = 1_048_576  # bytes, some 3,000 facts; reading more takes too long
_MOST_FACTS, _MOST_TODOS, _MOST_DECISIONS, _MOST_SESSIONS = 60, 50, 12, 5
_OF_THE_USER = frozenset({"identity", "preference"})  # what of areas/global/ concerns every session
_ENDED = frozenset({"superseded", "archived"})


def remembered(vault: Vault, project: str, now: datetime, *, with_memory: bool, besides: str) -> list[Part]:
    """Return what is remembered for a session of *project* (empty: none), most important first.

    Args:
        vault: is read directly; how long that takes does not depend on how many notes it holds.
        project: the name of an area.
        now: decides what has expired, and its zone the dates of files.
        with_memory: whether MEMORY.md belongs to it.
        besides: the path of a session note to leave out, because it is about the session itself.
    """
    parts = [_memory(vault, now)] if with_memory else []
    parts.append(_facts(vault, GLOBAL_FACTS, "Preferences", now, 0.05, _OF_THE_USER))
    if project:
        area, name = f"areas/projects/{project}/", defused(project)
        parts += [
            _summary(vault, f"{area}summary.md", f"Project {name}", now),
            _rules(vault, f"{area}rules.md", f"Rules of {name}", now),
            _decisions(vault, f"{area}decisions/", f"Decisions of {name}", now),
            _facts(vault, area + FACTS_FILE, f"Facts of {name}", now, 0.2),
            _open_items(vault, f"{area}todos.md", f"Open items of {name}", now),
            _sessions(vault, project, f"Last sessions of {name}", besides),
        ]
    return [part for part in parts if part and part.lines]


def _memory(vault: Vault, now: datetime) -> Part | None:
    note = read_excerpt(vault, MEMORY, now.tzinfo)
    if note is None:
        return None
    shipped = _shipped_lines()
    lines = [line for line in note.body.split("\n") if line.strip() not in shipped]
    return _note_part(note, "Memory", 0.25, ["\n".join(lines)])


def _summary(vault: Vault, ref: str, title: str, now: datetime) -> Part | None:
    from memtool.vault.note import first_sentence, overview

    note = read_excerpt(vault, ref, now.tzinfo)
    if note is None:
        return None
    body = _without_comments(note.body)
    shortest = note.fields.get("summary") or first_sentence(body)
    whole = body if any(_says_something(line) for line in body.split("\n")) else shortest
    return _note_part(note, title, 0.15, [whole, overview(whole), shortest])


def _rules(vault: Vault, ref: str, title: str, now: datetime) -> Part | None:
    note = read_excerpt(vault, ref, now.tzinfo)
    return _note_part(note, title, 0.2, [note.body]) if note else None


def _decisions(vault: Vault, ref: str, title: str, now: datetime) -> Part:
    names = names_in(vault, ref, _MOST_DECISIONS)
    notes = (read_excerpt(vault, ref + name, now.tzinfo) for name in names)
    lines = [line for note in notes if note and (line := _decision(note, ref, now.date()))]
    return Part(title, defused(ref), "", 0.12, (tuple(lines),))


def _decision(note: Excerpt, folder: str, today: date) -> Line | None:
    from memtool.vault.note import first_heading, first_sentence

    if note.fields.get("status", "").casefold() in _ENDED or _is_past(note.fields.get("expires", ""), today):
        return None
    if note.fields.get("author") == TOOL:
        return None
    name = note.ref.removeprefix(folder)
    dated = note.fields.get("date") or (name[:10] if re.match(r"\d{4}-\d\d-\d\d", name) else note.date)
    title = note.fields.get("title") or first_heading(note.body) or name.removesuffix(".md")
    summary = note.fields.get("summary") or first_sentence(note.body)
    return Line(f"- {_clipped(f'{dated} {title}: {summary}')}", note.ref, defused(name), key_of(note.ref))


def _facts(
    vault: Vault, ref: str, title: str, now: datetime, share: float, categories: frozenset[str] | None = None
) -> Part:
    content, _ = read_bytes(vault, ref, _LARGEST_FACTS + 1) or (b"", 0.0)
    if len(content) > _LARGEST_FACTS:
        lines = [Line("- more than is read when a session begins; `memtool search` finds them", ref)]
    else:
        living = [
            (fact, place)
            for fact, place in _parsed(content, ref)
            if fact.status == "active" and not _is_past(fact.expires, now.date())
            if categories is None or standing_category(fact.category, fact.author) in categories
        ]
        lines = [_fact(fact, place, ref) for fact, place in _by_importance(living)[:_MOST_FACTS]]
    return Part(title, defused(ref), "", share, (tuple(lines),))


def _parsed(content: bytes, ref: str) -> Iterator[tuple[Fact, Place]]:
    if b"{" not in content:
        return
    from memtool.vault.facts import parse_facts

    with suppress(BrokenVaultFile, UnicodeDecodeError):  # doctor says what is wrong with it
        file = parse_facts(content.decode("utf-8"), ref)
        yield from zip(file.facts, file.places, strict=True)


def _by_importance(facts: list[tuple[Fact, Place]]) -> list[tuple[Fact, Place]]:
    from memtool.vault.fact_rules import CATEGORIES

    newest_first = sorted(facts, key=lambda found: (found[0].timestamp, found[0].id), reverse=True)
    rank = {category: at for at, category in enumerate(CATEGORIES)}  # they are listed by weight

    def order(found: tuple[Fact, Place]) -> tuple[bool, int, int]:
        fact = found[0]
        return fact.author == TOOL, rank.get(fact.category, len(rank)), -trust(fact.author)

    return sorted(newest_first, key=order)


def _fact(fact: Fact, place: Place, ref: str) -> Line:
    where = f"{place.start_line}-{place.end_line}"
    category = standing_category(fact.category, fact.author)
    about = defused(", ".join(filter(None, (category, named(fact.author), fact.timestamp[:10]))))
    key = key_of(ref, fact.id) if fact.id else ""
    return Line(f"- {_clipped(fact.fact)} ({about})", f"{ref}:{where}", f"lines {where}", key)


def _open_items(vault: Vault, ref: str, title: str, now: datetime) -> Part | None:
    from memtool.vault.todos import find_todos

    note = read_excerpt(vault, ref, now.tzinfo)
    if note is None:
        return None
    numbered = ((note.body_line - 1 + item.line, item.text) for item in find_todos(note.body) if item.is_open)
    lines = (Line(f"- {_clipped(text)}", f"{ref}:{number}", f"line {number}") for number, text in numbered)
    return Part(title, defused(ref), note.date, 0.13, (tuple(islice(lines, _MOST_TODOS)),))


def _sessions(vault: Vault, project: str, title: str, besides: str) -> Part:
    lines = []
    for day, session, ref in last_sessions(vault, project, _MOST_SESSIONS, besides):
        topic = _clipped(session.topic) or "no topic"
        lines.append(Line(f"- {day} {session.minute} {topic}", ref, defused(f"{session.session_id}.md"), key_of(ref)))
    return Part(title, "sessions/", "", 0.1, (tuple(lines),))


def _note_part(note: Excerpt, title: str, share: float, levels: Iterable[str]) -> Part | None:
    """Return the texts in *levels* as quotations; None if the first says nothing."""
    quotations = [tuple(_quotation(text, note.ref)) for text in levels]
    if not quotations[0]:
        return None
    return Part(title, defused(note.ref), note.date, share, tuple(filter(None, dict.fromkeys(quotations))))


def _quotation(text: str, ref: str) -> Iterator[Line]:
    cut = _without_comments(text)[:_LONGEST_BODY].split("\n")[:_MOST_LINES]
    if any(_says_something(line) for line in cut):
        quotation = quoted("\n".join(line[:_LONGEST_LINE] for line in cut))
        yield from (Line(line, ref) for line in quotation.split("\n") if line)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not re.match(r"#{1,6}\s|[-=*_ ]+$", line)


def _clipped(text: str) -> str:
    line = defused(text[: 4 * _LONGEST_LINE])  # most of it may be characters that nobody sees
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1].rstrip() + "…"


def _without_comments(text: str) -> str:
    """Return *text* without HTML comments, which the client leaves out as well."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[at:start])
        at = end + len("-->")
    return "".join([*kept, text[at:]])


def _is_past(expires: str, today: date) -> bool:
    return bool(expires) and expires[:10] < today.isoformat()


def _shipped_lines() -> frozenset[str]:
    """Return the lines of the MEMORY.md that every new vault gets; they are not the user's."""
    from memtool.resources import shipped

    with suppress(OSError, MemtoolError):
        text = (shipped("vault_template") / MEMORY).read_text(encoding="utf-8")
        return frozenset(line.strip() for line in text.split("\n"))
    return frozenset()
