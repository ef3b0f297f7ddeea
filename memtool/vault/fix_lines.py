"""Fixes as lines of a session note, and of facts made of them. Pure.

`pytest tests/auth` failed: "clock skew" → leeway of 30 s in middleware/jwt.ts → passed
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memtool.text.languages import all_labels, labels
from memtool.text.lines import one_line

_VARIABLE = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+(?:\.\d+)*|/[^\s:'\"]+/|\"[^\"]{30,}\"", re.IGNORECASE)


class Fix(NamedTuple):
    """A *command* that failed with *error*, what was changed, and that it then passed."""

    command: str
    error: str
    change: str


def render_fix(fix: Fix, language: str) -> str:
    """Return *fix* as the line of a note."""
    return one_line(labels("summary", language)["fix"].format(fix.command.replace("`", "'"), fix.error, fix.change))


def parse_fix(text: str) -> Fix | None:
    """Return the fix that a line of a note tells, in any language; None if it is none."""
    for form in all_labels("summary")["fix"]:
        pattern = re.escape(form).replace(r"\{\}", "(.+?)")
        if match := re.fullmatch(pattern, text):
            return Fix(*match.groups())
    return None


def same_error(error: str) -> str:
    """Return *error* without what differs from time to time: numbers, paths, addresses, quoted texts."""
    return " ".join(_VARIABLE.sub("#", error).casefold().split())
