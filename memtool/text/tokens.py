"""The tokenizer: one for what is indexed, asked, highlighted and compared, in every language.

A text is cut into runs. A run of a script that writes no spaces (Chinese, Japanese, Korean, Thai …) becomes single
characters and overlapping pairs; any other run becomes its whole, its parts and their stems, so that
`getUserById`, `v2.1.210`, `#4573` and `解密失败` are all found by whole and by part. Dashes, underscores, apostrophes
and capitals make no difference to the whole: `Wi-Fi` is found by `wifi`, `retry_job` by `RetryJob`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from operator import add
from typing import Any

from memtool.text.languages import word_set, words as words_in_languages
from memtool.text.scripts import FIRST_UNSPACED, RADICALS, UNFOLDED, UNSPACED, is_ideograph, is_unspaced

_KNOWN = 65_536  # words whose forms are remembered: those of a large vault
CONTEXT_END = " | "  # between the terms of what a chunk is about and those of its text; FTS5 takes no notice of it
LONGEST_TERM = 64  # characters; longer runs (hashes, base64) are cut, in the index and in the query alike

# Python's \w leaves out the marks that letters of many scripts carry: accents on their own, vowel signs.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u109f\u1780-\u17d3\u3099\u309a"
# Nor does it take in the radicals.
_LETTER = rf"[\w{_MARKS}{RADICALS}]"
_RUN = (
    r"#?\w+(?:(?:[.\-:@/+=&?%~\\]|::|://|->|(?<=[^\W\d_])['’](?=[^\W\d_]))\w+)*"
    r"(?:\+\+(?![A-Za-z_])|(?<=[A-Za-z])(?<![A-Za-z\d_][A-Za-z])#(?![A-Za-z\d_]))?"  # C++, C#, F#
)
# Classes of many ranges take milliseconds to compile, which a search of ASCII text does without.
_ASCII_RUN, _ASCII_WORD = re.compile(_RUN), re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CONTRACTION = re.compile(r"['’](?:s|ll|d|re|ve|m)$", re.IGNORECASE)
_JOINING = re.compile("(?:-(?!>)|[_'’])+")  # what a name may be written with or without
_LETTERS = re.compile(r"[^\W\d_]+")
_SEPARATING = re.compile(r"[.:@/+=&?%~\\>]+")  # between the names of a path or address
_IN_A_NAME = re.compile(r"[^\W_]_[^\W_]|[a-z][A-Z]|\w\w\.\w\w|\w::\w")
_STEMMED = {"porter": re.compile("[a-z]{3,}"), "russian": re.compile("[а-я]{4,}")}
_ACCENTS = "[\u0300-\u0305\u0307-\u036f]|(?<!и)\u0306"  # й is a letter of its own
_NOT_IN_TERMS = re.compile("[ (),'’]")  # ⑴ and Arabic ligatures fold to the first four, where FTS5 would cut
_AS_IT_IS = re.compile(f"[{UNFOLDED}]+")
_KANA = "[\u3041-\u30fa]"


def index_terms(text: str) -> list[str]:
    """Return the terms under which *text* is found, in order, with repetitions."""
    terms: list[str] = []
    for run, is_spaced_run in _cut(text):
        terms += _spaced_terms(run) if is_spaced_run else _unspaced_terms(run)
    return terms


class WordTerms(dict[str, str]):
    """The terms of words, each cut when it is first met: most of a first index are words that were met before.

    *words* are those that completion may offer, of all texts that were asked for: see `words_of`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words: set[str] = set()

    def of(self, text: str) -> str:
        """Return the terms of *text*, as `index_terms` does, joined by spaces."""
        return " ".join(filter(None, map(self.__getitem__, text.split())))  # no run holds white space

    def __missing__(self, word: str) -> str:
        terms: list[str] = []
        is_kept = True
        for run, is_spaced_run in _cut(word):
            if is_spaced_run:
                terms.append(self.get(run) or self._keep(run, self._terms_of(run)))
            else:  # a clause, most of which are written once
                terms += _unspaced_terms(run)
                is_kept = False
        joined_terms = " ".join(terms)
        return self._keep(word, joined_terms) if is_kept else joined_terms

    def _terms_of(self, run: str) -> str:
        forms = _forms(run)
        self.words.update(forms)
        return " ".join(dict.fromkeys(map(stem, forms)))

    def _keep(self, word: str, terms: str) -> str:
        if len(word) <= LONGEST_TERM:
            if len(self) >= _KNOWN:
                self.clear()
            self[word] = terms
        return terms


def query_terms(text: str) -> list[str]:
    """Return the distinct terms to ask for, in order. Stop words go, unless there is nothing else."""
    terms: dict[str, None] = {}
    stopped: dict[str, None] = {}
    for run, is_spaced_run in _cut(text):
        if is_spaced_run:
            for term in _spaced_terms(run):
                (stopped if term in _stopped_terms() else terms)[term] = None
        else:
            terms |= dict.fromkeys(_unspaced_query_terms(run))
            stopped |= dict.fromkeys(_unspaced_terms(run))
    return list(terms or stopped)


