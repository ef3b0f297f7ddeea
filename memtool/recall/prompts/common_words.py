"""Words that tell little of what a prompt is about, however rare they are in a vault.

In a small vault `tests` may stand in one note only, and yet "run the tests" asks for no memory.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from memtool.recall.prompts.word_list import WordList
from memtool.text.languages import text_of
from memtool.text.word_files import word_file


class Kind(NamedTuple):
    """What a sort of words weighs: *tells* if a memory shares one of them, *about* in what a prompt is about."""

    tells: float
    about: float


TELLING = Kind(1.0, 1.0)
FAMILIAR = Kind(0.4, 0.5)  # names that everybody knows
EVERYDAY = Kind(0.2, 0.5)  # what prompts and notes use without being about it
COMMON = Kind(0.6, 0.15)  # what prompts hold whatever they are about; shared, it still says something


def kind_of(term: str) -> Kind:
    """Return what a *term*, stemmed as in the index, weighs."""
    if _familiar_names().has_stem(term):
        return FAMILIAR
    if _list("common").has_stem(term):
        return COMMON
    return EVERYDAY if _list("everyday").has_stem(term) else TELLING


def is_function_word(word: str) -> bool:
    """Whether *word*, folded, only holds sentences together."""
    return word in _list("grammar")


def is_common_pair(pair: str) -> bool:
    """Whether two characters say nothing by themselves: listed, or with Hiragana, which is grammar."""
    return pair in _common_pairs() or any("\u3041" <= char <= "\u309f" for char in pair)


@cache
def _list(kind: str) -> WordList:
    return WordList(text_of(kind))


@cache
def _familiar_names() -> WordList:
    """Return the languages, systems and tools that everybody names: they call up nothing by themselves."""
    return WordList(word_file("familiar_names.txt"))


@cache
def _common_pairs() -> frozenset[str]:
    return frozenset(text_of("common_pairs").split())
