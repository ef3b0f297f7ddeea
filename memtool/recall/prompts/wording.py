"""What a text says now of what was found in it some time ago. Pure."""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from memtool.recall.prompts.passages import Passage, passages
from memtool.recall.prompts.recalled import Recalled

if TYPE_CHECKING:
    from memtool.vault.json_list import Item

_BEGINNING = 4_096  # characters of a line that tell what sort of line it is
_MOST_PLACES = 20  # at which a passage is looked at


def facts_now(hits: Iterable[Recalled], text: str, today: dt.date) -> Iterator[Recalled]:
    """Give what is still true of *hits*, worded as in the facts file *text*."""
    from memtool.vault.json_list import parse_list

    try:
        items = [item for item in parse_list(text, "facts").items if _holds(item.value, today)]
    except ValueError:  # it is broken; doctor says so
        return
    by_id = {item.value["id"]: item for item in items if isinstance(item.value.get("id"), str)}
    for hit in hits:
        item = by_id.get(hit.fact_id) if hit.fact_id else _without_id(items, hit.text)
        if item:
            said = item.value["fact"] if hit.fact_id else hit.text
            yield hit._replace(text=said, first_line=item.place.start_line, last_line=item.place.end_line)


def _without_id(items: Iterable[Item], text: str) -> Item | None:
    nameless = (item for item in items if not item.value.get("id"))
    return next((item for item in nameless if text in " ".join(_words(item.value))), None)


def _words(fact: Mapping[str, Any]) -> list[str]:
    """Return the words that the index knows a fact by."""
    return f"{fact['fact']} {fact.get('evidence', '')}".split()


def _holds(fact: Any, today: dt.date) -> bool:  # noqa: ANN401  (whatever stands in a file of somebody's)
    if not isinstance(fact, dict) or not isinstance(fact.get("fact"), str) or fact.get("status", "active") != "active":
        return False
    expires = fact.get("expires")
    return not (isinstance(expires, str) and _is_past(expires, today))


def _is_past(expires: str, today: dt.date) -> bool:
    return bool(expires) and expires[:10] < today.isoformat()


def notes_now(hits: Iterable[Recalled], text: str, today: dt.date) -> Iterator[Recalled]:
    """Give those of *hits* whose passage, or else whose title, still stands in the note *text*, with its lines."""
    matter, _ = _parted(text)
    status = _field(matter, "status").partition(" ")[0].strip("\"'")  # a comment may follow
    is_private = _field(matter, "search").casefold() in {"false", "no", "off"}
    if is_private or status.casefold() in {"superseded", "archived"} or _is_past(_field(matter, "expires"), today):
        return
    lines = text.split("\n")
    for hit in hits:
        title = hit.title if _is_titled(hit, text) else ""
        found = _place(hit, lines) if hit.text else (1, 1) if title else None
        if found:
            yield hit._replace(title=title, first_line=found[0], last_line=found[1])


def _is_titled(hit: Recalled, text: str) -> bool:
    return hit.title in text or hit.title == PurePosixPath(hit.ref).stem


def _place(hit: Recalled, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and the last of the *lines* on which the passage of *hit* stands; None if it is gone."""
    plain = [" ".join(line.split()) for line in lines]
    starts = list(accumulate((len(line) + 1 for line in plain), initial=0))
    text, wanted = " ".join(plain), " ".join(hit.text.split())
    at = text.find(wanted)
    for _ in range(_MOST_PLACES):
        if at < 0:
            break
        first, end = bisect(starts, at), bisect(starts, at + len(wanted) - 1)
        if passages("\n".join(lines[first - 1 : end])[:_BEGINNING], hit.kind):  # an item may have been done since
            return first, end
        at = text.find(wanted, at + 1)
    return None


def summed_up(hit: Recalled, text: str) -> Recalled:
    """Return *hit* with what its note, which begins with *text*, says about itself.

    That is the summary in its front matter or its first sentence; of a session, the line of its note that comes first.
    """
    matter, body = _parted(text)
    if hit.kind == "session":
        line = next(iter(passages(body, hit.kind)), Passage("", 0, 0))
        number = text[: len(text) - len(body)].count("\n") + 1
        return hit._replace(
            text=line.text, first_line=number + line.first, last_line=number + line.last,
            role=line.role, author=line.author, asked=line.asked,
        )  # fmt: skip
    told = _field(matter, "summary") or _field(matter, "description")
    return hit._replace(summary=told or next((passage.text for passage in passages(body, hit.kind)), ""))


def _parted(text: str) -> tuple[str, str]:
    """Return the front matter and the body of a note."""
    matter, _, rest = text.partition("\n---") if text.startswith("---") else ("", "", f"\n{text}")
    return matter, rest.partition("\n")[2]


def _field(matter: str, name: str) -> str:
    """Return a field of front matter as one line. By yaml it would take longer than all else that a hook does."""
    found = re.findall(rf"^{name}:(.*(?:\n[ \t]+.*)*)", matter, re.MULTILINE)
    value = " ".join(found[-1].split()) if found else ""
    return re.sub(r"^[|>][+-]? ", "", value).strip("\"'")
