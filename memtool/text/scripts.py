"""Scripts: which characters are of one that writes no spaces, which take two columns. The only table of their ranges.

Ranges are for character classes of regular expressions. A class as large as `UNSPACED` takes some milliseconds to
compile, so a hook asks `is_unspaced` about single characters.
"""

from __future__ import annotations

from bisect import bisect
from functools import cache

RADICALS = "\u2e80-\u2fd5"  # which stand for whole characters in text copied from PDF files
# Scripts that are written without spaces, or whose words glue particles on (Korean).
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai, Lao, Myanmar, Hangul jamo, Khmer
    f"{RADICALS}\u3005-\u3007\u3041-\u30ff\u3131-\u318e\u31f0-\u31ff"  # radicals, kana, compatibility jamo
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"  # Han, Hangul, half-width forms
    "\U00020000-\U000323af"  # Han extensions
)
FIRST_UNSPACED = "\u0e00"  # no character before it is of such a script
HAN = "\u3400-\u9fff\uf900-\ufaff"  # those that nearly all text keeps to
IDEOGRAPHS = "\u3400-\u9fff\uac00-\ud7ff\U00020000-\U0010ffff"  # Han and Hangul: a character has a meaning
UNFOLDED = "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff"  # kana and Han that folding leaves as they are
CJK_ON = "\u2e80-\uffff"  # roughly Chinese, Japanese and Korean: a class that is compiled in no time
CJK_TEXT = (  # letters, punctuation and full-width forms: what ends a value that somebody wrote without quotes
    "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
)
WIDE = (  # two columns of a terminal
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd"
)


def is_unspaced(character: str) -> bool:
    """Return whether *character* is of a script that writes no spaces, such as 密 or か."""
    return character >= FIRST_UNSPACED and _is_in(UNSPACED, character)


def is_ideograph(character: str) -> bool:
    """Return whether *character* is a Han or a Hangul one."""
    return character >= FIRST_UNSPACED and _is_in(IDEOGRAPHS, character)


def _is_in(ranges: str, character: str) -> bool:
    at = bisect(_edges(ranges), character)
    return at % 2 == 1  # behind a first character, and not yet behind the last one


@cache
def _edges(ranges: str) -> list[str]:
    """Return the first character of each range and the one after its last."""
    found: list[str] = []
    for first, last in zip(ranges[::3], ranges[2::3], strict=True):
        found += [first, chr(min(ord(last) + 1, 0x10FFFF))]
    return found
