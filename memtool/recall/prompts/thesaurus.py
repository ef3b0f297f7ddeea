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
_MOST_WORDS = 60  # of a prompt
_LONGEST_UNSPACED = 6  # characters

_LONG = 3  # letters; such a stem may differ from its word in the last one: `deploi` of deploy


class Synonyms(NamedTuple):
    """A word or phrase of a prompt, and the others that mean the same: each as the terms that a text must hold."""

    own: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]


def synonyms_in(text: str, runs: Sequence[str]) -> list[Synonyms]:
    """Return the words of *text* that have synonyms; *runs* are its stretches of scripts without spaces."""
    folded = fold(text)
    found = [*_spaced(_WORD.findall(folded)[:_MOST_WORDS]), *_unspaced(runs)]
    return [Synonyms(own, others) for own, places in found if (others := tuple(_others(own, places)))]


def _spaced(words: Sequence[str]) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """Give the entries that begin at each of *words*, as terms, with their places."""
    stems = tuple(map(stem, words))
    seen: set[tuple[str, ...]] = set()
    for at, first in enumerate(stems):
        if words[at] in stop_words():
            continue
        places: dict[tuple[str, ...], list[int]] = {}
        for place in _places(beginning(first)):
            entry = tuple(map(stem, _entry_at(place).split(" ")))
            if entry == stems[at : at + len(entry)]:
                places.setdefault(_of_words(words[at : at + len(entry)]), []).append(place)
        for entry, where in places.items():
            if entry not in seen:
                seen.add(entry)
                yield entry, where


def _unspaced(runs: Sequence[str]) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """Give the longest entries that *runs* are made of, as terms, with their places."""
    known = _unspaced_entries() if any(is_ideograph(run[0]) for run in runs) else frozenset()
    seen: set[str] = set()
    for run in runs:
        at = 0
        while at < len(run) - 1:
            lengths = range(min(_LONGEST_UNSPACED, len(run) - at), 1, -1)
            entry = next((run[at : at + length] for length in lengths if run[at : at + length] in known), "")
            if entry and entry not in seen:
                seen.add(entry)
                yield terms_of(entry), [place for place in _places(entry) if _entry_at(place) == entry]
            at += max(1, len(entry))


def _others(own: tuple[str, ...], places: Sequence[int]) -> Iterator[tuple[str, ...]]:
    text = groups_text()
    seen = {own}
    for place in places:
        line = text[text.rfind("\n", 0, place) + 1 : text.find("\n", place)]
        for entry in map(terms_of, line.split(", ")[1:]):
            if entry not in seen:
                seen.add(entry)
                yield entry


def terms_of(entry: str) -> tuple[str, ...]:
    """Return the terms of the index for *entry*: stems, or pairs of characters."""
    if entry.isascii():
        return _of_words(entry.split(" "))
    return tuple(map("".join, pairwise(entry))) if len(entry) > 1 else (entry,)


def _of_words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(stem(joined(word)) for word in words)


def _places(letters: str) -> Iterator[int]:
    """Give where the entries stand that begin with *letters*."""
    text, mark = groups_text(), f", {letters}"
    at = text.find(mark)
    while at >= 0:
        yield at + 2
        at = text.find(mark, at + 2)


def _entry_at(place: int) -> str:
    text = groups_text()
    end = min(end for end in (text.find(", ", place), text.find("\n", place)) if end >= 0)
    return text[place:end]


@cache
def groups_text() -> str:
    """Return the groups of `synonyms.txt`, a line each, every entry of which follows a comma and a space.

    A word may stand in several groups, one for each of its senses; words that are only about the same thing
    ("database" and "index") stand in none together. English is written in its base form, which is stemmed here.
    """
    lines = word_file("synonyms.txt").strip().replace("\n\n", "\n").replace("\n", "\n, ")
    return f"\n, {lines}\n"


@cache
def _unspaced_entries() -> frozenset[str]:
    return frozenset(re.findall(rf", ([{HAN}]{{2,{_LONGEST_UNSPACED}}})(?=[,\n])", groups_text()))


class WordList:
    """The words of *text*, folded, which spaces and line breaks part."""

    def __init__(self, text: str) -> None:
        self._text = f" {text.replace(chr(10), ' ')} "

    def __contains__(self, word: object) -> bool:
        return f" {word} " in self._text

    def has_stem(self, term: str) -> bool:
        """Return whether a word of the list has the stem *term*."""
        return f" {term} " in self._text or any(stem(word) == term for word in self._beginning_with(beginning(term)))

    def _beginning_with(self, letters: str) -> Iterator[str]:
        at = self._text.find(f" {letters}")
        while at >= 0:
            end = self._text.find(" ", at + 1)
            yield self._text[at + 1 : end]
            at = self._text.find(f" {letters}", end)


def beginning(term: str) -> str:
    """Return letters with which every word begins that has the stem *term*."""
    return term[:-1] if len(term) >= _LONG else term
