"""What a sentence is about, told from its words: a decision, a cause, a deed, something open, or mere talk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from memtool.capture.extractive.cue_words import (
    AUXILIARIES,
    DEEDS,
    DENIALS,
    DENIALS_AFTER,
    HEADINGS,
    PHRASES,
    SMALL_TALK,
    TRADITIONAL,
    UNDONE,
    UNSPACED_DENIALS,
    UNSPACED_SMALL_TALK,
    UNSPACED_UNDONE,
)

DEED_CUES = frozenset(DEEDS["spaced"])
_DONE = DEED_CUES | {"success", "decision"}
_LATIN = re.compile(r"[a-z\u00df-\u00ff0-9]+(?:'[a-z\u00df-\u00ff]+)?")
_UNSPACED_TALK = re.compile(f"(?:{UNSPACED_SMALL_TALK}|[\\s\\W_])*+".translate(TRADITIONAL), re.VERBOSE)


class _Phrase(NamedTuple):
    """A phrase, as words or, in scripts without spaces, as characters; *key* is the place of what it is found by."""

    cue: str
    parts: list[str]
    text: str
    key: int
    first: bool  # only at the start of a sentence


class _Tables(NamedTuple):
    """Phrases by their longest word, or by their first character in scripts without spaces; deeds by word."""

    spaced: dict[str, list[_Phrase]]
    unspaced: dict[str, list[_Phrase]]
    deeds: dict[str, str]


def cues_of(sentence: str) -> frozenset[str]:
    """Return what *sentence* shows itself to be: the names of columns in cue_words, such as `rule` or `discovery`."""
    words = words_in(sentence)
    found = set(_spaced_cues(words))
    if not sentence.isascii():
        found.update(_unspaced_cues(sentence.translate(TRADITIONAL)))
    if "maybe decision" in found and "grounds" in found:
        found.add("decision")
    return frozenset(found - {"maybe decision", "grounds"})


@lru_cache(maxsize=4096)
def heading_cue(heading: str) -> str:
    """Return what stands under *heading* (the last line is the nearest), such as `open`; empty if it does not say."""
    for line in reversed(heading.split("\n")):
        spaced, unspaced = f" {' '.join(words_in(line))} ", line.translate(TRADITIONAL)
        for cue, phrases in _headings().items():
            if any(_announces(phrase, spaced, unspaced) for phrase in phrases):
                return cue
    return ""


def _announces(phrase: str, spaced: str, unspaced: str) -> bool:
    """Return whether a heading, given as words and as characters, is about *phrase* rather than merely holding it."""
    if not _LATIN.match(phrase):
        return phrase in unspaced and len(unspaced) <= len(phrase) + 5
    return f" {phrase} " in spaced and spaced.count(" ") <= 3 + 2 * (phrase.count(" ") + 1)


def is_small_talk(text: str) -> bool:
    """Return whether *text* only greets, thanks, agrees or asks to go on."""
    words = words_in(text)
    if not SMALL_TALK.issuperset(words):
        return False
    return bool(_UNSPACED_TALK.fullmatch(_LATIN.sub("", text.translate(TRADITIONAL).lower())))


def phrases_in(cell: str) -> list[str]:
    """Return the phrases of a *cell* of the tables, in the simplified script."""
    return [" ".join(phrase.split()) for phrase in cell.translate(TRADITIONAL).split("|")]


def words_in(text: str) -> list[str]:
    """Return the words of *text* that are written in Latin letters, in lower case."""
    return _LATIN.findall(text.lower().replace("’", "'"))


def _spaced_cues(words: list[str]) -> Iterator[str]:
    tables = _tables()
    for at, word in enumerate(words):
        for phrase in tables.spaced.get(word, ()):
            start = at - phrase.key
            here = start == 0 if phrase.first else start >= 0
            if (
                here
                and words[start : start + len(phrase.parts)] == phrase.parts
                and not _denied(phrase.cue, words, start)
            ):
                yield phrase.cue
        if (deed := tables.deeds.get(word)) and _is_deed(words, at):
            yield deed


def _denied(cue: str, words: list[str], at: int) -> bool:
    if cue == "open":
        return any(word in DENIALS or word.endswith("n't") for word in words[max(0, at - 3) : at])
    return cue in _DONE and _undone(words, at)


def _is_deed(words: list[str], at: int) -> bool:
    before = words[at - 1] if at else ""
    return ((at < 2 and before not in {"the", "a", "an", "to"}) or before in AUXILIARIES) and not _undone(words, at)


def _undone(words: list[str], at: int) -> bool:
    return any(word in UNDONE or word.endswith("n't") for word in words[max(0, at - 2) : at])


def _unspaced_cues(text: str) -> Iterator[str]:
    tables = _tables().unspaced
    for char in tables.keys() & set(text):
        for phrase in tables[char]:
            at = text.find(phrase.text)
            here = at == 0 if phrase.first else at >= 0
            if here and not _denied_unspaced(phrase.cue, text, at, at + len(phrase.text)):
                yield phrase.cue


def _denied_unspaced(cue: str, text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 3) : start], text[end : end + 8]
    if cue == "open":
        return any(char in UNSPACED_DENIALS for char in before) or any(denial in after for denial in DENIALS_AFTER)
    if cue == "rule":  # 要不要, 能不能: a question
        return before.endswith(("要", "能", "需"))
    return cue in _DONE and any(char in UNSPACED_UNDONE for char in before[-2:])


@cache
def _tables() -> _Tables:
    tables = _Tables(defaultdict(list), defaultdict(list), {})
    cells = [*(cell for language in PHRASES.values() for cell in language.items()), *DEEDS["unspaced"].items()]
    for cue, cell in cells:
        for phrase in phrases_in(cell):
            _add(tables, cue, phrase.removeprefix("^"), first=phrase.startswith("^"))
    for cue, cell in DEEDS["spaced"].items():
        tables.deeds.update(dict.fromkeys(phrases_in(cell), cue))
    return tables


def _add(tables: _Tables, cue: str, text: str, *, first: bool) -> None:
    if _LATIN.match(text.lower()):
        words = words_in(text)
        key = max(range(len(words)), key=lambda at: len(words[at]))
        tables.spaced[words[key]].append(_Phrase(cue, words, "", key, first))
    else:
        tables.unspaced[text[0]].append(_Phrase(cue, [], text, 0, first))


@cache
def _headings() -> dict[str, list[str]]:
    return {cue: phrases_in(cell) for cue, cell in HEADINGS.items()}
