"""The facts of two sides merged by id, field by field, in an order that depends on nothing but the facts. All pure.

A field that one side changed is as that side has it. Where both changed it: `superseded` beats `archived` beats
`active`, the later statement beats the earlier one, tags are those of both, and else the greater value counts, so that
any number of machines comes to the same bytes, whoever merges first. A fact that one side removed stays away. Of facts
that both sides added in the same words one stays active.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from memtool.errors import BrokenVaultFile
from memtool.text.json_places import parse_list
from memtool.text.merged_fields import union
from memtool.vault.authors import trust
from memtool.vault.fact_rules import RULES

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


def _id(fact: Any) -> str:  # noqa: ANN401  (anything may stand in the list)
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
    return {name: fact[name] for name in (*(name for name in RULES if name in fact), *sorted(set(fact) - set(RULES)))}


def _order(fact: Any) -> tuple[bool, float, str, str]:  # noqa: ANN401
    timestamp = fact.get("timestamp") if isinstance(fact, dict) else None
    return not isinstance(fact, dict), _instant(timestamp), _id(fact), _json(fact)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
