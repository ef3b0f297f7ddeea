"""The last resort: a query word that occurs nowhere is tried as a prefix, then as a part of words, then as mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from memtool.text.tokens import (
    is_stop_word,
    joined,
    plain_words,
    query_terms,
    query_words,
    stem,
    unspaced_runs,
    words_of,
)

if TYPE_CHECKING:
    from memtool.index.tables import Tables

MOST_COMPLETED = 8  # words of one query: each costs a look at every word of the vault
MOST_WORDS = 20  # completions of one word
SHORTEST_PREFIX = 2
SHORTEST_PART = 3
MOST_RESPELT = 40  # words of one query
MOST_APART = 12  # of the pairs that they fall into, those with the longest halves
LONGEST_RESPELT, SHORTEST_HALF = 24, 2  # letters
SHORTEST_MISTYPED, LONGEST_MISTYPED = 5, 24  # letters; with fewer, a typing error makes another word
_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя")
_LAST = "\U0010ffff"


def complete(db: Tables, text: str, absent: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Return the words that may be meant by each word of *text*, or part of one, that occurs nowhere.

    `authen` gives `authentication`, and `deploiment` `deployment`.

    *absent* are the terms of the query that occur nowhere.
    """
    words = [form for word in query_words(text) for form in _absent_forms(word, absent)]
    runs = [run for run in unspaced_runs(text) if absent.issuperset(query_terms(run))]
    completed = {word: tuple(_words_like(db, word)) for word in words[:MOST_COMPLETED]}
    completed |= {run: tuple(dict.fromkeys(run)) for run in runs[:MOST_COMPLETED]}
    return {word: words for word, words in completed.items() if words}


def _absent_forms(word: str, absent: frozenset[str]) -> Iterator[str]:
    """Give *word* as one word if that occurs nowhere, and then each long part that occurs nowhere either."""
    whole = joined(word)
    if stem(whole) in absent:
        yield whole
        parts = (part for part in sorted(words_of(word) - {whole}) if part.isalpha() and len(part) >= SHORTEST_MISTYPED)
        yield from (part for part in parts if stem(part) in absent)


def other_spellings(db: Tables, text: str) -> dict[str, str]:
    """Return the words that the vault writes as one and *text* as several, or the reverse, with the form in *text*.

    `log in` gives `login: log in`, and `login` gives `log in: login`; all are terms, or phrases of terms.
    """
    words = [word if len(word) <= LONGEST_RESPELT else "" for word in plain_words(text)[:MOST_RESPELT]]
    together = {
        "".join(some): " ".join(map(stem, some))
        for count in (2, 3, 4)
        for some in zip(*(words[at:] for at in range(count)), strict=False)
        if all(some) and not is_stop_word(some[0]) and not is_stop_word("".join(some))
    }
    apart = {
        (word[:at], word[at:])
        for word in words
        if not is_stop_word(word)
        for at in range(SHORTEST_HALF, len(word) - SHORTEST_HALF + 1)
    }
    known = set(db.known_words({*together, *(half for halves in apart for half in halves)}))
    # Where the vault itself mostly writes `go to`, its one `go-to` is another word.
    spelt = {
        stem(word): together[word]
        for word in sorted(together.keys() & known)
        if db.phrase_frequency(stem(word)) >= db.phrase_frequency(together[word])
    }
    halved = sorted(filter(known.issuperset, apart), key=lambda halves: (-min(map(len, halves)), halves))
    spelt |= {" ".join(map(stem, halves)): stem("".join(halves)) for halves in halved[:MOST_APART]}
    return {form: typed for form, typed in spelt.items() if db.phrase_frequency(form)}


def completed_terms(completed: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the distinct terms of all the words that were found."""
    return list(dict.fromkeys(stem(word) for words in completed.values() for word in words))


def _words_like(db: Tables, word: str) -> list[str]:
    found: list[str] = []
    if len(word) >= SHORTEST_PREFIX:
        begins = "SELECT word FROM word WHERE word > ? AND word < ? ORDER BY length(word), word"
        found = _first_living(db, (row[0] for row in db.execute(begins, (word, word + _LAST))))
    if not found and len(word) >= SHORTEST_PART:
        found = _first_living(db, sorted(db.words_with(word), key=lambda each: (len(each), each)))
    if not found and SHORTEST_MISTYPED <= len(word) <= LONGEST_MISTYPED:
        found = _first_living(db, db.known_words(_one_slip_away(word)))
    return found


def _one_slip_away(word: str) -> set[str]:
    """Return *word* with one letter missing, wrong or too many, or two swapped; the first is right."""
    letters = next((each for each in _ALPHABETS if set(word) <= set(each)), "")
    if not letters:  # a number, a code or a name with signs in it is typed as it is meant
        return set()
    cuts = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    missing = {head + tail[1:] for head, tail in cuts if tail}
    wrong = {head + letter + tail[1:] for head, tail in cuts if tail for letter in letters}
    added = {head + letter + tail for head, tail in cuts for letter in letters}
    return swapped | missing | wrong | added


def _first_living(db: Tables, words: Iterable[str]) -> list[str]:
    """Return the first words that still occur: words stay in their table when the last note with them goes."""
    found: list[str] = []
    left = iter(words)
    while len(found) < MOST_WORDS and (some := list(islice(left, MOST_WORDS))):
        living = db.occurring({stem(word) for word in some})
        found += [word for word in some if stem(word) in living]
    return found[:MOST_WORDS]
