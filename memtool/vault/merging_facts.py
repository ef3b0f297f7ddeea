"""Merging the facts of two machines: by id, field by field, in an order that depends on nothing but the facts.

A field that one side changed is as that side has it. Where both changed it: `superseded` beats `archived` beats
`active`, the later statement beats the earlier one, tags are those of both, and else the greater value stands, so that
any number of machines comes to the same bytes, whoever merges first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memtool.errors import BrokenVaultFile
from memtool.text.json_list import parse_list
from memtool.vault.fact_rules import RULES

_RANKS = {"active": 1, "archived": 2, "superseded": 3}
_TOGETHER = (("status", "supersededBy"), ("fact", "evidence", "timestamp"))  # fields that say one thing


def merge_facts(base: str, ours: str, theirs: str, ref: str = "facts.json") -> str:
    """Return the text of `facts.json` with the facts of both sides, sorted by their time and id.

    Raises:
        BrokenVaultFile: a side is no list of facts.
    """
    (frame, known), (own_frame, own), (their_frame, their) = (_read(text, ref) for text in (base, ours, theirs))
    repeated = {key for facts in (known, own, their) for key, count in Counter(map(_id, facts)).items() if count > 1}
    before, mine, other = (_by_key(facts, repeated) for facts in (known, own, their))
    merged = [_merged(before.get(key), mine.get(key), other.get(key)) for key in {**mine, **other}]
    facts = sorted((_in_form(fact) for fact in merged if fact is not None), key=_place)
    fields = {name: _chosen(frame, own_frame, their_frame, (name,))[0] for name in {**own_frame, **their_frame}}
    around = {name: fields[name] for name in sorted(fields) if fields[name] is not _NONE}
    return json.dumps({**around, "facts": facts}, ensure_ascii=False, indent=2) + "\n"


def _read(text: str, ref: str) -> tuple[dict[str, Any], list[Any]]:
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


def _by_key(facts: Sequence[Any], repeated: set[str]) -> dict[str, Any]:
    """Return *facts* by their ids; what has none, or one that others have as well, by all that it says."""
    return {key if (key := _id(fact)) and key not in repeated else f"\0{_json(fact)}": fact for fact in facts}


def _id(fact: Any) -> str:  # noqa: ANN401  (anything may stand in the list)
    found = fact.get("id") if isinstance(fact, dict) else None
    return found if isinstance(found, str) else ""


def _merged(before: Any, mine: Any, other: Any) -> Any:  # noqa: ANN401
    if mine is None or other is None:
        side = other if mine is None else mine
        return None if side == before else side  # one side has it no more, and the other did not change it
    if not (isinstance(mine, dict) and isinstance(other, dict)):
        return mine
    known = before if isinstance(before, dict) else {}
    fact: dict[str, Any] = {}
    for names in _groups({**mine, **other}):
        values = _chosen(known, mine, other, names)
        fact |= {name: value for name, value in zip(names, values, strict=True) if value is not _NONE}
    return fact


def _groups(fact: Mapping[str, Any]) -> list[tuple[str, ...]]:
    single = [(name,) for name in fact if not any(name in names for names in _TOGETHER)]
    return [*_TOGETHER, *single]


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
        return (_tags(known[0] if isinstance(known[0], list) else [], own[0], their[0]),)
    return max(own, their, key=lambda values: _strength(names, values))


def _tags(known: list[Any], own: list[Any], their: list[Any]) -> list[Any]:
    """Return the tags of both sides, less those that one side took away."""
    kept = [tag for tag in own if tag in their or tag not in known]
    return sorted([*kept, *(tag for tag in their if tag not in own and tag not in known)], key=_json)


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
    return {name: fact[name] for name in (*(name for name in RULES if name in fact), *sorted(set(fact) - set(RULES)))}


def _place(fact: Any) -> tuple[bool, float, str, str]:  # noqa: ANN401
    timestamp = fact.get("timestamp") if isinstance(fact, dict) else None
    return not isinstance(fact, dict), _instant(timestamp), _id(fact), _json(fact)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
