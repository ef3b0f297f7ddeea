"""Facts: single statements with evidence and a status, kept in `facts.json` (docs/vault-format.md).

Reading takes what can be read: a field of the wrong kind is reported and left in `extra`, and only a fact without a
readable statement or status is left out. Writing rewrites the facts that changed and keeps every other byte.

Each fact is checked quickly, by the types in `FIELDS`; jsonschema, which takes seventy times longer, says by
`facts.schema.json` what is wrong where that check finds a fault. A test compares the two.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from memtool.errors import BrokenVaultFile, MemtoolError, NoteNotFound, UsageError
from memtool.named_tuple import NamedTuple
from memtool.text.json_places import JsonItem, JsonList, LineRange, parse_list
from memtool.text.lines import newline_of
from memtool.vault import files
from memtool.vault.layout import Vault, project_of
from memtool.vault.memory import AUTHORS, CATEGORIES, FACT, IMPORTED, Location, Memory

NO_FACTS = '{\n  "facts": []\n}\n'

STATUSES = ("active", "superseded", "archived")

_DATE = re.compile(r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])($|[T ])")
_Test: TypeAlias = Callable[[Any], bool]
_NO_FIELDS: Mapping[str, Any] = {}
_STEP = "  "  # indentation in the files that memtool makes
_INDENT = re.compile(r"[ \t]*")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class Fact(NamedTuple):
    """One statement. *extra* holds the fields that memtool does not know, or that hold the wrong kind of value."""

    fact: str
    id: str = ""  # empty only where a file of another tool gives none
    evidence: str = ""
    timestamp: str = ""
    status: str = "active"
    superseded_by: str = ""
    supersedes: str = ""
    category: str = "general"
    subject: str = ""  # what it is about, as it is named: of two facts about one, the newer holds
    tags: tuple[str, ...] = ()
    source: str = ""
    author: str = ""  # empty if unknown: it counts as `imported`
    confidence: float | None = None
    expires: str = ""
    anchors: tuple[Mapping[str, Any], ...] = ()
    spans: tuple[Mapping[str, Any], ...] = ()  # where the words of the evidence are found again
    review: str = ""  # why it should be reviewed
    domain: str = ""
    project: str = ""
    summary: str = ""  # a few words for lists, where the statement is long
    updated: str = ""  # when another field than the statement was changed last
    extra: Mapping[str, Any] = _NO_FIELDS


def wrong_fields(fact: Mapping[str, Any]) -> set[str]:
    """Return the names of the fields of *fact* that are missing or wrong."""
    wrong = set(_REQUIRED - fact.keys())
    for name, value in fact.items():
        if name in FIELDS and not (FIELDS[name](value) or (value is None and name not in _REQUIRED)):
            wrong.add(name)
    if fact.get("status") == "superseded" and not _is_text(fact.get("supersededBy")):
        wrong.add("supersededBy")
    return wrong


def faults(fact: object) -> list[str]:
    """Return a sentence for each rule of the schema that *fact* breaks."""
    if isinstance(fact, dict) and not wrong_fields(fact):
        return []
    sentences = set()
    for error in _validator().iter_errors({"facts": [fact]}):
        message = error.message if len(error.message) <= 200 else f"{error.message[:200]}…"  # it quotes the value
        names = [str(step) for step in list(error.absolute_path)[2:]]  # below "facts" and the number of the fact
        sentences.add(f"'{'.'.join(names)}': {message}" if names else message)
    return sorted(sentences)


@cache
def _validator() -> Any:  # noqa: ANN401
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(Path(__file__).with_name("facts.schema.json").read_text(encoding="utf-8")))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not re.search(r"\s", value)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_date(value: object) -> bool:
    return isinstance(value, str) and bool(_DATE.search(value))


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_anchor(value: object) -> bool:
    return isinstance(value, dict) and _is_text(value.get("path")) and isinstance(value.get("blob"), str | None)


def _is_span(value: object) -> bool:
    return isinstance(value, dict) and _is_text(value.get("source")) and _is_text(value.get("hash"))


def _list_of(fits: _Test) -> _Test:
    return lambda value: isinstance(value, list) and all(map(fits, value))


FIELDS: dict[str, _Test] = {
    "id": _is_id, "fact": _is_text, "evidence": _is_text, "timestamp": _is_date, "status": STATUSES.__contains__,
    "supersededBy": _is_string, "supersedes": _is_string, "category": tuple(CATEGORIES).__contains__,
    "subject": _is_string, "tags": _list_of(_is_string), "source": _is_string, "author": AUTHORS.__contains__,
    "confidence": _is_share, "expires": _is_date, "anchors": _list_of(_is_anchor), "spans": _list_of(_is_span),
    "review": _is_string, "domain": _is_string, "project": _is_string, "summary": _is_string, "updated": _is_date,
}  # fmt: skip
_REQUIRED = frozenset({"id", "fact", "evidence", "timestamp", "status", "category"})


class FactFile(NamedTuple):
    """The parsed facts file *ref*. *places* goes with *facts*, one by one. Facts that share an id are all here."""

    ref: str
    text: str
    facts: tuple[Fact, ...]
    places: tuple[LineRange, ...]
    listed: JsonList  # the same as plain JSON, for writing

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each rule that the file breaks, by the schema."""
        ref, items = self.ref, self.listed.items
        found = [f"'{ref}' line 1: the list should be in an object, {{\"facts\": […]}}"] if self.listed.is_bare else []
        ids = [item.value.get("id") for item in items if isinstance(item.value, dict)]
        found += [f"'{ref}': the id '{fact_id}' is used more than once" for fact_id in _repeated(ids)]
        for item in items:
            half = ["it holds half a character (a lone surrogate)"] if _has_half_character(self.text, item) else []
            found += [f"'{ref}' line {item.place.start_line}: {fault}" for fault in half or faults(item.value)]
        return tuple(found)

    def memories(self) -> list[Memory]:
        """Return the facts as memories, in their order."""
        return [memory_of(fact, self.ref, place) for fact, place in zip(self.facts, self.places, strict=True)]


