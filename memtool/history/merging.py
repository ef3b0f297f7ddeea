"""Merging two versions of a file of the vault that grew from a third. All pure.

Front matter is merged field by field, daily notes and task lists item by item, session notes as wholes, prose line by
line. What two people wrote in the same place of prose is in the result between marks, with three machines all three
texts; without a base, the lines that both sides have are the base.

Facts are merged by id, field by field. A field that one side changed is as that side has it. Where both changed it:
`superseded` beats `archived` beats `active`, the later statement beats the earlier one, tags are those of both, and
else the greater value counts, so that any number of machines comes to the same bytes, whoever merges first. A fact that
one side removed stays away. Of facts that both sides added in the same words one stays active.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memtool.errors import BrokenVaultFile
from memtool.text.json_places import parse_list
from memtool.text.merging import Clean, common_lines, lines_of, merge_fields, merge_lines, split_fields, union
from memtool.vault.daily import DailyItem, DailyParts, put_together, take_apart
from memtool.vault.facts import FIELDS, NO_FACTS
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.layout import DAILY, FACTS_FILE, NOTE_SUFFIXES, kind_of
from memtool.vault.marks import BEGIN, BETWEEN, END, FIRST, GENERATED, GENERATED_END, LAST
from memtool.vault.memory import trust
from memtool.vault.sessions import is_as_written, parse_session
from memtool.vault.todos import open_lines

_FRAMES = {BEGIN: END, GENERATED: GENERATED_END}
_LIST_MARKS = ("- ", "* ", "+ ", "|", " ", "\t", "\n")
CONFLICT = 10  # the exit code of the merge driver for two texts in one place; Python itself ends with 1 and 2


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


def _merge(ref: str, base: str, ours: str, theirs: str, daily: str) -> Merged:
    kind = _kind(ref, ours, daily)
    if kind == "fact":
        try:
            return Merged(merge_facts(base, ours, theirs, ref))
        except BrokenVaultFile:
            return merge_prose(base, ours, theirs)
    if kind == "session" and (later := _later_capture(base, ours, theirs)):
        return Merged(later)
    return _merge_note(kind, base, ours, theirs)


def _merge_note(kind: str, base: str, ours: str, theirs: str) -> Merged:
    """Merge the front matter by its fields, and the body by the kind of the note."""
    parts = [split_fields(text) for text in (base, ours, theirs)]
    matter, open_fields = merge_fields(*(matter for matter, _ in parts))
    before, mine, other = (body for _, body in parts)
    before = before if base else "".join(common_lines(lines_of(mine), lines_of(other)))
    if kind == "daily":
        body = _merge_daily(before, mine, other)
    elif kind == "todo":
        body = Merged(_merge_todos(before, mine, other))
    else:
        body = merge_prose(before, mine, other)
    return Merged(f"---\n{matter}---\n{body.text}" if matter else body.text, body.conflicts + open_fields)


def _kind(ref: str, text: str, daily: str) -> str:
    if ref.rsplit("/", 1)[-1] != FACTS_FILE and not ref.lower().endswith(NOTE_SUFFIXES):
        return ""
    head = text[:200] if text.startswith("---\n") else ""
    declared = next((line[6:].strip(" \"'") for line in head.split("\n") if line.startswith("type: ")), "")
    return kind_of(ref, declared, daily=daily)


def merge_prose(base: str, ours: str, theirs: str, *, as_list: bool = False) -> Merged:
    """Merge line by line; additions of both to the same list are no conflict, with *as_list* no additions are."""
    texts: list[str] = []
    conflicts = 0
    for part in merge_lines(*(_units(text) for text in (base, ours, theirs))):
        if isinstance(part, Clean):
            texts += part.lines
            continue
        own, their = ([unit for unit in side if not _is_generated(unit)] for side in (part.ours, part.theirs))
        if "".join(own).strip() == "".join(their).strip():  # the empty line before a generated section goes with it
            texts += own if len(own) > len(their) else their
        elif not part.base and (as_list or all(unit.startswith(_LIST_MARKS) for unit in (*own, *their))):
            texts += map(_ended, union((), own, their))
        else:
            texts.append(_between_marks(own, their))
            conflicts += 1
        # Of two generated sections either will do: the next weekly run makes it anew.
        texts.append(max(filter(_is_generated, (*part.ours, *part.theirs)), default=""))
    return Merged("".join(texts), conflicts)


def _units(text: str) -> list[str]:
    """Return the lines of *text*; a conflict between marks, and a generated section, is one unit."""
    units: list[str] = []
    start, end = 0, ""
    for line in lines_of(text):
        units.append(line)
        opened = next((last for first, last in _FRAMES.items() if line.startswith(first)), "")
        if opened:
            start, end = len(units) - 1, opened
        elif end and line.startswith(end):
            units[start:] = ["".join(units[start:])]
            end = ""
    return units


def _is_generated(unit: str) -> bool:
    return unit.startswith(GENERATED)


def _between_marks(*sides: Sequence[str]) -> str:
    """Return the texts of both sides between marks; a side that holds such texts already gives each of them."""
    texts: set[str] = set()
    for side in sides:
        places = []  # each with its text, or the texts that it holds between marks
        for unit in side:
            inner = "".join(lines_of(unit)[1:-1]) if unit.startswith(BEGIN) else ""
            places.append(re.split(rf"^{BETWEEN}\s*\n", inner, flags=re.MULTILINE) if inner else [unit])
        for at in range(max(map(len, places), default=1)):
            texts.add("".join(_ended(those[min(at, len(those) - 1)]) for those in places))
    between = f"{BETWEEN}\n"
    return f"{FIRST}\n{between.join(sorted(texts))}{LAST}\n"


def _ended(line: str) -> str:
    return line if line.endswith("\n") or not line else f"{line}\n"


def _later_capture(base: str, ours: str, theirs: str) -> str:
    """Return the session note of the later capture, with the edits of the other; empty if both were edited."""
    earlier, later = sorted((ours, theirs), key=lambda text: (parse_session(text).updated, text))
    if is_as_written(earlier):
        return later
    return keep_hand_edits(base or None, earlier, later) if is_as_written(later) else ""


def _merge_todos(base: str, ours: str, theirs: str) -> str:
    """Merge lists of tasks as if all were open, and then tick off the items that are done on either side."""
    versions = [_Todos(text) for text in (base, ours, theirs)]
    lines: list[str] = []
    for part in merge_lines(*(version.lines for version in versions)):
        lines += part.lines if isinstance(part, Clean) else map(_ended, union(*part))
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
        return merge_prose(base, ours, theirs, as_list=True)
    rests = [put_together(part._replace(entries={}, sessions={})) if part.rest.strip() else "" for part in versions]
    rest = merge_prose(*rests, as_list=True)
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
            known, own, their = (side.words if side else "" for side in (before, mine, other))
            both = "\n".join(sorted(filter(None, (own, their))))
            merged[key] = item._replace(words=own if their in (known, own) else their if own == known else both)
    return merged


def _entry(before: DailyItem | None, mine: DailyItem | None, other: DailyItem | None) -> DailyItem | None:
    """Return the line of a project and minute with the files of both sides, less those that one side took away."""
    item = mine or other
    if item is None:
        return None
    files = [side.line[side.line.index("`") + 1 : -1].split("`, `") if side else () for side in (before, mine, other)]
    kept = union(*((f"`{name}`" for name in names) for names in files))
    start = item.line[: item.line.index("`")] if "`" in item.line else item.line
    return item._replace(line=start + ", ".join(kept)) if kept else None


_RANKS = {"active": 1, "archived": 2, "superseded": 3}
_TOGETHER = (("status", "supersededBy"), ("fact", "evidence", "timestamp"))  # fields that say one thing


def merge_facts(base: str, ours: str, theirs: str, ref: str = "facts.json") -> str:
    """Return the text of `facts.json` with the facts of both sides, sorted by their time and id.

    Raises:
        BrokenVaultFile: a side is no list of facts.
    """
    (frame, known), (own_frame, own), (their_frame, their) = (_fact_list(text, ref) for text in (base, ours, theirs))
    repeated = {key for facts in (known, own, their) for key, count in Counter(map(_id, facts)).items() if count > 1}
    before, mine, other = (
        {key if (key := _id(fact)) and key not in repeated else f"\0{_json(fact)}": fact for fact in facts}
        for facts in (known, own, their)
    )
    merged = {key: _merged_fact(before.get(key), mine.get(key), other.get(key)) for key in {**mine, **other}}
    there = {key: fact for key, fact in merged.items() if fact is not None}
    new = there.keys() - before.keys()
    _link_twins(
        there,
        *([there[key] for key in new & own.keys() - their.keys()] for own, their in ((mine, other), (other, mine))),
    )
    for fact in there.values():
        if isinstance(fact, dict) and fact.get("supersedes") in before.keys() - there.keys():
            del fact["supersedes"]  # it was purged
    facts = sorted((_in_form(fact) for fact in there.values()), key=_order)
    fields = {name: _chosen(frame, own_frame, their_frame, (name,))[0] for name in {**own_frame, **their_frame}}
    around = {name: fields[name] for name in sorted(fields) if fields[name] is not _NONE}
    return json.dumps({**around, "facts": facts}, ensure_ascii=False, indent=2) + "\n"


def _link_twins(facts: Mapping[str, Any], ours: Iterable[Any], theirs: Iterable[Any]) -> None:
    """Let one of two facts that are new on both sides in the same words supersede the other."""
    own, their = ({words: fact for fact in side if (words := _active_words(fact))} for side in (ours, theirs))
    for words in own.keys() & their.keys():
        best, twin = sorted(
            (own[words], their[words]), key=lambda fact: (-trust(str(fact.get("author"))), _order(fact))
        )
        twin |= {"status": "superseded", "supersededBy": best["id"]}
        for fact in facts.values():
            if isinstance(fact, dict) and fact.get("supersededBy") == twin["id"]:
                fact["supersededBy"] = best["id"]


def _active_words(fact: Any) -> tuple[str, str] | None:  # noqa: ANN401
    """Return the words of an active fact and the day on which it ends; None of any other."""
    if not _id(fact) or fact.get("status") != "active":
        return None
    return " ".join(str(fact.get("fact")).casefold().split()).rstrip(".。"), str(fact.get("expires"))


def _fact_list(text: str, ref: str) -> tuple[dict[str, Any], list[Any]]:
    """Return the fields beside the list of facts, and the facts."""
    if not text.strip():
        return {}, []
    try:
        listed = parse_list(text, "facts")
        whole = {} if listed.is_bare else json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise BrokenVaultFile(f"'{ref}' is not a list of facts in JSON: {error}") from None
    whole.pop("facts", None)
    return whole, [item.value for item in listed.items]


def _id(fact: Any) -> str:  # noqa: ANN401  (the list may hold anything)
    found = fact.get("id") if isinstance(fact, dict) else None
    return found if isinstance(found, str) else ""


def _merged_fact(before: Any, mine: Any, other: Any) -> Any:  # noqa: ANN401
    if mine is None or other is None:
        return None if before is not None else other if mine is None else mine  # only a purge removes a fact
    if not (isinstance(mine, dict) and isinstance(other, dict)):
        return mine
    known = before if isinstance(before, dict) else {}
    fact: dict[str, Any] = {}
    single = [(name,) for name in {**mine, **other} if not any(name in names for names in _TOGETHER)]
    for names in (*_TOGETHER, *single):
        values = _chosen(known, mine, other, names)
        fact |= {name: value for name, value in zip(names, values, strict=True) if value is not _NONE}
    return fact


_NONE: Any = type("_None", (), {"__repr__": lambda _: "nothing"})()  # a field that is not there


def _chosen(
    before: Mapping[str, Any], mine: Mapping[str, Any], other: Mapping[str, Any], names: tuple[str, ...]
) -> tuple[Any, ...]:
    """Return the values of the fields *names* after the changes of both sides."""
    known, own, their = (tuple(side.get(name, _NONE) for name in names) for side in (before, mine, other))
    if their in (known, own):
        return own
    if own == known:
        return their
    if names == ("tags",) and isinstance(own[0], list) and isinstance(their[0], list):
        return (sorted(union(known[0] if isinstance(known[0], list) else (), own[0], their[0]), key=_json),)
    return max(own, their, key=lambda values: _strength(names, values))


def _strength(names: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    said = [_json(value) for value in values if value is not _NONE]
    if names[0] == "status":
        return (_RANKS.get(str(values[0]), 0), said)
    return (_instant(values[-1]) if names[-1] == "timestamp" else 0.0, said)


def _instant(timestamp: object) -> float:
    """Return the moment that *timestamp* names, in seconds; of a day, its beginning."""
    try:
        moment = datetime.fromisoformat(str(timestamp))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _in_form(fact: Any) -> Any:  # noqa: ANN401
    """Return *fact* with its fields in the order of the format, unknown ones behind them by name."""
    if not isinstance(fact, dict):
        return fact
    return {name: fact[name] for name in (*(name for name in FIELDS if name in fact), *sorted(set(fact) - set(FIELDS)))}


def _order(fact: Any) -> tuple[bool, float, str, str]:  # noqa: ANN401
    timestamp = fact.get("timestamp") if isinstance(fact, dict) else None
    return not isinstance(fact, dict), _instant(timestamp), _id(fact), _json(fact)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
