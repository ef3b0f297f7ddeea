"""The likeness of texts: by their words, and by three letters at a time. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from memtool.text.scripts import is_unspaced

NEARLY_ALL = 0.83  # Jaccard over character trigrams of two texts that say the same
_WORD = r"[^\W_]{3,}|\d+"


@lru_cache(4_096)  # a text is compared with many others, and made smaller more than once
def words(text: str) -> frozenset[str]:
    """Return the words of *text* that tell something: of three letters and more, numbers, pairs of characters."""
    folded = text.casefold()
    found = set(re.findall(_WORD, folded))
    if not folded.isascii():
        # A pattern of these scripts would take longer to compile than a start takes for all its words.
        spaced = {ord(letter): " " for letter in set(folded) if not is_unspaced(letter)}
        runs = folded.translate(spaced).split()
        found |= {pair for run in runs for pair in map("".join, pairwise(run))}
        found = {word for word in found if len(word) == 2 or not is_unspaced(word[0])}
    return frozenset(found)


def is_said(said: frozenset[str], others: Iterable[frozenset[str]], share: float = 0.6) -> bool:
    """Return whether one of *others* has at least *share* of the words in *said*; what has no words is not said."""
    return bool(said) and any(len(said & other) >= share * len(said) for other in others)


def trigrams(text: str) -> frozenset[str]:
    """Return each run of three characters in *text*; none of a shorter one."""
    return frozenset(map("".join, zip(text, text[1:], text[2:], strict=False)))


def are_alike(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """Return whether both hold at least the share *least* of what either holds (Jaccard); an empty set is like none."""
    smaller, larger = sorted((len(one), len(other)))
    if not smaller or smaller < least * larger:  # the sizes alone rule it out
        return False
    shared = len(one & other)
    return shared >= least * (smaller + larger - shared)