def query_characters(text: str) -> str:
    """Return the distinct Han and Hangul characters that *text* asks for, function words left out."""
    return "".join(dict.fromkeys(char for run in unspaced_runs(text) for char in run if is_ideograph(char)))


def capitalised_terms(text: str) -> list[str]:
    """Return the terms of the capitalised words within a sentence of *text*: mostly names of people and places.

    None, if they are more than a third of its words: a title, or German.
    """
    words = text.split()
    inner = (_LETTERS.match(word) for before, word in pairwise(words) if before[-1].islower() or before[-1] in ",'’")
    names = [match[0] for match in inner if match and match[0][0].isupper() and match[0][1:].islower()]
    if 3 * len(names) > len(words):
        return []
    return [term for name in dict.fromkeys(map(fold, names)) if not is_stop_word(term := stem(name))]


def query_words(text: str) -> list[str]:
    """Return the spaced words of *text* as they were typed, folded and unstemmed: what completion tries to finish."""
    words = (_as_term(_CONTRACTION.sub("", run)) for run, is_spaced_run in _cut(text) if is_spaced_run)
    return [word for word in dict.fromkeys(words) if word and word not in stop_words()]


def plain_words(text: str) -> list[str]:
    """Return the spaced words of *text* in their order, folded and unstemmed; "" for any other run."""
    runs = (_CONTRACTION.sub("", run) if is_spaced_run else "" for run, is_spaced_run in _cut(text))
    return [fold(run) if run.isalpha() else "" for run in runs]


def query_names(text: str) -> dict[str, tuple[str, ...]]:
    """Return the identifiers, paths and versions in *text*: the term of each whole, and all its terms."""
    names = (
        run for run, is_spaced_run in _cut(text) if is_spaced_run and (_IN_A_NAME.search(run) or len(_words(run)) > 2)
    )
    return {terms[0]: terms for terms in map(_spaced_terms, names) if terms}


def stretches(text: str) -> list[list[str]]:
    """Return the words of *text*, with the parts of identifiers, as terms in their order: a list for each stretch.

    A stretch ends where a script without spaces begins. Function words are in it.
    """
    found: list[list[str]] = [[]]
    for run, is_spaced_run in _cut(text):
        if not is_spaced_run:
            found.append([])
        else:
            words = (_parts(word) or [_as_term(word)] for word in _words(_CONTRACTION.sub("", run)))
            found[-1] += [stem(part) for parts in words for part in parts if part]
    return [words for words in found if words]


def unspaced_runs(text: str) -> list[str]:
    """Return the distinct runs of *text* in scripts without spaces, folded, function words left out."""
    runs = (fold(run) for run, is_spaced_run in _cut(text) if not is_spaced_run)
    return list(dict.fromkeys(piece for run in runs for piece in _pieces(run) if piece))


def words_of(text: str) -> set[str]:
    """Return the distinct spaced words of *text*, whole and in parts, folded and unstemmed: what completion offers."""
    return {form for run, is_spaced_run in _cut(text) if is_spaced_run for form in _forms(run)}