def memory_of(fact: Fact, ref: str, place: LineRange) -> Memory:
    """Return *fact*, which is at *place* of the file *ref*, as a memory."""
    return Memory(
        fact.id, fact.fact, FACT, Location(ref, place.start_line, place.end_line), author=fact.author or IMPORTED,
        project=fact.project or project_of(ref), category=fact.category, date=fact.timestamp, tags=fact.tags,
        expires=fact.expires, status="" if fact.status == "active" else fact.status,
    )  # fmt: skip


@lru_cache(maxsize=8)  # a run reads the same few files again for each of its steps
def parse_facts(text: str, ref: str = "facts.json") -> FactFile:
    """Return the facts in *text*, of the file *ref*.

    Raises:
        BrokenVaultFile: the text is not JSON, or holds no list of facts.
    """
    try:
        listed = parse_list(text, "facts")
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BrokenVaultFile(f"'{ref}' is not a list of facts in JSON: {error.msg} ({where})") from None
    facts, places = [], []
    for item in listed.items:
        if fact := _read(text, item):
            facts.append(fact)
            places.append(item.place)
    return FactFile(ref, text, tuple(facts), tuple(places), listed)


def render_facts(facts: Sequence[Fact], onto: FactFile | None = None) -> str:
    """Return the text of a file with *facts*: that of *onto*, changed facts rewritten, new ones added at its end.

    *facts* begins with the facts of *onto*, in their order. Every other byte of *onto* is kept.
    """
    onto = onto or parse_facts(NO_FACTS)
    count = len(onto.facts)
    if [fact.id for fact in facts[:count]] != [fact.id for fact in onto.facts]:
        raise ValueError("facts are superseded or archived, never removed or moved")
    pieces, seen = [], 0
    for before, after, place in zip(onto.facts, facts, onto.places, strict=False):
        if after != before:
            pieces += [onto.text[seen : place.start], _render(after, onto.text, place)]
            seen = place.end
    tail, rest = _render_new(facts[count:], onto.text, onto.listed)
    return "".join([*pieces, onto.text[seen : onto.listed.tail], tail, onto.text[rest:]])


def update_facts(vault: Vault, ref: str, change: Callable[[tuple[Fact, ...]], Sequence[Fact]]) -> FactFile:
    """Change the facts file *ref* under the vault's lock, and return it as it is then.

    Raises:
        UsageError: a fact breaks a rule that it did not break before.
        BrokenVaultFile, NoteChanged, NotWritable, Busy, OutsideVault: the file is as it was.
    """
    path = vault.path(ref).resolve()
    with vault.lock():
        text, expected = NO_FACTS, None
        with suppress(NoteNotFound):
            text, expected = vault.read(ref)
        before = parse_facts(text, ref)
        facts = tuple(change(before.facts))
        if facts == before.facts:
            return before
        _refuse_new_faults(before.facts, facts)
        after = parse_facts(render_facts(facts, before), ref)
        files.replace(path, after.text, expected=expected)
        return after


