"""The parts of the vault that a session may begin with, one for each kind of thing, most important first."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from memtool.errors import BrokenVaultFile, MemtoolError
from memtool.recall.budget import BlockLine, Part
from memtool.recall.framing import defused, quoted
from memtool.recall.ledger import key_of
from memtool.recall.start.excerpt import MINUTE, Excerpt, names_in, read_bytes, read_excerpt
from memtool.recall.start.last_word import LastWord, settled
from memtool.recall.start.sessions import PastSession, Said, read_sessions, said_as, still_open, told_in
from memtool.settings.sections import RecallSettings
from memtool.text.languages import mentioned
from memtool.text.lines import tokens_in
from memtool.text.similarity import is_said, words
from memtool.vault.authors import IMPORTED, TOOL, USER, named, standing_category, trust
from memtool.vault.layout import FACTS_FILE, Vault
from memtool.vault.session_lines import COMMAND, DECISION, RULE
from memtool.vault.session_rows import Row, render_row, texts_of

if TYPE_CHECKING:
    from memtool.vault.facts import Fact, LineRange
    from memtool.vault.todos import Todo

MEMORY = "MEMORY.md"
GLOBAL_FACTS = f"areas/global/{FACTS_FILE}"

_LONGEST_BODY = 16_000  # characters of a note; no budget holds more
_MOST_LINES, _LONGEST_LINE = 300, 400
_LARGEST_FACTS = 1_048_576  # bytes, some 3,000 facts; reading more takes too long
_MOST_FACTS, _MOST_TODOS, _MOST_DECISIONS, _MOST_COMMANDS = 60, 50, 12, 3
_STANDING_SESSIONS = 20  # whose decisions, rules and open items are looked at
_LEAST_ROOM, _MOST_ROOM = 100, 2_000  # columns for each session
_COLUMNS = 4  # of a token, in scripts with spaces
_SHORT_NAME = 8
_TRIES = 6  # to find how large the sessions may be
_ROOM_TO_KNOW = 400  # columns of a session by which it is known whether it was given
_OF_THE_USER = frozenset({"identity", "preference"})  # what of areas/global/ concerns every session
_SAME = 0.8  # of the words of a title, by which its summary says it, too
_END_OF_DAY = "24:00"
_ENDED = frozenset({"superseded", "archived"})


class About(NamedTuple):
    """The subject of a session that begins.

    Args:
        vault: is read directly; how long that takes does not depend on how many notes it holds.
        project: the name of an area; empty for none.
        now: decides what has expired, and its zone the dates of files.
        wanted: which kinds of things, and how many sessions.
        said: the words of each line that the client reads by itself.
        besides: the path of a session note to leave out, because it is about the session itself.
    """

    vault: Vault
    project: str
    now: datetime
    wanted: RecallSettings
    said: tuple[frozenset[str], ...] = ()
    besides: str = ""


def remembered(about: About, *, with_memory: bool) -> list[Part]:
    """Return what is remembered, most important first; MEMORY.md only *with_memory*."""
    vault, project, now, wanted = about.vault, about.project, about.now, about.wanted
    parts: dict[str, list[Part | None]] = {
        "memory": [_memory(vault, now) if with_memory else None],
        "preferences": [_facts(vault, GLOBAL_FACTS, "Preferences", now, 0.05, _OF_THE_USER)],
    }
    if project:
        area, name = f"areas/projects/{project}/", defused(project)
        most = wanted.lines_in_full
        decisions = _decisions(vault, f"{area}decisions/", f"Decisions of {name}", now, most)
        facts = _facts(vault, area + FACTS_FILE, f"Facts of {name}", now, 0.1, most=most)
        last_word = _last_word_of((decisions, facts))
        sessions = read_sessions(vault, project, max(_STANDING_SESSIONS, wanted.sessions), about.besides, last_word)
        parts |= {
            "summary": [_summary(vault, f"{area}summary.md", f"Project {name}", now)],
            "rules": [_rules(vault, f"{area}rules.md", f"Rules of {name}", now), _asked_for(sessions, name)],
            "decisions": [_standing(decisions, last_word), _decided(sessions, name)],
            "facts": [_standing(facts, last_word)],
            "open": [
                _open_items(vault, f"{area}todos.md", f"Open items of {name}", now, most),
                _left_open(sessions, name),
            ],
            "commands": [_commands(sessions, name)],
            "sessions": [_sessions(sessions[: wanted.sessions], f"Last sessions of {name}")],
        }
    chosen = (part for kind, found in parts.items() if kind in wanted.kinds for part in found)
    found = settled([part for part in chosen if part and part.lines], wanted.lines_in_full, about.said)
    more = f"memtool context --all --project {shlex.quote(project)}" if project else "memtool context --all"
    return [part._replace(more=defused(more)) for part in found]


def _last_word_of(parts: Iterable[Part]) -> LastWord:
    """Return what the user's own notes and facts in *parts* take back."""
    last_word = LastWord()
    for line in (line for part in parts for line in part.lines):
        if line.author in (USER, IMPORTED):
            last_word.hear(line.said, line.when)
    return last_word


