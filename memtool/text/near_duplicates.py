"""Whether two statements say the same, or contradict each other. Pure functions over texts, in any language.

Two texts that differ by one value (24 or 15, PostgreSQL or MySQL, 开启 or 关闭) share nearly all their letters and are
no duplicates. So letters decide only where no word stands in another's place, and next to none on one side alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import combinations
from typing import NamedTuple

from memtool.text.languages import languages, listed, pattern_of, words
from memtool.text.scripts import is_unspaced
from memtool.text.similarity import NEARLY_ALL, are_alike, trigrams
from memtool.text.tokens import fold, index_terms, is_stop_word

# Chosen on the examples of tests/text/test_near_duplicates.py: reworded twins have 0.7 and more.
SAME_LETTERS = 0.6  # Jaccard over character trigrams of the telling words
OWN_WORDS = 0.12  # share of the telling words that one side alone may hold: in a short sentence none
SAME_MEANING = 0.92  # cosine of two vectors

_LONGEST_COMPARED = 2_000  # characters; longer texts are notes, which nobody compares word by word
_SAME_WORD = 0.75  # of two spellings
_ARROW = " → "  # behind a question, or a command that failed, and before what came of it
_REDACTED = "[redacted: "
_SEPARATOR = re.compile(r"[\W_]+")
_VALUE = re.compile(r"\d+(?:\.\d+)*|(?<!\w)\w{1,40}(?:\+\+|#)")
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_WORD = re.compile(r"[^\W_]+")
_PLACE = re.compile(  # the number of a line, behind a path or as a compiler prints it
    r"""(?<![^\s"'(\[`])((?:[^\s:/]{1,99}/){1,20}[^\s:/]{1,99}|[^\s:/]{1,99}\.\w{1,4}(?=:\d+:)):\d+(?::\d+)?"""
)
_NAME = re.compile(r"[A-Za-z][\w.+#/-]*[A-Z][\w.+#/-]*|(?<=[\w,;:] )[A-Z][\w.+#-]*", re.ASCII)
_LATIN = re.compile(r"[A-Za-z][\w.+#/-]*", re.ASCII)


class Claim(NamedTuple):
    """A text as it is compared: all its letters, its telling words in order, and these in threes of letters.

    Its numbers (and the like of C++) must not differ, nor whether something is *negated*. What was *redacted* may be
    another value each time. What was *asked* stands before an arrow: a question, or a command that failed and how.
    """

    letters: str
    words: tuple[str, ...]
    trigrams: frozenset[str]
    values: frozenset[str]
    negated: bool
    redacted: bool = False
    asked: str = ""


@lru_cache(maxsize=512)  # of many lines each is compared with many
def statement(text: str) -> Claim:
    """Return *text* in the form in which statements are compared."""
    text = _PLACE.sub(r"\1", text)
    short = text if len(text) <= _LONGEST_COMPARED else ""
    words = tuple(term for term in index_terms(short) if _is_telling(term))
    values = frozenset(_VALUE.findall(_THOUSANDS.sub("", fold(text))))
    plain = letters(text)
    told = "".join(words) or plain
    return Claim(
        plain,
        words,
        trigrams(told) or frozenset([told]),
        values,
        bool(re.search(pattern_of("negation"), fold(short))),
        _REDACTED in text,
        letters(text.partition(_ARROW)[0]) if _ARROW in text else "",
    )


def letters(text: str) -> str:
    """Return the letters and digits of *text* in one piece, without differences of case, width and accent."""
    folded = fold(text)
    return _SEPARATOR.sub("", folded) or " ".join(folded.split())


def is_same(new: Claim, standing: Claim) -> bool:
    """Return whether *new* says what *standing* says: it is equal but for case, width and punctuation, or nearly so."""
    if new.negated != standing.negated or new.values != standing.values or new.redacted or standing.redacted:
        return False
    if new.letters == standing.letters:
        return True
    if not (new.words and standing.words):
        return are_alike(new.trigrams, standing.trigrams, NEARLY_ALL)
    pairs = ((new, standing), (standing, new))
    has_own = any(len(_own(one.words, other.words)) > OWN_WORDS * len(one.words) for one, other in pairs)
    is_like = are_alike(new.trigrams, standing.trigrams, SAME_LETTERS)
    return is_like and not has_own and not any(_replaced(new, standing))


def newer_rivals(facts: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return for each of *facts* (id, text, date) that a newer one of them contradicts, by its id, the newer's date."""
    dated = sorted(((date, fact_id, statement(text)) for fact_id, text, date in facts), key=lambda each: each[0])
    return {
        old_id: newer
        for (_, old_id, old), (newer, _, new) in combinations(dated, 2)
        if contradicts(new, old, in_one_place=True)
    }


def contradicts(new: Claim, standing: Claim, *, in_one_place: bool = False) -> bool:
    """Return whether both seem to speak of one subject and say different things of it: another value, or a "not".

    They speak of one subject if both hold half the words of the shorter one.

    What differs *in_one_place* only is nearly sure to: the ports of two services differ in their names, too. An answer
    contradicts another one to the same question only, and what failed and was mended contradicts nothing else.
    """
    if new.asked != standing.asked:
        return False
    shorter, longer = sorted((set(new.words), set(standing.words)), key=len)
    shared = shorter & longer
    if not shared or 2 * len(shared) < len(shorter) or is_same(new, standing):
        return False
    replaced = list(_replaced(new, standing))
    if len(shared) == 1:  # "port 8443": one word is no subject but for another number
        return any(here[0].isdigit() and there[0].isdigit() for here, there in replaced)
    differs = bool(replaced) or new.negated != standing.negated or (new.redacted and standing.redacted)
    return differs and not (in_one_place and len(replaced) > 1)


def may_mean_the_same(new: str, standing: str) -> bool:
    """Return whether vectors may decide on two texts: models place a statement close to its opposite, too."""
    if max(len(new), len(standing)) > _LONGEST_COMPARED:
        return False
    one, other = statement(new), statement(standing)
    if one.negated != other.negated or one.values != other.values or _names(new) != _names(standing):
        return False
    words, others = {*one.words, *_opposites_in(new)}, {*other.words, *_opposites_in(standing)}
    opposed = ((left, right) for pair in _opposites() for left, right in (pair, pair[::-1]))
    return not any(left in words - others and right in others - words for left, right in opposed)


def _replaced(one: Claim, other: Claim) -> Iterator[tuple[str, str]]:
    """Give what stands in one statement in the place of something else, other spellings of a word aside."""
    left, right = sorted((one.words, other.words))  # so that the order of the two does not matter
    for tag, start, end, other_start, other_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "replace":
            here = " ".join(_own(left[start:end], right))
            there = " ".join(_own(right[other_start:other_end], left))
            # Two spellings of one word are alike, and so are two values: 8443 and 8444.
            is_value = any(map(str.isdigit, here)) or any(map(str.isdigit, there))
            if here and there and (is_value or SequenceMatcher(None, here, there).ratio() < _SAME_WORD):
                yield here, there


def _own(words: Sequence[str], other: Sequence[str]) -> list[str]:
    held = set(other)
    return [word for word in words if word not in held]


def _is_telling(term: str) -> bool:
    """Return whether *term* counts when statements are compared."""
    # The index holds identifiers beside their parts, and pairs of characters beside the single ones.
    is_pair = len(term) == 2 and is_unspaced(term[0])
    return (
        not is_pair and _WORD.fullmatch(term) is not None and not is_stop_word(term) and term not in words("particles")
    )


def _names(text: str) -> frozenset[str]:
    """Return the names that can be told from words: by their capitals, or by their script in a Chinese sentence."""
    pattern = _LATIN if any(map(is_unspaced, text)) else _NAME
    return frozenset(map(fold, pattern.findall(text)))


def _opposites_in(text: str) -> Iterator[str]:
    return (word for pair in _opposites() for word in pair if not word.isascii() and word in text)


@cache
def _opposites() -> tuple[tuple[str, ...], ...]:
    """Return pairs of words, stemmed, of which two statements about one thing hold either."""
    return tuple(tuple(pair.split(" ")) for code in languages() for pair in listed("opposites", code))
