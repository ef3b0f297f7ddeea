"""Front matter of two sides merged by its fields: no line of it ever stands between marks. All pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from memtool.text.frontmatter import parse_fields, quoted, split_front_matter

ASIDE = "# the other text: "  # what the other side gave a field, as a comment below it

_KEY = re.compile(r"(?![\s#]|-(?:\s|$))(.+?):(?:\s|$)")
_Lines = tuple[str, ...]


def split_fields(text: str) -> tuple[str, str]:
    """Return the lines of the front matter of *text* and the body below it, the empty lines above the body with it."""
    matter, first = split_front_matter(text)
    if not matter or parse_fields(matter) is None:  # none, or prose between two rules
        return "", text
    return f"{matter}\n", "\n".join(text.split("\n")[first - 1 :])


def merge_fields(base: str, ours: str, theirs: str) -> tuple[str, int]:
    """Return the lines of a front matter, and how many fields both sides have changed, each in its way.

    Of those, lists become the list of all items; of other values the lesser stands, and the others are comments below
    it. So the order in which machines meet makes no difference.
    """
    known, own, their = map(_fields, (base, ours, theirs))
    lines: list[str] = []
    conflicts = 0
    for key in {**own, **their}:
        merged, is_open = _merged(key, *(side.get(key, ()) for side in (known, own, their)))
        lines += merged
        conflicts += is_open
    return "".join(f"{line}\n" for line in lines), conflicts


def _fields(matter: str) -> dict[str, _Lines]:
    """Return the lines of each field, with the comments and empty lines below it; those above the first have no key."""
    fields: dict[str, _Lines] = {}
    key = ""
    for line in matter.split("\n")[:-1]:
        match = _KEY.match(line)
        key = match[1].strip() if match else key
        fields[key] = (*fields.get(key, ()), line)
    return fields


def _merged(key: str, before: _Lines, mine: _Lines, other: _Lines) -> tuple[Sequence[str], bool]:
    if other in (before, mine):
        return mine, False
    if mine == before:
        return other, False
    if not (mine and other):
        return mine or other, False  # one side has changed what the other took out
    sides = [_items(side) for side in (before, mine, other)]
    if sides[1] is not None and sides[2] is not None:
        items = union(*(side or () for side in sides))
        return [f"{key}: [{', '.join(map(quoted, items))}]"], False
    values = sorted(tuple(line for line in side if not line.startswith(ASIDE)) for side in (mine, other))
    kept = {line for side in (mine, other) for line in side if line.startswith(ASIDE)}
    if values[0] != values[1]:
        kept |= {f"{ASIDE}{line}" for line in values[1]}
    kept -= {f"{ASIDE}{line}" for line in values[0]}
    return [*values[0], *sorted(kept)], True


def _items(lines: _Lines) -> list[str] | None:
    """Return the items of a field that is a list of texts; None of any other."""
    fields = parse_fields("\n".join(lines))
    values = next(iter(fields.values()), None) if isinstance(fields, Mapping) else None
    return values if isinstance(values, list) and all(isinstance(item, str) for item in values) else None


def union(base: Iterable[str], ours: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """Return the items of both sides, each once, without those that one side took away."""
    known, own, their = list(base), list(ours), list(theirs)
    kept = [item for item in own if item in their or item not in known]
    return [*kept, *(item for item in their if item not in own and item not in known)]
