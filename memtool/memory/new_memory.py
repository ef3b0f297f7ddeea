"""A memory to be saved: cleaned, redacted and checked before anything is searched or written."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from memtool.errors import UsageError
from memtool.index.filters import parse_day
from memtool.text.lines import one_line
from memtool.text.tokens import index_terms
from memtool.vault.authors import STANDING, TOOL
from memtool.vault.kinds import CATEGORIES, FACT, TODO

LONGEST_FACT = 2_000  # characters
_LONGEST_TODO = 500
_LONGEST_TAG = 100
_MARKER = re.compile(r"\[redacted: [a-z-]+\]")
_IN_DAYS = re.compile(r"(\d{1,4})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class NewMemory(NamedTuple):
    """A statement to be remembered, and how.

    Args:
        text: the statement, or the body of the note.
        kind: `fact`, `todo`, or a kind of note that can be saved (`FOLDERS`).
        project: its name; None is that of the working folder, empty none.
        expires: the last day on which it holds, or the moment until which it does.
        source: a session with its turn (`3f2a9c#4`), the path of a note, or a commit.
        author: one of `memtool.vault.authors.AUTHORS`; empty if nobody knows.
        supersedes: the id of the fact that it replaces.
        force: whether it is written although something stands that says the same.
        exact: whether only the same text in the same category counts as that, and no other words for it.
        type: of an open item, one of `memtool.vault.todos.TYPES`.
        due: the day by which an open item is to be done.
        summary: a few words for lists.
        anchors: the files that a fact speaks of, each with its path in the project and its git blob id.
    """

    text: str
    kind: str = FACT
    category: str = ""
    project: str | None = None
    tags: tuple[str, ...] = ()
    expires: str = ""
    evidence: str = ""
    source: str = ""
    author: str = ""
    supersedes: str = ""
    force: bool = False
    exact: bool = False
    type: str = ""
    due: str = ""
    summary: str = ""
    anchors: tuple[Mapping[str, str], ...] = ()


def prepared(memory: NewMemory, redact: Callable[[str], str], today: dt.date, *, max_bytes: int) -> NewMemory:
    """Return *memory* without secrets, its tags and its date in the form that the vault holds.

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
    text = redact(memory.text.replace("\r\n", "\n")).strip()
    _check_text(memory.text, text, memory.kind, max_bytes)
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
    if not index_terms(_MARKER.sub("", text[:LONGEST_FACT])):
        raise UsageError("no word is left of the text, so that it could never be found", hint="Say it in words.")
    if kind == FACT and len(text) > LONGEST_FACT:
        hint = "A fact is one statement: write a note with `--kind knowledge`."
        raise UsageError(f"the text has {len(text):,} characters; a fact has {LONGEST_FACT:,} at most", hint=hint)
    if kind == TODO and (text != one_line(text) or len(text) > _LONGEST_TODO):
        hint = "Write it shorter, or a note with `--kind knowledge`."
        raise UsageError(
            f"a todo is one line of {_LONGEST_TODO} characters at most, without repeated spaces", hint=hint
        )
    if len(text.encode("utf-8")) > max_bytes - LONGEST_FACT:  # the front matter needs room, too
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
    tag = "-".join(one_line(text).lstrip("#").replace(",", " ").split())[:_LONGEST_TAG]
    if not index_terms(tag):
        raise UsageError(f"'{one_line(text)}' is no tag", hint="Write one word, such as `--tag auth`.")
    return tag


def _expiry(text: str, today: dt.date) -> str:
    day = _moment(text) or _coming_day(text, today)
    if day[:10] < today.isoformat():
        raise UsageError(f"'{text}' is over, so it would be forgotten at once", hint="Name a day that is to come.")
    return day


def _moment(text: str) -> str:
    """Return the moment that *text* names; empty where it names a day."""
    with suppress(ValueError):
        return dt.datetime.fromisoformat(text).isoformat(timespec="seconds") if ":" in text else ""
    return ""


def _coming_day(text: str, today: dt.date) -> str:
    """Return the day that *text* names. `2w` is in two weeks: unlike a search, it looks ahead."""
    match = _IN_DAYS.fullmatch(text.strip().lower())
    if match:
        return (today + dt.timedelta(days=int(match[1]) * _DAYS[match[2]])).isoformat()
    return parse_day(text, today, end=True)
