"""Which change brought each line of a file of the vault, and from which session it came."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from memtool.errors import BrokenVaultFile, NoteNotFound
from memtool.text.languages import all_labels
from memtool.vault.changes import Change, read_changes
from memtool.vault.facts import Fact, parse_facts
from memtool.vault.git import ask
from memtool.vault.history import refuse_programs
from memtool.vault.layout import FACTS_FILE, Vault
from memtool.vault.note import Note, parse_note

_LINE = re.compile(r"([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?")
_NOBODY = "0" * 40  # git's commit of a line that is in none
_IN_REASON = re.compile(r"\(sessions/([^()\s/]+)\.md\)")


class Origin(NamedTuple):
    """Where lines come from.

    Args:
        first, last: the lines, counted from 1.
        text: what stands there.
        change: what brought them; None where they are in no commit yet.
        session: the id of the session that they come from, with `#` and its turn where that is known; else empty.
    """

    first: int
    last: int
    text: str
    change: Change | None
    session: str


def blame(vault: Vault, ref: str, first: int = 0, last: int = 0) -> list[Origin]:
    """Return the origins of the lines *first* to *last* of the file *ref* (0, 0: of all), in order.

    Raises:
        NoteNotFound: there are no such lines.
        HistoryFailed: the vault has no history, or git refuses.
    """
    changes = {change.commit: change for change in read_changes(vault)}
    refuse_programs(vault.root)
    lines = ("-L", f"{first},{last}") if first else ()
    vault.path(ref)  # it lies in the vault
    options = ("--porcelain", "--no-progress", "--no-textconv", "-w", *lines)
    answer = ask(vault.root, "--no-pager", "blame", *options, "--", ref, timeout=60.0)
    if answer.code:
        raise NoteNotFound(f"{ref}:{first}-{last}" if first else ref)
    rows = list(_rows(answer.out))
    whole = vault.path(ref).read_bytes()
    sources = _Sources(ref, whole)
    found = []
    for (commit, source), group in groupby(rows, key=lambda row: (row[0], sources.of(row[1], row[2]))):
        part = list(group)
        change = changes.get(commit) if commit != _NOBODY else None
        session = source or _session_in(change)
        found.append(Origin(part[0][1], part[-1][1], "\n".join(row[2] for row in part), change, session))
    return found


def _rows(text: str) -> Iterator[tuple[str, int, str]]:
    """Give the commit, the number and the text of each line that git names."""
    commit, number = "", 0
    for line in text.split("\n"):
        if line.startswith("\t"):
            yield commit, number, line[1:]
        elif match := _LINE.fullmatch(line):
            commit, number = match[1], int(match[2])


class _Sources:
    """What a file itself says of the sessions from which its lines come."""

    def __init__(self, ref: str, content: bytes) -> None:
        folder, _, name = ref.removeprefix("archive/").rpartition("/")
        self._own = name.removesuffix(".md") if folder == "sessions" else ""
        self._facts: Sequence[tuple[int, int, Fact]] = ()
        if name == FACTS_FILE:
            self._facts = _facts(content, ref)
        elif not self._own:
            note = parse_note(ref, content)
            sources = note.fields.get("sources") if isinstance(note, Note) else None
            named = [str(source) for source in sources] if isinstance(sources, list) else []
            self._own = named[0].removeprefix("sessions/").removesuffix(".md") if len(named) == 1 else ""

    def of(self, number: int, text: str) -> str:
        """Return the session of the line *number*, which is *text*; empty if nobody says."""
        for first, last, fact in self._facts:
            if first <= number <= last:
                return fact.source
        named = next(filter(None, (re.search(pattern, text) for pattern in _patterns())), None)
        return named[1] if named else self._own


@cache
def _patterns() -> tuple[str, ...]:
    """Return how a line names its session: a daily note's link, or its line without a note, and an open item."""
    of_items = (re.escape(form.strip()) for form in all_labels("todos")["session"])
    return (
        r"\.\./sessions/([^()\s/]+)\.md\)",
        r"\(session ([^()\s]+)\)",
        *(form.replace(r"\{\}", "([^()（）]+)") for form in of_items),
    )


def _facts(content: bytes, ref: str) -> list[tuple[int, int, Fact]]:
    try:
        file = parse_facts(content.decode("utf-8", "replace"), ref)
    except BrokenVaultFile:
        return []
    return [
        (place.start_line, place.end_line, fact) for place, fact in zip(file.places, file.facts, strict=True)
    ]  # fmt: skip


def _session_in(change: Change | None) -> str:
    """Return the one session that *change* captured; empty if there are several."""
    named = set(_IN_REASON.findall(change.reason)) if change else set()
    return named.pop() if len(named) == 1 else ""
