"""Shapes: rules for secrets of one kind each, and the search by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from memtool.redaction.values import is_blank
from memtool.redaction.views import Finding


class Shape(NamedTuple):
    """The form of one kind of secret.

    Args:
        kind: its name in the marker.
        mark: the pattern is compiled and tried only where this occurs in the text.
        pattern: a regular expression; its last group is the secret or, without a group, all of it. It takes linear
            time on any text: repeats are possessive or bounded, it does not start anew inside what it has just
            refused, and it begins with a literal, which `re` finds fastest: what stands before that is looked at after.
        before: how many characters in front of the match belong to the secret.
    """

    kind: str
    mark: str
    pattern: str
    before: int = 0


def prefixed(kind: str, prefixes: str, body: str) -> Iterator[Shape]:
    """Return the shapes of tokens that begin with one of the *prefixes*, which blanks separate."""
    for prefix in prefixes.split():
        literal = re.escape(prefix)
        yield Shape(kind, prefix, rf"{literal}(?<![A-Za-z0-9]{literal}){body}")


def find_shapes(text: str, shapes: Iterable[Shape]) -> Iterator[Finding]:
    """Return each place that has one of the *shapes* and is no placeholder."""
    for kind, mark, pattern, before in shapes:
        if mark in text:
            for found in compiled(pattern).finditer(text):
                start, end = found.span(found.lastindex or 0)
                if not is_blank(text[start:end]):
                    yield Finding(start - before, end, kind)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return *pattern* compiled, once."""
    return re.compile(pattern)
