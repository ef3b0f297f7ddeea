"""The words that a note may have for those of a prompt: coupon for voucher, and 优惠券 for both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from memtool.named_tuple import NamedTuple
from memtool.text.languages import word_file
from memtool.text.scripts import HAN, is_ideograph
from memtool.text.tokens import fold, joined, stem, stop_words

_WORD = re.compile(r"[a-z0-9][a-z0-9+#.'-]*[a-z0-9+#]|[a-z0-9]")
_MOST_WORDS, _MOST_SYNONYMS = 60, 24  # of a prompt
_LONGEST_UNSPACED = 6  # characters


class Synonyms(NamedTuple):
    """A word or phrase of a prompt, and the others that mean the same: each as the terms that a text must hold."""

    own: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]


def synonyms_in(text: str, runs: Sequence[str]) -> list[Synonyms]:
    """Return the words of *text* that have synonyms; *runs* are its stretches of scripts without spaces."""
    words = _WORD.findall(fold(text))[:_MOST_WORDS]
    stems = tuple(map(stem, words))
    places: dict[tuple[str, ...], list[int]] = {}
    for at, first in enumerate(stems):
        letters = first[:-1] if len(first) > 2 else first  # Porter makes `deploi` of deploy
        for place, entry in _entries(letters) if words[at] not in stop_words() else ():
            terms = tuple(map(stem, entry.split(" ")))
            if terms == stems[at : at + len(terms)]:
                places.setdefault(_terms_of(" ".join(words[at : at + len(terms)])), []).append(place)
    if any(is_ideograph(run[0]) for run in runs):
        for entry in dict.fromkeys(entry for run in runs for entry in _longest_entries(run)):
            places[_terms_of(entry)] = [place for place, other in _entries(entry) if other == entry]
    found = (Synonyms(own, tuple(_others(own, where))) for own, where in places.items())
    return [synonyms for synonyms in found if synonyms.others][:_MOST_SYNONYMS]


def _longest_entries(run: str) -> Iterator[str]:
    at = 0
    while at < len(run) - 1:
        lengths = range(min(_LONGEST_UNSPACED, len(run) - at), 1, -1)
        entry = next((run[at : at + length] for length in lengths if run[at : at + length] in _unspaced_entries()), "")
        yield from [entry] if entry else []
        at += max(1, len(entry))


def _entries(letters: str) -> Iterator[tuple[int, str]]:
    """Give the entries that begin with *letters*, and where they are."""
    text, mark = _groups(), f", {letters}"
    at = text.find(mark)
    while at >= 0:
        yield at, text[at + 2 : min(end for end in (text.find(", ", at + 2), text.find("\n", at)) if end >= 0)]
        at = text.find(mark, at + 2)


def _others(own: tuple[str, ...], places: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Give the terms of each other entry in the groups at *places*."""
    text = _groups()
    groups = [text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)] for at in places]
    terms = dict.fromkeys(_terms_of(entry) for group in groups for entry in group.split(", ")[1:])
    return (each for each in terms if each != own)


def _terms_of(entry: str) -> tuple[str, ...]:
    """Return the terms of the index for *entry*: stems, or pairs of characters."""
    if entry.isascii():
        return tuple(stem(joined(word)) for word in entry.split(" "))
    return tuple(map("".join, pairwise(entry))) if len(entry) > 1 else (entry,)


@cache
def _groups() -> str:
    """Return the groups of `synonyms.txt`, a line each, every entry of which follows a comma and a space.

    A word may be in several groups, one for each of its senses; words that are only about the same thing ("database"
    and "index") are in none together. English is written in its base form, which is stemmed here.
    """
    lines = word_file("synonyms.txt").strip().replace("\n\n", "\n").replace("\n", "\n, ")
    return f"\n, {lines}\n"


@cache
def _unspaced_entries() -> frozenset[str]:
    return frozenset(re.findall(rf", ([{HAN}]{{2,{_LONGEST_UNSPACED}}})(?=[,\n])", _groups()))
