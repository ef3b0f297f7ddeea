"""Lines: text on one line, how wide it is, and how it is shortened.

Patterns are texts: `re` compiles them when they are first used, and a hook that needs none of them pays for none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from memtool.text.scripts import WIDE, is_unspaced

_UNPRINTABLE = "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
_CLAUSE = r"[，；、。]|(?:[,;:]| [-–—])(?= )| (?=[(（])"
_JOINING = "._-/\\:@#$%&+='`~"


def one_line(text: str) -> str:
    """Return *text* on one line, without control characters, marks that turn it around and lone surrogates."""
    return " ".join(re.sub(_UNPRINTABLE, "", text).split())


def width(text: str) -> int:
    """Return how many columns *text* takes; a Chinese, Japanese or Korean character takes two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(map(len, re.findall(f"[{WIDE}]+", text)))


def shortened(text: str, limit: int) -> str:
    """Return *text* in at most *limit* columns: cut with `…` after a clause, else after a word; empty if neither."""
    if width(text) <= limit:
        return text
    end = _fitting(text, limit - 1)
    clauses = [match.start() for match in re.finditer(_CLAUSE, text[:end]) if match.start() > 0.6 * end]
    if clauses:
        end = clauses[-1]
    else:
        while end and _inside_word(text, end):
            end -= 1
    return text[:end].rstrip(" ,;:，；、：-–—(（「『“\"'…") + "…" if end else ""


def brief(text: str, limit: int) -> str:
    """Return *text* on one line of at most *limit* columns, cut as `shortened` does, within a word if it must be."""
    line = one_line(text)
    return shortened(line, limit) or f"{line[: _fitting(line, limit - 1)].rstrip()}…" if line else ""


def cut(text: str, limit: int) -> str:
    """Return *text* in at most *limit* characters: cut with `…` wherever that is."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def tokens_in(*texts: str) -> int:
    """Return about how many tokens *texts* have: one for four ASCII characters, one for each other, rounded up."""
    plain = sum(map(str.isascii, "".join(texts)))
    return -(-plain // 4) + sum(map(len, texts)) - plain


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
    pair = before + after
    return all(character in _JOINING or _is_spaced(character) for character in pair)


def _is_spaced(character: str) -> bool:
    """Return whether *character* is of a word that is written between spaces."""
    return (character.isalnum() or character == "_") and not is_unspaced(character)


def counted(number: int, one: str, many: str = "") -> str:
    """Return *number* with the word for what is counted: `1 file`, `2,000 files`; *many* where an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def some_of(names: Sequence[str], most: int) -> str:
    """Return the first *most* of *names* for a sentence, and the number of the others: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def without_surrogates(text: str) -> str:
    """Return *text* without lone surrogates, which a command line can hold, and no file or database."""
    return text.encode("utf-8", "replace").decode("utf-8")


def newline_of(text: str) -> str:
    """Return what ends the lines of *text*."""
    return "\r\n" if "\r\n" in text else "\n"