def _standing(part: Part, last_word: LastWord) -> Part:
    """Return *part* without the lines that were taken back after they were written."""
    lines = (line for line in part.lines if last_word.lets_stand(line.said, when=line.when))
    return part._replace(levels=(tuple(lines),))


def _memory(vault: Vault, now: datetime) -> Part | None:
    note = read_excerpt(vault, MEMORY, now.tzinfo)
    if note is None:
        return None
    shipped = _shipped_lines()
    lines = [line for line in note.body.split("\n") if line.strip() not in shipped]
    return _note_part(note, "Memory", 0.12, ["\n".join(lines)])


def _summary(vault: Vault, ref: str, title: str, now: datetime) -> Part | None:
    from memtool.vault.note import first_sentence, overview

    note = read_excerpt(vault, ref, now.tzinfo)
    if note is None:
        return None
    body = _without_comments(note.body)
    shortest = note.fields.get("summary") or first_sentence(body)
    whole = body if any(_says_something(line) for line in body.split("\n")) else shortest
    return _note_part(note, title, 0.08, [whole, overview(whole), shortest])


def _rules(vault: Vault, ref: str, title: str, now: datetime) -> Part | None:
    note = read_excerpt(vault, ref, now.tzinfo)
    return _note_part(note, title, 0.1, [note.body]) if note else None


def _decisions(vault: Vault, ref: str, title: str, now: datetime, most: int) -> Part:
    names = names_in(vault, ref, max(_MOST_DECISIONS, most))
    notes = (read_excerpt(vault, ref + name, now.tzinfo) for name in names)
    lines = [line for note in notes if note and (line := _decision(note, ref, now.date()))]
    newest_first = sorted(lines, key=lambda line: line.when, reverse=True)
    return Part(title, defused(ref), "", 0.06, (tuple(newest_first),))


def _decision(note: Excerpt, folder: str, today: date) -> BlockLine | None:
    from memtool.vault.note import first_heading, first_sentence

    if note.fields.get("status", "").casefold() in _ENDED or _is_past(note.fields.get("expires", ""), today):
        return None
    if note.fields.get("author") == TOOL:
        return None
    name = note.ref.removeprefix(folder)
    dated = note.fields.get("date") or (name[:10] if re.match(r"\d{4}-\d\d-\d\d", name) else note.date)
    title = note.fields.get("title") or first_heading(note.body) or name.removesuffix(".md")
    summary = note.fields.get("summary") or first_sentence(note.body)
    is_one = not summary or is_said(words(title), [words(summary)], _SAME)
    said = summary or title if is_one else f"{title}: {summary}"
    author = note.fields.get("author", IMPORTED)
    when = note.changed if note.changed.startswith(dated) else f"{dated} {_END_OF_DAY}"
    about = defused(", ".join(filter(None, (named(author), dated))))
    return BlockLine(
        f"- {_clipped(said)} ({about})", note.ref, defused(name), key_of(note.ref), said, when=when, author=author
    )


