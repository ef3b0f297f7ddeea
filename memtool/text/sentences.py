"""Sentences: where they end, in scripts with and without spaces."""

from __future__ import annotations

import re
from functools import cache

from memtool.text.languages import words

_END = re.compile(r"[。！？]+[”’\"'」』）)\]]*|(?<!\s)[.!?]+[\"'”’)\]]*(?=\s)")


def sentences(text: str) -> list[str]:
    """Return *text*, which is one line, cut where its sentences end; not at `v2.1`, `auth.ts` or `e.g.` this."""
    cut, start = [], 0
    for match in _END.finditer(text):
        if _ends(text, match, start):
            cut.append(text[start : match.end()].strip())
            start = match.end()
    return [sentence for sentence in (*cut, text[start:].strip()) if sentence]


def _ends(text: str, match: re.Match[str], start: int) -> bool:
    if match[0][0] in "。！？":
        return True
    if text[match.start() - 1 : match.start()] == "/":  # `go test ./...`
        return False
    if match[0].startswith(".") and _abbreviation().search(text, max(start, match.start() - 8), match.start() + 1):
        return False
    if text[start : match.start()].strip().isdigit():  # the number of an item
        return False
    following = text[match.end() : match.end() + 2].strip()
    return not following[:1].islower()


@cache
def _abbreviation() -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\s(\[\"'])(?:{'|'.join(map(re.escape, words('abbreviations')))})\.$", re.IGNORECASE)
