"""Merging two versions of a file of the vault that grew from a third. All pure.

Daily notes and task lists are merged item by item, facts by their ids (`memtool.vault.merging_facts`), session notes as
wholes, prose line by line. What two people wrote in the same place stands in the result twice, between marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from memtool.errors import BrokenVaultFile
from memtool.text.three_way import Clean, Conflict, lines_of, merge_lines
from memtool.vault.daily import DailyItem, DailyParts, put_together, take_apart
from memtool.vault.facts import NO_FACTS
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.layout import DAILY, FACTS_FILE, NOTE_SUFFIXES, kind_of
from memtool.vault.merging_facts import merge_facts
from memtool.vault.sessions import is_as_written, parse_session
from memtool.vault.todos import open_lines

T = TypeVar("T")

FIRST, BETWEEN, LAST = "<<<<<<< one text", "=======", ">>>>>>> the other text"
_ASIDE = "# the other text: "  # of front matter, in which marks would be a fault
_LIST_MARKS = ("- ", "* ", "+ ", "|", " ", "\t", "\n")


class Merged(NamedTuple):
    """The text that both versions became. *conflicts* counts the places that hold two texts between marks."""

    text: str
    conflicts: int = 0


def merge(ref: str, base: str | None, ours: str, theirs: str, *, daily: str = DAILY) -> Merged:
    """Return the file at *ref* with the changes that two sides made to *base*; None: each side has made it anew.

    Who is *ours* and who *theirs* makes no difference to the text.
    """
    base = base or ""
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    newline = "\r\n" if "\r\n" in ours and "\r\n" in theirs else "\n"
    first, second = sorted(text.replace("\r\n", "\n") for text in (ours, theirs))
    merged = _merge(ref, base.replace("\r\n", "\n"), first, second, daily)
    return merged._replace(text=merged.text.replace("\n", newline))


def emptied(ref: str, text: str, *, daily: str = DAILY) -> str | None:
    """Return *text* without the items of which it is a list; None if it is no list of memtool's."""
    kind = _kind(ref, text, daily)
    if kind == "fact":
        return NO_FACTS
    if kind == "daily":
        return put_together(take_apart(text)._replace(entries={}, sessions={}))
    if kind == "todo":
        items = open_lines(text)
        return "".join(line for number, line in enumerate(lines_of(text), 1) if number not in items)
    return None


def holds_two_texts(text: str) -> bool:
    """Whether *text* holds a conflict that nobody has solved yet."""
    lines = {line.rstrip() for line in text.split("\n")}
    return FIRST in lines and LAST in lines


def _merge(ref: str, base: str, ours: str, theirs: str, daily: str) -> Merged:
    kind = _kind(ref, ours, daily)
    if kind == "fact":
        try:
            return Merged(merge_facts(base, ours, theirs, ref))
        except BrokenVaultFile:
            return merge_prose(base, ours, theirs)
    if kind == "daily":
        return _merge_daily(base, ours, theirs)
    if kind == "todo":
        return Merged(_merge_todos(base, ours, theirs))
    if kind == "session" and (later := _later_capture(base, ours, theirs)):
        return Merged(later)
    return merge_prose(base, ours, theirs)


def _kind(ref: str, text: str, daily: str) -> str:
    if ref.rsplit("/", 1)[-1] != FACTS_FILE and not ref.lower().endswith(NOTE_SUFFIXES):
        return ""
    head = text[:200] if text.startswith("---\n") else ""
    declared = next((line[6:].strip(" \"'") for line in head.split("\n") if line.startswith("type: ")), "")
    return kind_of(ref, declared, daily=daily)


def merge_prose(base: str, ours: str, theirs: str) -> Merged:
    """Merge line by line; what both added to the same list is no conflict."""
    lines: list[str] = []
    conflicts = 0
    for part in merge_lines(lines_of(base), lines_of(ours), lines_of(theirs)):
        if isinstance(part, Clean):
            lines += part.lines
        elif not part.base and all(line.startswith(_LIST_MARKS) for line in (*part.ours, *part.theirs)):
            lines += map(_ended, _union(part))
        elif _is_in_matter(lines):
            lines += [*map(_ended, part.ours), *(_ended(_ASIDE + line) for line in part.theirs)]
            conflicts += 1
        else:
            both = (FIRST, *part.ours, BETWEEN, *part.theirs, LAST)
            lines += map(_ended, both)
            conflicts += 1
    return Merged("".join(lines), conflicts)


def _is_in_matter(lines: Sequence[str]) -> bool:
    """Whether what follows *lines* stands in the front matter."""
    return bool(lines) and lines[0].rstrip() == "---" and not any(line.rstrip() == "---" for line in lines[1:])


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n"