def term_spans(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Give the places of *text* that the terms *wanted* match, as (start, end), in order and not overlapping."""
    for match in _run_of(text).finditer(text):
        if match[0].isascii():  # most of a snippet is made here
            if not wanted.isdisjoint(_spaced_terms(match[0])):
                yield match.span()
            continue
        for run, start, is_spaced_run in _placed(match[0], match.start()):
            if not is_spaced_run:
                yield from _unspaced_spans(run, start, wanted)
            elif not wanted.isdisjoint(_spaced_terms(run)):
                yield start, start + len(run)


def fold(text: str) -> str:
    """Return *text* without differences of case, width and accent."""
    if text.isascii():
        return text.lower()
    if _AS_IT_IS.fullmatch(text):
        return text
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFC", re.sub(_ACCENTS, "", unicodedata.normalize("NFD", folded)))


def _run_of(text: str) -> re.Pattern[str]:
    """Return the pattern of the runs of *text*."""
    return _ASCII_RUN if text.isascii() else _any_run()


@cache
def _any_run() -> re.Pattern[str]:
    return re.compile(_RUN.replace(r"\w+", f"{_LETTER}+"))


@cache
def _any_word() -> re.Pattern[str]:
    return re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")


def _cut(text: str) -> Iterator[tuple[str, bool]]:
    """Give the runs of *text*, and whether each is of a script with spaces."""
    for run in _run_of(text).findall(text):
        if run.isascii():
            yield run, True
        elif _AS_IT_IS.fullmatch(run):  # kana and Han, as most of such runs are
            yield run, False
        elif max(run) < FIRST_UNSPACED:
            yield run, True
        else:
            for at, part in enumerate(_unspaced_pattern().split(run)):  # each second part has no spaces
                if at % 2:
                    yield part, False
                else:
                    yield from ((spaced, True) for spaced in _run_of(part).findall(part))


def _placed(text: str, offset: int) -> Iterator[tuple[str, int, bool]]:
    """Give the runs of *text*, which holds other letters than ASCII, as `_cut` does, each with its place."""
    at = 0
    for unspaced in [*_unspaced_pattern().finditer(text), None]:
        end = unspaced.start() if unspaced else len(text)
        for match in _run_of(text).finditer(text, at, end):
            yield match[0], offset + match.start(), True
        if unspaced:
            yield unspaced[0], offset + end, False
            at = unspaced.end()


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    # Compiling so large a class takes milliseconds, which a search in plain English can do without.
    return re.compile(f"([{UNSPACED}]+)")


@cache
def _breaking_pattern() -> re.Pattern[str]:
    return re.compile("|".join(words_in_languages("question_words")))


@lru_cache(maxsize=_KNOWN)
def stem(word: str) -> str:
    """Return the stem of a folded English or Russian *word*; any other word as it is."""
    algorithm = "porter" if word.isascii() else "russian"
    if _STEMMED[algorithm].fullmatch(word):
        return str(_stemmer(algorithm).stemWord(word))
    return word


@cache
def _stemmer(algorithm: str) -> Any:  # noqa: ANN401  (PyStemmer has no types)
    import Stemmer

    return Stemmer.Stemmer(algorithm, 0)  # without a cache of its own


def is_spaced(text: str) -> bool:
    """Return whether all of *text* is written in scripts with spaces between the words."""
    return text.isascii() or not any(map(is_unspaced, set(text)))


@cache
def stop_words() -> frozenset[str]:
    """Return the function and question words, folded, that say nothing about what is asked.

    They are indexed, and left out of queries.
    """
    return word_set("stop_words")


def is_stop_word(term: str) -> bool:
    """Return whether *term* is, or is the stem of, a word that says nothing about what is asked."""
    return term in _stopped_terms()


@cache
def _stopped_terms() -> frozenset[str]:
    return frozenset(map(stem, stop_words())) | stop_words()


@lru_cache(maxsize=_KNOWN)
def _spaced_terms(run: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(stem, _forms(run))))


def _forms(run: str) -> tuple[str, ...]:
    """The run whole, then the names in it, their words, and the parts of those words."""
    if run.isalpha() and (run.islower() or (run.isascii() and run.istitle())):
        return (_as_term(run),)
    run = _CONTRACTION.sub("", run) if "'" in run or "’" in run else run
    forms = [joined(run)]
    names = _SEPARATING.split(run)
    if len(names) > 1:
        forms += [joined(name) for name in names if _JOINING.search(name)]
    for word in _words(run):
        forms.append(_as_term(word))
        forms += _parts(word)
    return tuple(form for form in dict.fromkeys(forms) if form)


def _parts(word: str) -> list[str]:
    """Return the parts of a word such as `getUserById`; none if it is one word."""
    parts = _PART.findall(word) if word.isascii() and not (word.isalpha() and word.islower()) else []
    return [_as_term(part) for part in parts if len(part) > 1 or part.isdigit()] if len(parts) > 1 else []


def joined(run: str) -> str:
    """Return the term of *run* as one word: `Wi-Fi` as `wifi`. Numbers and dates stay as they are."""
    return _as_term(_JOINING.sub("", run) if _JOINING.search(run) and any(map(str.isalpha, run)) else run)


def _words(run: str) -> list[str]:
    words = (_ASCII_WORD if run.isascii() else _any_word()).findall(run)
    sign = run[len(run.rstrip("+#")) :]
    if sign and words and len(words[-1]) == 1:
        words[-1] += sign  # C++ is not about C
    return words


def _as_term(run: str) -> str:
    folded = fold(run)
    return (folded if folded.isalnum() else _NOT_IN_TERMS.sub("", folded))[:LONGEST_TERM]


def _unspaced_terms(run: str) -> list[str]:
    run = fold(run)
    return [*run, *map(add, run, run[1:])]


def _unspaced_query_terms(run: str) -> list[str]:
    """Return the pairs of *run*, a single character only where it is alone. Function words break a run in two."""
    terms: list[str] = []
    for piece in _pieces(fold(run)):
        terms += map(add, piece, piece[1:]) if len(piece) > 1 else piece
    return terms


def _pieces(run: str) -> list[str]:
    """Return *run* cut at its function words. A run of two is a word by itself: 吧台 is no 吧."""
    return [run] if len(run) <= 2 or re.search(_KANA, run) else _breaking_pattern().split(run)


def _unspaced_spans(run: str, offset: int, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    folded = fold(run)
    if len(folded) != len(run):  # half-width kana melt with their marks: their places are no longer those of the text
        folded = run
    marked = [char in wanted for char in folded]
    for at in range(len(folded) - 1):
        if folded[at : at + 2] in wanted:
            marked[at] = marked[at + 1] = True
    start = None
    for at, on in enumerate([*marked, False]):
        if on and start is None:
            start = at
        elif not on and start is not None:
            yield offset + start, offset + at
            start = None
