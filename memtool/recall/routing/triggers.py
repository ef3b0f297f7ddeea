"""Which of many triggers occur in a text: in linear time, however many there are and whatever stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeAlias

from memtool.index.text import fold, unspaced_runs

LONGEST_TRIGGER = 60  # characters; more is no word and no phrase, but somebody's mistake or attack

Trie: TypeAlias = dict[str, Any]  # atom -> what may follow it; "" -> the trigger that ends here

_CHUNK = re.compile(r"\w+|\W")


def normal(text: str) -> str:
    """Return *text* on one line, without differences of case, width and accent and without unseen characters."""
    folded = fold(text)
    if not folded.isprintable():
        folded = "".join(char for char in folded if char.isprintable() or char.isspace())
    return " ".join(folded.split())


def atoms(text: str) -> list[str]:
    """Return *text*, which is `normal`, cut where a trigger may begin or end.

    A word of a script with spaces is one atom, so that a trigger is never found in the middle of it. Any other
    character is an atom of its own: 支付 is found inside 支付失败, and `c++` is not found in `c`.
    """
    parts: list[str] = []
    for chunk in _CHUNK.findall(text):
        if chunk.isascii():
            parts.append(chunk)
        else:
            for unspaced, run in groupby(chunk, key=_is_unspaced):
                letters = list(run)
                parts += letters if unspaced else ["".join(letters)]
    return parts


def trie_of(triggers: Iterable[str]) -> Trie:
    """Return what `find_triggers` wants, of triggers that are `normal`."""
    root: Trie = {}
    for trigger in triggers:
        node = root
        for atom in atoms(trigger):
            node = node.setdefault(atom, {})
        node[""] = trigger
    root.pop("", None)  # of an empty trigger
    return root


def find_triggers(trie: Trie, text: str) -> list[str]:
    """Return the distinct triggers of *trie* that occur in *text*, which is `normal`, in the order of their places."""
    there = atoms(text)
    found: dict[str, None] = {}
    for at, first in enumerate(there):
        if first in trie:
            _follow(trie, there, at, found)
    return list(found)


def _follow(trie: Trie, there: list[str], at: int, found: dict[str, None]) -> None:
    node = trie
    while at < len(there) and there[at] in node:
        node = node[there[at]]
        at += 1
        if "" in node:
            found[node[""]] = None


@lru_cache(maxsize=4096)
def _is_unspaced(char: str) -> bool:
    return bool(unspaced_runs(char))
