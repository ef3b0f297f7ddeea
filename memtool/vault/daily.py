"""Daily notes: what happened, one line for each project and minute.

    - 14:30 **shop**: `auth.ts`, `middleware/jwt.ts`

Lines that look otherwise are the owner's and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from memtool.vault.prose import in_language, one_line

LABELS = {"daily": ("Daily", "日志")}

_ENTRY = re.compile(
    r"^- (?P<minute>[0-2][0-9]:[0-5][0-9])(?: \*\*(?P<project>[^*\r\n]+)\*\*)?: "
    r"(?P<files>`[^`\r\n]+`(?:, `[^`\r\n]+`)*)(?=[ \t]*\r?$)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class DailyEntry:
    """The files that were edited in a project within one minute, such as `14:30`."""

    minute: str
    project: str
    files: tuple[str, ...]


def render_daily(day: date, entries: Iterable[DailyEntry] = (), *, language: str = "en") -> str:
    """Return the daily note of *day*."""
    title = f"{in_language(LABELS, language)['daily']}: {day.isoformat()}"
    text = f"---\ntype: daily\ndate: {day.isoformat()}\n---\n\n# {title}\n\n"
    for entry in entries:
        text = add_entry(text, entry)
    return text


def parse_daily(text: str) -> tuple[DailyEntry, ...]:
    """Return the entries of a daily note, in the order in which they stand."""
    return tuple(_entry(match) for match in _ENTRY.finditer(text))


def add_entry(text: str, entry: DailyEntry) -> str:
    """Return *text* with *entry* in its place in time, or merged into the line of its project and minute.

    Every other byte is kept; an entry that says nothing new changes nothing.
    """
    entry = _clean(entry)
    before = None
    for match in _ENTRY.finditer(text):
        there = _entry(match)
        if (there.minute, there.project) == (entry.minute, entry.project):
            merged = replace(there, files=tuple(dict.fromkeys(there.files + entry.files)))
            return text if merged == there else text[: match.start()] + _line(merged) + text[match.end() :]
        if before is None or there.minute <= entry.minute:
            before = match
    return _insert(text, entry, before) if entry.files else text


def _insert(text: str, entry: DailyEntry, before: re.Match[str] | None) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    line = _line(entry) + newline
    if before is None:
        return text + ("" if text.endswith("\n") or not text else newline) + line
    if before["minute"] > entry.minute:  # all that stand there are later
        return text[: before.start()] + line + text[before.start() :]
    end = text.find("\n", before.end()) + 1
    return text[:end] + line + text[end:] if end else text + newline + line


def _entry(match: re.Match[str]) -> DailyEntry:
    return DailyEntry(match["minute"], match["project"] or "", tuple(match["files"][1:-1].split("`, `")))


def _line(entry: DailyEntry) -> str:
    project = f" **{entry.project}**" if entry.project else ""
    return f"- {entry.minute}{project}: " + ", ".join(f"`{name}`" for name in entry.files)


def _clean(entry: DailyEntry) -> DailyEntry:
    names = (one_line(name).replace("`", "'") for name in entry.files)
    project = one_line(entry.project).replace("*", "").strip()
    return DailyEntry(entry.minute, project, tuple(dict.fromkeys(name for name in names if name)))