def add(facts: tuple[Fact, ...], new: Fact) -> tuple[Fact, ...]:
    """Return *facts* with *new* at the end."""
    if any(fact.id == new.id for fact in facts):
        raise UsageError(f"there is a fact '{new.id}' already", hint="Give the new fact an id of its own.")
    return (*facts, new)


def supersede(facts: tuple[Fact, ...], old_id: str, new: Fact) -> tuple[Fact, ...]:
    """Return *facts* with *new* at the end and the active fact *old_id* kept, pointing to its successor."""
    at = _find(facts, old_id)
    if facts[at].status != "active":
        raise MemtoolError(f"the fact '{old_id}' is {_end(facts[at])}", hint="Supersede an active fact.")
    old = facts[at]._replace(status="superseded", superseded_by=new.id)
    return add((*facts[:at], old, *facts[at + 1 :]), new._replace(supersedes=old_id))


def supersede_by(facts: tuple[Fact, ...], old_id: str, new_id: str) -> tuple[Fact, ...]:
    """Return *facts* with the active fact *old_id* pointing to *new_id*, which is one of them already."""
    new = facts[_find(facts, new_id)]
    rest = tuple(fact for fact in facts if fact is not new)
    linked = supersede(rest, old_id, new)
    by_id = {fact.id: fact for fact in linked}
    return tuple(by_id[fact.id] if fact.id in (old_id, new_id) else fact for fact in facts)


def without(file: FactFile, fact_id: str) -> str:
    """Return the text of *file* without the fact *fact_id*, every other byte kept. Only a purge removes facts."""
    start = file.places[_find(file.facts, fact_id)].start
    places = [item.place for item in file.listed.items]
    at = next(number for number, place in enumerate(places) if place.start == start)
    if at > 0:
        return file.text[: places[at - 1].end] + file.text[places[at].end :]
    if len(places) > 1:
        return file.text[:start] + file.text[places[1].start :]
    opening = file.text.rindex("[", 0, start) + 1
    return file.text[:opening] + file.text[file.text.index("]", places[0].end) :]


def purge(vault: Vault, ref: str, fact_id: str) -> None:
    """Remove the fact *fact_id* from the file *ref* under the vault's lock.

    Raises:
        NoteNotFound, BrokenVaultFile, NoteChanged, NotWritable, Busy, OutsideVault: the file is as it was.
    """
    path = vault.path(ref).resolve()
    with vault.lock():
        text, expected = vault.read(ref)
        files.replace(path, without(parse_facts(text, ref), fact_id), expected=expected)


def archive(facts: tuple[Fact, ...], fact_id: str) -> tuple[Fact, ...]:
    """Return *facts* with *fact_id* archived; nothing changes if it is archived already."""
    at = _find(facts, fact_id)
    if facts[at].status == "superseded":
        raise MemtoolError(f"the fact '{fact_id}' is {_end(facts[at])}", hint="Archive an active fact.")
    return (*facts[:at], facts[at]._replace(status="archived"), *facts[at + 1 :])


def restore(facts: tuple[Fact, ...], fact_id: str) -> tuple[Fact, ...]:
    """Return *facts* with the archived fact *fact_id* active again; nothing changes if it is active."""
    at = _find(facts, fact_id)
    if facts[at].status == "superseded":
        raise MemtoolError(f"the fact '{fact_id}' is {_end(facts[at])}", hint="Supersede its successor instead.")
    return (*facts[:at], facts[at]._replace(status="active"), *facts[at + 1 :])


def change(facts: tuple[Fact, ...], fact_id: str, **values: Any) -> tuple[Fact, ...]:  # noqa: ANN401
    """Return *facts* with other *values* of the fields of *fact_id*; its id and status stay."""
    at = _find(facts, fact_id)
    return (*facts[:at], facts[at]._replace(**values), *facts[at + 1 :])


def new_fact_id(clock: Callable[[], datetime], random: Callable[[int], str]) -> str:
    """Return an id such as `fact-20260210-9f3a1c04be`; *random* gives so many bytes in hexadecimal."""
    return f"fact-{clock():%Y%m%d}-{random(5)}"


