"""The rules of a fact: `facts.schema.json`, and the same by hand.

Writing validates by the schema. Reading thousands of facts must be quick, so it checks by hand and never imports
jsonschema, which costs more than a whole search; a test proves that the two agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from memtool.named_tuple import NamedTuple
from memtool.vault.memory import AUTHORS, CATEGORIES

STATUSES = ("active", "superseded", "archived")
SCHEMA_PATH = Path(__file__).with_name("facts.schema.json")

_DATE = re.compile(r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])($|[T ])")
_SPACE = re.compile(r"\s")
_Test: TypeAlias = Callable[[Any], bool]


class Rule(NamedTuple):
    """The rule of one field: its test, its wording, and the attribute of `Fact` that holds the field."""

    attribute: str
    wanted: str
    fits: _Test
    required: bool = False


def faults(fact: Mapping[str, Any]) -> dict[str, str]:
    """Return a sentence for each field of *fact* that is missing or wrong, found by hand."""
    found = {name: f"'{name}' is missing" for name in _REQUIRED if name not in fact}
    for name, value in fact.items():
        rule = RULES.get(name)
        if rule and not (rule.fits(value) or (value is None and not rule.required)):
            found[name] = f"'{name}' should be {rule.wanted}"
    if fact.get("status") == "superseded" and not _is_text(fact.get("supersededBy")):
        found["supersededBy"] = "'supersededBy' should be the id of a fact"
    return found


def schema_faults(fact: object) -> list[str]:
    """Return a sentence for each rule that *fact* breaks, found by jsonschema."""
    sentences = set()
    for error in _validator().iter_errors({"facts": [fact]}):
        message = str(error.message)
        if len(message) > 200:  # it quotes the whole value
            message = f"{message[:200]}…"
        names = [str(step) for step in list(error.absolute_path)[2:]]  # below "facts" and the number of the fact
        sentences.add(f"'{'.'.join(names)}': {message}" if names else message)
    return sorted(sentences)


@cache
def _validator() -> Any:  # noqa: ANN401
    import json

    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not _SPACE.search(value)


def _is_date(value: object) -> bool:
    return isinstance(value, str) and bool(_DATE.search(value))


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_anchor(value: object) -> bool:
    return isinstance(value, dict) and _is_text(value.get("path")) and isinstance(value.get("blob"), str | None)


def _is_span(value: object) -> bool:
    return isinstance(value, dict) and _is_text(value.get("source")) and _is_text(value.get("hash"))


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _list_of(fits: _Test) -> _Test:
    return lambda value: isinstance(value, list) and all(map(fits, value))


RULES = {
    "id": Rule("id", "text without white space", _is_id, required=True),
    "fact": Rule("fact", "text", _is_text, required=True),
    "evidence": Rule("evidence", "text", _is_text, required=True),
    "timestamp": Rule("timestamp", "a date such as 2026-02-10", _is_date, required=True),
    "status": Rule("status", f"one of {', '.join(STATUSES)}", STATUSES.__contains__, required=True),
    "supersededBy": Rule("superseded_by", "the id of a fact", _is_string),
    "supersedes": Rule("supersedes", "the id of a fact", _is_string),
    "category": Rule("category", f"one of {', '.join(CATEGORIES)}", tuple(CATEGORIES).__contains__, required=True),
    "subject": Rule("subject", "text", _is_string),
    "tags": Rule("tags", "a list of text", _list_of(_is_string)),
    "source": Rule("source", "text", _is_string),
    "author": Rule("author", f"one of {', '.join(AUTHORS)}", AUTHORS.__contains__),
    "confidence": Rule("confidence", "a number from 0 to 1", _is_share),
    "expires": Rule("expires", "a date such as 2026-02-10", _is_date),
    "anchors": Rule("anchors", 'a list of {"path": …, "blob": …}', _list_of(_is_anchor)),
    "spans": Rule("spans", 'a list of {"source": …, "hash": …}', _list_of(_is_span)),
    "review": Rule("review", "text", _is_string),
    "domain": Rule("domain", "text", _is_string),
    "project": Rule("project", "text", _is_string),
    "summary": Rule("summary", "text", _is_string),
    "updated": Rule("updated", "a date such as 2026-02-10", _is_date),
}
_REQUIRED = tuple(name for name, rule in RULES.items() if rule.required)
