"""Globs of paths as Claude Code reads them in its rules: those of `.gitignore`, with braces, without regard to case.

A glob with a slash before its end begins at the root of the project, any other one may begin in every folder. What
matches a folder matches all that lies below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

LONGEST_GLOB = 200  # characters
_LONGEST_PATH = 4096  # characters
_MOST_ALTERNATIVES = 64  # that braces may unfold into
_INNERMOST_BRACES = re.compile(r"\{([^{}]*)\}")


def fault_of(glob: str) -> str:
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


def matches(glob: str, path: str) -> bool:
    """Whether *glob* matches *path*, which is relative to the root of its project, with `/`."""
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