def _facts(
    vault: Vault,
    ref: str,
    title: str,
    now: datetime,
    share: float,
    categories: frozenset[str] | None = None,
    *,
    most: int = 0,
) -> Part:
    content, _ = read_bytes(vault, ref, _LARGEST_FACTS + 1) or (b"", 0.0)
    if len(content) > _LARGEST_FACTS:
        lines = [BlockLine("- more than is read when a session begins; `memtool search` finds them", ref)]
    else:
        living = [
            (fact, place)
            for fact, place in _parsed(content, ref)
            if fact.status == "active" and not _is_past(fact.expires, now.date())
            if categories is None or standing_category(fact.category, fact.author) in categories
        ]
        ordered = _by_importance(living)
        lines = [_fact(fact, place, ref, now.tzinfo) for fact, place in ordered[: max(_MOST_FACTS, most)]]
        return Part(title, defused(ref), "", share, (tuple(lines),), left_out=len(ordered) - len(lines))
    return Part(title, defused(ref), "", share, (tuple(lines),))


def _parsed(content: bytes, ref: str) -> Iterator[tuple[Fact, LineRange]]:
    if b"{" not in content:
        return
    from memtool.vault.facts import parse_facts

    with suppress(BrokenVaultFile, UnicodeDecodeError):  # doctor says what is wrong with it
        file = parse_facts(content.decode("utf-8"), ref)
        yield from zip(file.facts, file.places, strict=True)


def _by_importance(facts: list[tuple[Fact, LineRange]]) -> list[tuple[Fact, LineRange]]:
    from memtool.vault.fact_rules import CATEGORIES

    newest_first = sorted(facts, key=lambda found: (found[0].timestamp, found[1].start_line), reverse=True)
    rank = {category: at for at, category in enumerate(CATEGORIES)}  # they are listed by weight

    def order(found: tuple[Fact, LineRange]) -> tuple[bool, int, int]:
        fact = found[0]
        return fact.author == TOOL, rank.get(fact.category, len(rank)), -trust(fact.author)

    return sorted(newest_first, key=order)


def _fact(fact: Fact, place: LineRange, ref: str, zone: tzinfo | None) -> BlockLine:
    where = f"{place.start_line}-{place.end_line}"
    category = standing_category(fact.category, fact.author)
    about = defused(", ".join(filter(None, (category, named(fact.author), fact.timestamp[:10]))))
    key = key_of(ref, fact.id) if fact.id else ""
    text, when, author = f"- {_clipped(fact.fact)} ({about})", _local(fact.timestamp, zone), fact.author or IMPORTED
    return BlockLine(text, f"{ref}:{where}", f"lines {where}", key, fact.fact, when=when, author=author)


def _local(timestamp: str, zone: tzinfo | None) -> str:
    """Return *timestamp* as the minute of local time; of a day alone its end."""
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(timestamp)
        if len(timestamp) > len("2026-11-22"):
            return (at.astimezone(zone) if at.tzinfo else at).strftime(MINUTE)
    return f"{timestamp[:10]} {_END_OF_DAY}"


def _open_items(vault: Vault, ref: str, title: str, now: datetime, most: int) -> Part | None:
    from memtool.vault.todos import find_todos

    note = read_excerpt(vault, ref, now.tzinfo)
    if note is None:
        return None
    newest_first = [item for item in reversed(find_todos(note.body)) if item.is_open]
    numbered = [(note.body_line - 1 + item.line, item.text) for item in _urgent_first(newest_first)]
    shown = numbered[: max(_MOST_TODOS, most)]
    lines = (BlockLine(f"- {_clipped(text)}", f"{ref}:{number}", f"line {number}", said=text) for number, text in shown)
    left_out = len(numbered) - len(shown)
    return Part(title, defused(ref), note.date, 0.06, (tuple(lines),), left_out=left_out)


def _decided(sessions: list[PastSession], name: str) -> Part:
    return _of_sessions(f"Decided in sessions of {name}", said_as(sessions, DECISION), 0.08)


def _asked_for(sessions: list[PastSession], name: str) -> Part:
    return _of_sessions(f"Asked for in sessions of {name}", said_as(sessions, RULE), 0.08)


def _left_open(sessions: list[PastSession], name: str) -> Part:
    found = sorted(still_open(sessions), key=lambda said: not mentioned("urgent", said.line.text))
    return _of_sessions(f"Left open in sessions of {name}", found, 0.06)