def _repeated(ids: Sequence[object]) -> list[str]:
    counts = Counter(fact_id for fact_id in ids if isinstance(fact_id, str) and fact_id)
    return [fact_id for fact_id, count in counts.items() if count > 1]


def _read(text: str, item: JsonItem) -> Fact | None:
    """Return the fact that *item* is; None without a statement or a status that can be read."""
    if not isinstance(item.value, dict) or _has_half_character(text, item):
        return None
    wrong = wrong_fields(item.value)
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, value in item.value.items():
        if name not in FIELDS or name in wrong:
            extra[name] = value
        elif value is not None:
            known[_attribute(name)] = tuple(value) if isinstance(value, list) else value
    # A status that this memtool does not know could mean that the fact holds no longer.
    return Fact(**known, extra=extra) if "fact" in known and "status" not in extra else None


def _attribute(name: str) -> str:
    """Return the attribute of `Fact` that holds the field *name*."""
    return "superseded_by" if name == "supersededBy" else name


def _has_half_character(text: str, item: JsonItem) -> bool:
    r"""Return whether *item* holds a lone surrogate such as `\ud800`, which no file and no index can hold."""
    if _SURROGATE_ESCAPE.search(text, item.place.start, item.place.end):
        try:
            json.dumps(item.value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            return True
    return False


def fields_of(fact: Fact) -> dict[str, Any]:
    """Return *fact* as the object that a file holds."""
    values = {name: getattr(fact, _attribute(name)) for name in FIELDS}
    known = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        # A field that could not be read stays what it was, unless it was set since.
        if value not in ("", (), None)
        and (name not in fact.extra or value != Fact._field_defaults.get(_attribute(name)))
    }
    return known | {name: value for name, value in fact.extra.items() if name not in known}


def _render(fact: Fact, text: str, place: LineRange) -> str:
    """Return *fact* in the style of the text at *place*: on one line, or indented like it."""
    if place.start_line == place.end_line:
        return json.dumps(fields_of(fact), ensure_ascii=False)
    indent = _INDENT.match(text, text.rfind("\n", 0, place.start) + 1)
    inner = _INDENT.match(text, text.index("\n", place.start) + 1)
    step = inner[0].removeprefix(indent[0]) if indent and inner else ""
    return _indented(fact, newline_of(text) + (indent[0] if indent else ""), step or _STEP)


def _indented(fact: Fact, lead: str, step: str) -> str:
    return json.dumps(fields_of(fact), ensure_ascii=False, indent=step).replace("\n", lead)


def _render_new(new: Sequence[Fact], text: str, listed: JsonList) -> tuple[str, int]:
    """Return the text for the tail of the list, and the offset at which the old text goes on."""
    if not new:
        return "", listed.tail
    if not listed.items:
        lead = newline_of(text) + 2 * _STEP
        facts = ",".join(lead + _indented(fact, lead, _STEP) for fact in new)
        return facts + newline_of(text) + _STEP, text.index("]", listed.tail)
    last = listed.items[-1].place
    before = text[text.rfind("\n", 0, last.start) + 1 : last.start]
    lead = " " if before.strip() else newline_of(text) + before
    return "".join(f",{lead}{_render(fact, text, last)}" for fact in new), listed.tail


def _find(facts: Sequence[Fact], fact_id: str) -> int:
    """Return the position of the one fact with *fact_id*."""
    found = [at for at, fact in enumerate(facts) if fact.id == fact_id]
    if not found or not fact_id:
        raise NoteNotFound(fact_id)
    if len(found) > 1:
        raise MemtoolError(f"{len(found)} facts have the id '{fact_id}'", hint="Give each an id of its own by hand.")
    return found[0]


def _end(fact: Fact) -> str:
    return f"superseded by '{fact.superseded_by}' already" if fact.superseded_by else f"{fact.status} already"


def _refuse_new_faults(before: Sequence[Fact], after: Sequence[Fact]) -> None:
    for number, fact in enumerate(after):
        old = before[number] if number < len(before) else None
        if fact == old:
            continue
        known = faults(fields_of(old)) if old else []
        for fault in faults(fields_of(fact)):
            if fault not in known:
                hint = "docs/vault-format.md says what a fact holds."
                raise UsageError(f"the fact '{fact.id}' is not valid: {fault}", hint=hint)
    for fact_id in _repeated([fact.id for fact in after]):
        if fact_id not in _repeated([fact.id for fact in before]):
            raise UsageError(f"the id '{fact_id}' is used more than once", hint="Give the new fact an id of its own.")
