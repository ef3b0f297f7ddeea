"""Which of many triggers occur in a text: in linear time, however many there are and whatever stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeAlias

from memtool.text.tokens import fold, unspaced_runs

LONGEST_TRIGGER = 60  # characters; more is no word and no phrase, but somebody's mistake or attack

Trie: TypeAlias = dict[str, Any]  # atom -> what may follow it; "" -> the trigger that ends here

_CHUNK = re.compile(r"\w+|\W")

LONGEST_GLOB = 200  # characters
_LONGEST_PATH = 4096  # characters
_MOST_ALTERNATIVES = 64  # that braces may unfold into
_INNERMOST_BRACES = re.compile(r"\{([^{}]*)\}")


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


def fault_in_glob(glob: str) -> str:
    """Return what is wrong with *glob* as the end of a sentence, or an empty string."""
    if not glob.strip("/* "):
        return "is empty" if not glob.strip() else "matches every file"
    if len(glob) > LONGEST_GLOB:
        return f"has more than {LONGEST_GLOB} characters"
    if not glob.isprintable() or "\\" in glob:
        return "holds a character that no glob may hold"
    if glob.startswith(("!", "~")) or re.match("[A-Za-z]:", glob) or ".." in glob.split("/"):
        return "does not begin and stay in a project"
    return "" if _alternatives(glob) else f"means more than {_MOST_ALTERNATIVES} globs"


def matches_glob(glob: str, path: str) -> bool:
    """Return whether *glob* matches *path*, which is relative to the root of its project, with `/`."""
    if len(path) > _LONGEST_PATH:
        return False
    parts = [part for part in path.casefold().split("/") if part]
    return any(_matches(one, parts) for one in _alternatives(glob.casefold()))


def _matches(glob: str, parts: list[str]) -> bool:
    glob = glob.removesuffix("/**").rstrip("/")
    steps = [step for step in glob.split("/") if step]
    starts = {0} if "/" in glob else set(range(len(parts)))
    for step in steps:
        starts = _beyond(step, starts, parts)
    return bool(steps) and any(starts)


def _beyond(step: str, starts: set[int], parts: list[str]) -> set[int]:
    """Return where in *parts* one may be after *step*, from any of *starts*."""
    if step == "**":
        return set(range(min(starts), len(parts))) if starts else starts
    return {at + 1 for at in starts if at < len(parts) and fnmatchcase(parts[at], step)}


def _alternatives(glob: str) -> list[str]:
    """Return the globs that the braces in *glob* stand for; none if they are too many."""
    waiting, done = [glob], list[str]()
    while waiting and len(waiting) + len(done) <= _MOST_ALTERNATIVES:
        one = waiting.pop()
        braces = _INNERMOST_BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            waiting += _unfolded(one, braces.span(), braces[1].split(","))
    return [] if waiting else done


def _unfolded(glob: str, span: tuple[int, int], choices: Iterable[str]) -> list[str]:
    return [glob[: span[0]] + choice + glob[span[1] :] for choice in dict.fromkeys(choices)]