def _commands(sessions: list[PastSession], name: str) -> Part:
    found = said_as(sessions, COMMAND)[:_MOST_COMMANDS]
    return _of_sessions(f"Commands that passed in {name}", found, 0.03)


def _of_sessions(title: str, found: Iterable[Said], share: float) -> Part:
    lines = (_said(said) for said in found)
    return Part(title, "sessions/", "", share, (tuple(lines),))


def _said(said: Said) -> BlockLine:
    line, day = said.line, said.when[:10]
    text = f"`{defused(line.text)}`" if line.role == COMMAND else _clipped(line.text)
    name = _short_name(said.ref)
    about = day if line.role == COMMAND else f"{line.author}, {day}"
    place = f"{said.ref}:{line.number}"
    return BlockLine(f"- {text} ({about})", place, name, said=line.text, when=said.when, author=line.author)


def _short_name(ref: str) -> str:
    """Return the beginning of the name of a session's note, which is enough to find it."""
    name = defused(ref.removeprefix("sessions/").removesuffix(".md"))
    return name if len(name) <= _SHORT_NAME else f"{name[:_SHORT_NAME]}…"


def _urgent_first(items: list[Todo]) -> list[Todo]:
    return sorted(items, key=lambda item: not mentioned("urgent", item.text))


def _sessions(sessions: list[PastSession], title: str) -> Part:
    about = "in quotes what the user typed, then what came of it"
    known = _told(sessions, _ROOM_TO_KNOW)
    return Part(title, "sessions/", about, 0.4, (known,), made_for=lambda tokens: _within(sessions, tokens))


def _within(sessions: list[PastSession], tokens: int) -> tuple[BlockLine, ...]:
    """Return the *sessions* as whole notes made smaller, each to the same size, in at most *tokens*."""
    best: tuple[BlockLine, ...] = ()
    least, most = 0.0, float(_MOST_ROOM)
    room = min(most, tokens * _COLUMNS / max(1, len(sessions)))
    for _ in range(_TRIES):
        lines = _told(sessions, int(room))
        taken = sum(tokens_in(f"\n{line}") for line in lines)
        if taken <= tokens:
            best, least = lines, room
        else:
            most = room
        if least >= _MOST_ROOM or most < _LEAST_ROOM:
            break
        guess = 0.95 * room * tokens / max(1, taken)
        room = guess if least < guess < most else (least + most) / 2
    return best


def _told(sessions: list[PastSession], room: int) -> tuple[BlockLine, ...]:
    return tuple(line for session in sessions for line in _session(session, room))


def _session(session: PastSession, room: int) -> Iterator[BlockLine]:
    topic, rows = told_in(session, room)
    if not (topic or rows):
        return
    name = _short_name(session.ref)
    told = _clipped(topic) or "what it began with was taken back later"
    yield BlockLine(f"- {session.day} {session.minute} {told}", session.ref, name, key_of(session.ref))
    for row in rows:
        yield BlockLine(f"  - {defused(render_row(row))}", session.ref, said=_whole_text(row))


def _whole_text(row: Row) -> str:
    """Return the longest text of *row* that stands so in the note: without what was left out in its middle or end."""
    return max((re.split("…", text)[0].strip() for text in texts_of([row])), key=len)


def _note_part(note: Excerpt, title: str, share: float, levels: Iterable[str]) -> Part | None:
    """Return the texts in *levels* as quotations; None if the first says nothing."""
    quotations = [tuple(_quotation(text, note.ref)) for text in levels]
    if not quotations[0]:
        return None
    return Part(title, defused(note.ref), note.date, share, tuple(filter(None, dict.fromkeys(quotations))))


def _quotation(text: str, ref: str) -> Iterator[BlockLine]:
    cut = _without_comments(text)[:_LONGEST_BODY].split("\n")[:_MOST_LINES]
    if any(_says_something(line) for line in cut):
        quotation = quoted("\n".join(line[:_LONGEST_LINE] for line in cut))
        yield from (BlockLine(line, ref) for line in quotation.split("\n") if line)


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
