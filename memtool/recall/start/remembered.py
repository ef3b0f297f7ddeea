"""The parts of the vault that a session may begin with, one for each kind of thing, most important first."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING

from memtool.errors import BrokenVaultFile, MemtoolError
from memtool.recall import limits
from memtool.recall.budget import SAME, BlockLine, BlockPart, first_lines, said_once
from memtool.recall.framing import defused
from memtool.recall.ledger import key_of
from memtool.recall.start.excerpt import (
    MINUTE,
    Excerpt,
    clipped,
    names_in,
    note_part,
    read_bytes,
    read_excerpt,
    says_something,
    without_comments,
)  # fmt: skip
from memtool.recall.start.last_sessions import (
    PastSession,
    Said,
    is_whole,
    newest_words,
    read_sessions,
    said_as,
    still_open,
    unsaid,
)
from memtool.recall.start.session_part import bullets_at_most, bullets_in, lines_part, sessions_part
from memtool.settings.sections import RecallSettings
from memtool.text.languages import labels, mentioned
from memtool.text.lines import tokens_in
from memtool.text.similarity import is_said, words
from memtool.vault.layout import Vault, area_folder, facts_ref
from memtool.vault.memory import COMMAND, DECISION, IMPORTED, RULE, TOOL, is_past, named, standing_category, trust
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.text.json_places import LineRange
    from memtool.vault.facts import Fact
    from memtool.vault.todos import Todo

MEMORY = "MEMORY.md"
EVERYTHING = 1_000_000  # tokens, and lines

_LATEST, _OLDER = 20, 60  # sessions that are looked at, and notes; older sessions, and items of a list
_MOST_COMMANDS = 2
_LEAST_OF_SESSIONS = 11  # lines of a block that are about the last sessions
_MOST_OF_SESSIONS = 5  # rules, decisions or open items that sessions left
_OF_THE_USER = frozenset({"identity", "preference"})  # what of areas/global/ concerns every session
_LEAST_SAID = 3  # words of a line of MEMORY.md that is not said again
_END_OF_DAY = "24:00"
_ENDED = frozenset({"superseded", "archived"})


def remembered(
    work: Workspace,
    project: str,
    wanted: RecallSettings,
    *,
    said: Sequence[frozenset[str]] = (),
    besides: str = "",
    with_memory: bool = True,
) -> list[BlockPart]:
    """Return the memories for the start of a session of *project* (empty: none), most important first.

    Args:
        work: its vault is read directly; how long that takes does not depend on how many notes it holds.
        project: the name of an area.
        wanted: which kinds of things, and how many sessions.
        said: the words of each line that the client reads by itself.
        besides: the path of a session note to leave out, because it is about the session itself.
        with_memory: whether MEMORY.md is given.
    """
    vault, now, name = work.vault, work.now(), defused(project)
    label = {key: text.replace("{}", name) for key, text in labels("start", work.language).items()}
    preferences = _facts(vault, facts_ref(""), now, 0.05, label["too_many"], categories=_OF_THE_USER)
    memory = _memory(vault, now) if with_memory else None
    summary = _summary(vault, f"{area_folder(project)}/summary.md", now) if project else None
    said = [*said, *_surely_said(memory, "memory", wanted)]
    ended = _ended(vault, facts_ref(project)) if project else frozenset()
    sessions: list[PastSession] = []
    parts: dict[str, list[tuple[str, BlockPart | None]]] = {
        "memory": [("memory", memory)],
        "preferences": [("preferences", preferences)],
    }
    if project:
        area = area_folder(project)
        most = wanted.lines_in_full
        rules = read_excerpt(vault, f"{area}/rules.md", now.tzinfo)
        decisions = _decisions(vault, f"{area}/decisions/", now, most)
        facts = _facts(vault, facts_ref(project), now, 0.1, label["too_many"], most=most)
        sessions = read_sessions(vault, project, max(_LATEST, wanted.sessions), besides, older=_OLDER)
        found = {role: _shown(said_as(sessions, role), ended, wanted) for role in (RULE, DECISION)}
        places = max(_MOST_OF_SESSIONS, most // _MOST_OF_SESSIONS)

        def standing(role: str) -> BlockPart:
            lines = newest_words(found[role], places, sessions[: wanted.sessions])
            return lines_part(lines, 0.08, places, label["replaces"])

        left_open = sorted(still_open(sessions), key=lambda item: not mentioned("urgent", item.line.text))
        parts |= {
            "summary": [("project", summary)],
            "rules": [
                ("rules", note_part(rules, 0.1, [rules.body]) if rules else None),
                ("asked_for", standing(RULE)),
            ],
            "decisions": [("decisions", decisions), ("decided", standing(DECISION))],
            "facts": [("facts", facts)],
            "open": [
                ("open", _open_items(vault, f"{area}/todos.md", now, most, label["overdue"])),
                ("left_open", lines_part(_shown(left_open, frozenset(), wanted), 0.06, places)),
            ],
            "commands": [("commands", lines_part(said_as(sessions, COMMAND)[:_MOST_COMMANDS], 0.03, _MOST_COMMANDS))],
        }
    last = [unsaid(each, said) for each in sessions[: wanted.sessions]] if "sessions" in wanted.kinds else []
    command = f"memtool context --all --project {shlex.quote(project)}" if project else "memtool context --all"
    more = label["more"].replace("{command}", defused(command))
    chosen = [
        part._replace(title=label[title], kind=kind, more=more, when_cut=label["shortened"])
        for kind, found in parts.items()
        if kind in wanted.kinds
        for title, part in found
        if part and part.lines
    ]
    lists = list(said_once(chosen, said, _surely_said(summary, "summary", wanted)))
    if not last:
        return first_lines(lists, wanted.lines_in_full)
    lists = first_lines(lists, wanted.lines_in_full - min(_LEAST_OF_SESSIONS, bullets_at_most(last)))
    left = wanted.lines_in_full - sum(bullets_in(part.lines) for part in lists)
    told = sessions_part(last, left, label["how_to_read"])
    return [*lists, told._replace(title=label["sessions"], kind="sessions", more=more, when_cut=label["shortened"])]


def _surely_said(part: BlockPart | None, kind: str, wanted: RecallSettings) -> Iterator[frozenset[str]]:
    """Give the words of the lines of *part* that its share of the budget has room for."""
    left = part.share * wanted.session_tokens if part and kind in wanted.kinds else 0.0
    for line in part.lines if part else ():
        left -= tokens_in(f"\n{line}")
        if left > 0 and len(told := words(line.text)) >= _LEAST_SAID:
            yield told


def _ended(vault: Vault, ref: str) -> frozenset[frozenset[str]]:
    """Return the words of each fact at *ref* that was superseded or archived: the line it was made of holds no more."""
    content, _ = read_bytes(vault, ref, limits.LARGEST_READ) or (b"", 0.0)
    if b'"superseded"' not in content and b'"archived"' not in content:
        return frozenset()
    return frozenset(words(fact.fact) for fact, _ in _parsed(content, ref) if fact.status in _ENDED)


def _shown(found: Iterable[Said], ended: frozenset[frozenset[str]], wanted: RecallSettings) -> list[Said]:
    """Return the lines *found* in sessions that hold, and those that were cut only where everything is *wanted*."""
    everything = wanted.lines_in_full == EVERYTHING
    return [
        said
        for said in found
        if (everything or is_whole(said.line.text)) and not (ended and words(said.line.text) in ended)
    ]


def _memory(vault: Vault, now: datetime) -> BlockPart | None:
    note = read_excerpt(vault, MEMORY, now.tzinfo)
    if note is None:
        return None
    shipped = _shipped_lines()
    lines = [line for line in note.body.split("\n") if line.strip() not in shipped]
    return note_part(note, 0.12, ["\n".join(lines)])


def _summary(vault: Vault, ref: str, now: datetime) -> BlockPart | None:
    from memtool.vault.note import first_sentence, overview

    note = read_excerpt(vault, ref, now.tzinfo)
    if note is None:
        return None
    body = without_comments(note.body)
    shortest = note.fields.get("summary") or first_sentence(body)
    whole = body if any(says_something(line) for line in body.split("\n")) else shortest
    return note_part(note, 0.08, [whole, overview(whole), shortest])


def _decisions(vault: Vault, ref: str, now: datetime, most: int) -> BlockPart:
    names = names_in(vault, ref, max(_LATEST, most))
    notes = (read_excerpt(vault, ref + name, now.tzinfo) for name in names)
    lines = [line for note in notes if note and (line := _decision(note, ref, now))]
    newest_first = sorted(lines, key=lambda line: line.when, reverse=True)
    return BlockPart("", defused(ref), "", 0.06, (tuple(newest_first),))


def _decision(note: Excerpt, folder: str, now: datetime) -> BlockLine | None:
    from memtool.text.markdown import first_heading
    from memtool.vault.note import first_sentence

    if note.fields.get("status", "").casefold() in _ENDED or is_past(note.fields.get("expires", ""), now):
        return None
    if note.fields.get("author") == TOOL:
        return None
    name = note.ref.removeprefix(folder)
    dated = note.fields.get("date") or (name[:10] if re.match(r"\d{4}-\d\d-\d\d", name) else note.date)
    title = note.fields.get("title") or first_heading(note.body) or name.removesuffix(".md")
    summary = note.fields.get("summary") or first_sentence(note.body)
    is_one = not summary or is_said(words(title), [words(summary)], SAME)
    said = summary or title if is_one else f"{title}: {summary}"
    author = note.fields.get("author", IMPORTED)
    when = note.changed if note.changed.startswith(dated) else f"{dated} {_END_OF_DAY}"
    about = defused(", ".join(filter(None, (named(author), dated))))
    return BlockLine(
        f"- {clipped(said)} ({about})", note.ref, defused(name), key_of(note.ref), said, when=when, author=author
    )


def _facts(
    vault: Vault,
    ref: str,
    now: datetime,
    share: float,
    too_many: str,
    *,
    categories: frozenset[str] | None = None,
    most: int = 0,
) -> BlockPart:
    content, _ = read_bytes(vault, ref, limits.LARGEST_READ + 1) or (b"", 0.0)
    if len(content) > limits.LARGEST_READ:
        return BlockPart("", defused(ref), "", share, ((BlockLine(f"- {too_many}", ref),),))
    living = [
        (fact, place)
        for fact, place in _parsed(content, ref)
        if fact.status == "active" and not is_past(fact.expires, now)
        if categories is None or standing_category(fact.category, fact.author) in categories
    ]
    ordered = _by_importance(living)
    lines = [_fact(fact, place, ref, now.tzinfo) for fact, place in ordered[: max(_OLDER, most)]]
    return BlockPart("", defused(ref), "", share, (tuple(lines),), left_out=len(ordered) - len(lines))


def _parsed(content: bytes, ref: str) -> Iterator[tuple[Fact, LineRange]]:
    if b"{" not in content:
        return
    from memtool.vault.facts import parse_facts

    with suppress(BrokenVaultFile, UnicodeDecodeError):  # doctor says what is wrong with it
        file = parse_facts(content.decode("utf-8"), ref)
        yield from zip(file.facts, file.places, strict=True)


def _by_importance(facts: list[tuple[Fact, LineRange]]) -> list[tuple[Fact, LineRange]]:
    from memtool.vault.memory import CATEGORIES

    newest_first = sorted(facts, key=lambda found: (found[0].timestamp, found[1].start_line), reverse=True)
    rank = {category: at for at, category in enumerate(CATEGORIES)}  # they are listed by weight

    def order(found: tuple[Fact, LineRange]) -> tuple[bool, int, int]:
        fact = found[0]
        return fact.author == TOOL, rank.get(fact.category, len(rank)), -trust(fact.author)

    return sorted(newest_first, key=order)


def _fact(fact: Fact, lines: LineRange, ref: str, zone: tzinfo | None) -> BlockLine:
    where = f"{lines.start_line}-{lines.end_line}"
    category = standing_category(fact.category, fact.author)
    about = defused(", ".join(filter(None, (category, named(fact.author), fact.timestamp[:10], fact.review))))
    key = key_of(ref, fact.id) if fact.id else ""
    text, when, author = f"- {clipped(fact.fact)} ({about})", _local(fact.timestamp, zone), fact.author or IMPORTED
    place = f"{ref}:{where}"
    return BlockLine(text, place, f"lines {where}", key, fact.fact, when=when, author=author, category=category)


def _local(timestamp: str, zone: tzinfo | None) -> str:
    """Return *timestamp* as the minute of local time; of a day alone its end."""
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(timestamp)
        if len(timestamp) > len("2026-11-22"):
            return (at.astimezone(zone) if at.tzinfo else at).strftime(MINUTE)
    return f"{timestamp[:10]} {_END_OF_DAY}"


def _open_items(vault: Vault, ref: str, now: datetime, most: int, overdue: str) -> BlockPart | None:
    from memtool.vault.todos import find_todos

    note = read_excerpt(vault, ref, now.tzinfo)
    if note is None:
        return None
    newest_first = [item for item in reversed(find_todos(note.body)) if item.is_open]
    today = now.date()
    shown = sorted(newest_first, key=lambda item: _urgency(item, today))[: max(_OLDER, most)]
    lines = []
    for item in shown:
        number, late = note.body_line - 1 + item.line, overdue if item.is_overdue(today) else ""
        text = f"- {clipped(item.text)}{late}"
        lines.append(BlockLine(text, f"{ref}:{number}", f"line {number}", said=item.text, note=late.strip(" ()（）")))
    return BlockPart("", defused(ref), note.date, 0.06, (tuple(lines),), left_out=len(newest_first) - len(shown))


def _urgency(item: Todo, today: date) -> tuple[bool, str, bool, bool]:
    """Return by what open items are sorted: what is overdue comes first, then what is urgent, and ideas last."""
    is_late = item.is_overdue(today)
    return not is_late, item.due if is_late else "", not mentioned("urgent", item.text), item.type == "idea"


def _shipped_lines() -> frozenset[str]:
    """Return the lines of the MEMORY.md that every new vault gets; they are not the user's."""
    from memtool.resources import shipped

    with suppress(OSError, MemtoolError):
        text = (shipped("vault_template") / MEMORY).read_text(encoding="utf-8")
        return frozenset(line.strip() for line in text.split("\n"))
    return frozenset()
