"""Sentences: where they end, how wide they are, how they are shortened."""

from __future__ import annotations

import re
import unicodedata

_END = re.compile(r"[。！？；]+[”’\"'」』）)\]]*|(?<!\s)[.!?]+[\"'”’)\]]*(?=\s)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'])(?:e\.g|i\.e|vs|cf|approx|resp|incl|fig|bzw|z\.B|d\.h|ca|p\.ej)\.$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[，；、。]|(?:[,;:]| [-–—])(?= )| (?=[(（])")
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd]+"
)
_WORD = re.compile(
    r"[^\W\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]"
)  # a character of a word that is written between spaces


def sentences(text: str) -> list[str]:
    """Return *text*, which is one line, cut where its sentences end; not at `v2.1`, `auth.ts` or `e.g.` this."""
    cut, start = [], 0
    for match in _END.finditer(text):
        if _ends(text, match, start):
            cut.append(text[start : match.end()].strip())
            start = match.end()
    return [sentence for sentence in (*cut, text[start:].strip()) if sentence]


def width(text: str) -> int:
    """Return how many columns *text* takes; a Chinese, Japanese or Korean character takes two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(map(len, _WIDE.findall(text)))


def shortened(text: str, limit: int) -> str:
    """Return *text* in at most *limit* columns: cut with `…` after a clause, else after a word; empty if neither."""
    if width(text) <= limit:
        return text
    end = _fitting(text, limit - 1)
    clauses = [match.start() for match in _CLAUSE.finditer(text, 0, end) if match.start() > 0.6 * end]
    if clauses:
        end = clauses[-1]
    else:
        while end and _inside_word(text, end):
            end -= 1
    return text[:end].rstrip(" ,;:，；、：-–—(（「『“\"'") + "…" if end else ""


def _ends(text: str, match: re.Match[str], start: int) -> bool:
    if match[0][0] in "。！？；":
        return True
    if match[0].startswith(".") and _ABBREVIATION.search(text, max(start, match.start() - 8), match.start() + 1):
        return False
    following = text[match.end() : match.end() + 2].strip()
    return not following[:1].islower()


def _fitting(text: str, limit: int) -> int:
    columns = 0
    for at, char in enumerate(text):
        columns += width(char)
        if columns > limit:
            return at
    return len(text)


def _inside_word(text: str, at: int) -> bool:
    """Return whether a cut before *at* would part what belongs together: a word, a path, a letter and its accent."""
    before, after = text[at - 1], text[at]
    if unicodedata.combining(after) or after in "\u200d\ufe0f" or before == "\u200d":
        return True
    joined = "._-/\\:@#$%&+='`~"
    return bool((_WORD.match(before) or before in joined) and (_WORD.match(after) or after in joined))
