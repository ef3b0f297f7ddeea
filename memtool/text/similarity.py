"""How much of one text another says, by their words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = r"[^\W_]{3,}|\d+"
_UNSPACED = "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]"


@lru_cache(4_096)  # a text is compared with many others, and made smaller more than once
def words(text: str) -> frozenset[str]:
    """Return the words of *text* that tell something: of three letters and more, numbers, pairs of characters."""
    folded = text.casefold()
    found = set(re.findall(_WORD, folded))
    if not folded.isascii():
        found |= set(re.findall(f"(?=({_UNSPACED}{{2}}))", folded))
        found = {word for word in found if len(word) == 2 or not re.match(_UNSPACED, word)}
    return frozenset(found)


def is_said(said: frozenset[str], others: Iterable[frozenset[str]], share: float = 0.6) -> bool:
    """Return whether one of *others* has at least *share* of the words in *said*; what has no words is not said."""
    return bool(said) and any(len(said & other) >= share * len(said) for other in others)