def _union(part: Conflict) -> list[str]:
    """Return the lines of both sides, each once, without those that one side took away."""
    kept = [line for line in part.ours if line in part.theirs or line not in part.base]
    return [*kept, *(line for line in part.theirs if line not in part.ours and line not in part.base)]


def _later_capture(base: str, ours: str, theirs: str) -> str:
    """Return the session note of the later capture, with what its owner changed in the other; empty if both did."""
    earlier, later = sorted((ours, theirs), key=lambda text: (parse_session(text).updated, text))
    if is_as_written(earlier):
        return later
    return keep_hand_edits(base or None, earlier, later) if is_as_written(later) else ""


def _merge_todos(base: str, ours: str, theirs: str) -> str:
    """Merge lists of tasks as if all were open, and then tick off what is done on either side."""
    versions = [_Todos(text) for text in (base, ours, theirs)]
    lines: list[str] = []
    for part in merge_lines(*(version.lines for version in versions)):
        lines += part.lines if isinstance(part, Clean) else map(_ended, _union(part))
    states = [version.states for version in versions]
    items = set(states[1]) | set(states[2])
    merged: list[str] = []
    for line in lines:
        if line in items and line in merged and max(versions[1].count(line), versions[2].count(line)) == 1:
            continue  # both sides wrote it, each at another place
        merged.append(line)
    return "".join(_state(line, states) for line in merged)


class _Todos:
    """A task list as if nothing were done, and how each of its items is."""

    def __init__(self, text: str) -> None:
        self.lines = [_ended(line) for line in lines_of(text)]
        self.states: dict[str, str] = {}
        for number, line in open_lines(text).items():
            self.states[f"{line}\n"] = self.lines[number - 1]
            self.lines[number - 1] = f"{line}\n"

    def count(self, line: str) -> int:
        return self.lines.count(line)


def _state(line: str, states: Sequence[Mapping[str, str]]) -> str:
    before, *sides = (state.get(line) for state in states)
    known = [side for side in sides if side is not None]
    changed = [side for side in known if side != before] or known
    return max(changed, key=lambda side: (side != line, side), default=line)  # done beats open


def _merge_daily(base: str, ours: str, theirs: str) -> Merged:
    """Merge the items of both days, and the rest as prose."""
    versions = [take_apart(text) for text in (base, ours, theirs)]
    if not any(part.entries or part.sessions for part in versions):
        return merge_prose(base, ours, theirs)
    rests = [put_together(part._replace(entries={}, sessions={})) if part.rest.strip() else "" for part in versions]
    rest = merge_prose(*rests)
    entries = _items(*(part.entries for part in versions), is_entry=True)
    sessions = _items(*(part.sessions for part in versions), is_entry=False)
    heading = next((part.heading for part in versions[1:] if part.heading), "")
    return Merged(put_together(DailyParts(rest.text, entries, sessions, heading)), rest.conflicts)


def _items(
    base: Mapping[str, DailyItem], ours: Mapping[str, DailyItem], theirs: Mapping[str, DailyItem], *, is_entry: bool
) -> dict[str, DailyItem]:
    merged: dict[str, DailyItem] = {}
    for key in dict.fromkeys([*ours, *theirs]):
        before, mine, other = base.get(key), ours.get(key), theirs.get(key)
        if is_entry:
            item = _entry(before, mine, other)
        elif other in (before, mine):
            item = mine
        elif mine == before:
            item = other
        else:
            item = max(filter(None, (mine, other)))
        if item:
            words = _words(*(side.words if side else "" for side in (before, mine, other)))
            merged[key] = item._replace(words=words)
    return merged


def _entry(before: DailyItem | None, mine: DailyItem | None, other: DailyItem | None) -> DailyItem | None:
    """Return the line of a project and minute with the files of both sides, less those that one side took away."""
    item = mine or other
    if item is None:
        return None
    files = [_files(side) for side in (before, mine, other)]
    kept = _union(Conflict(*files))
    start = item.line[: item.line.index("`")] if "`" in item.line else item.line
    return item._replace(line=start + ", ".join(kept)) if kept else None


def _files(item: DailyItem | None) -> tuple[str, ...]:
    return tuple(f"`{name}`" for name in item.line[item.line.index("`") + 1 : -1].split("`, `")) if item else ()


def _words(before: str, mine: str, other: str) -> str:
    if other in (before, mine):
        return mine
    return other if mine == before else "\n".join(_in_order(filter(None, (mine, other))))


def _in_order(texts: Iterable[str]) -> Iterator[str]:
    yield from sorted(texts)
