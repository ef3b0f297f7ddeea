"""Marks of what was forgotten of a session: by them it is known in a note or a topic that is made again. Pure."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

from memtool.text.lines import one_line
from memtool.text.similarity import is_said, words
from memtool.text.statements import sentences
from memtool.vault.authors import signed_by

_MOST_HASHES, _LEAST_HASHES = 12, 4  # of the words of what was forgotten; by fewer it is not known in other words
_NEARLY = 0.65  # of the words that are compared
_LEAST_STATEMENT = 6  # letters of a statement that is looked for in a sentence
_LEAST_PART = 12  # letters of a statement that is looked for in a longer one
HIDDEN = "[forgotten]"  # in place of what was forgotten
NAMELESS = "…"  # the title of a session whose own was forgotten


def statement_of(item: str) -> str:
    """Return the statement of an item of a session note, without its kind, its tags and its author."""
    return re.sub(r"^\[[a-z]+\] +|(?: +#[^\s#]+)+$", "", signed_by(item.strip())[0])


def mark_of(item: str) -> str:
    """Return the mark by which an item is recognised after it was forgotten.

    That is a checksum of its letters, and behind a dash one of its numbers and the least hashes of its words.
    """
    statement = statement_of(item)
    numbers = " ".join(sorted(re.findall(r"\d+", statement)))
    least = sorted({f"{_checksum(word) % 4_096:03x}" for word in words(statement)})[:_MOST_HASHES]
    return f"{_checksum(_letters(statement)):08x}-{_checksum(numbers) % 256:02x}{''.join(least)}"


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def is_forgotten(item: str, marks: Iterable[str]) -> bool:
    """Return whether *item* has one of *marks*, or says nearly the same with the same numbers."""
    exact, _, rest = mark_of(item).partition("-")
    for known, _, other in (mark.partition("-") for mark in marks):
        if known == exact or (other and other[:2] == rest[:2] and _likeness(rest[2:], other[2:]) >= _NEARLY):
            return True
    return False


def _likeness(one: str, other: str) -> float:
    """Return the share of words that two texts have in common, as the least hashes of both tell (bottom-k sketches)."""
    first, second = ({each[at : at + 3] for at in range(0, len(each), 3)} for each in (one, other))
    if min(len(first), len(second)) < _LEAST_HASHES:
        return 0.0
    least = sorted(first | second)[:_MOST_HASHES]
    return sum(each in first and each in second for each in least) / len(least)


def without_forgotten(text: str, marks: Iterable[str]) -> str:
    """Return *text* without the sentences that have one of *marks*; empty if all of it has, or each of them."""
    said = sentences(text)
    kept = [each for each in said if not is_forgotten(each, marks)]
    if len(kept) < len(said):
        return " ".join(kept)
    return "" if is_forgotten(text, marks) else text


def said_again(text: str, gone: Sequence[str]) -> list[str]:
    """Return what says *gone* again in the title or the summary *text*: some of its sentences, or all of it."""
    said = sentences(text)
    found = [each for each in said if _says_again(each, gone)]
    return found if found and len(found) < len(said) else [text] if _says_again(text, gone) else []


def _says_again(title: str, gone: Sequence[str]) -> bool:
    """Return whether a title or a sentence of it, which may be cut, says what is *gone*."""
    said = [_letters(text) for text in gone]
    cut = [piece for piece in map(_letters, title.split("…")) if piece]
    return any(text and (text in _letters(title) or all(piece in text for piece in cut)) for text in said) or is_said(
        words(title), map(words, filter(is_telling, gone)), _NEARLY
    )


def holds_one(text: str, gone: Iterable[str]) -> bool:
    """Return whether *text* is a part of what is *gone*, or the other way round."""
    one, others = _letters(text), map(_letters, gone)
    return any(min(len(one), len(other)) >= _LEAST_PART and (one in other or other in one) for other in others)


class ForgottenTexts:
    """What was forgotten of a session: its *marks*, and *statements*, as far as they are known in words."""

    def __init__(self, marks: Iterable[str], statements: Iterable[str]) -> None:
        self._marks = tuple(marks)
        statements = dict.fromkeys(filter(None, statements))
        self._letters = [each for each in map(_letters, statements) if len(each) >= _LEAST_STATEMENT]
        self._words = [words(each) for each in statements if is_telling(each)]

    def is_in(self, text: str) -> bool:
        """Return whether a sentence or a line of *text* says any of it."""
        if not (self._marks or self._letters):
            return False
        return any(map(self._is, dict.fromkeys([*sentences(one_line(text)), *_sentences_by_line(text)])))

    def hidden_in(self, text: str) -> str:
        """Return *text* with `HIDDEN` for each sentence that says any of it; for a paragraph, where lines cut it."""
        if not self.is_in(text):
            return text
        return "\n\n".join(map(self._hidden, text.split("\n\n")))

    def _hidden(self, paragraph: str) -> str:
        lines = [[HIDDEN if self._is(each) else each for each in sentences(line)] for line in paragraph.split("\n")]
        shown = "\n".join(map(" ".join, lines))
        return HIDDEN if self.is_in(shown.replace(HIDDEN, "")) else shown

    def _is(self, said: str) -> bool:
        own = _letters(said)
        held = (one in own or (len(own) >= _LEAST_PART and own in one) for one in self._letters)
        in_other_words = is_telling(said) and is_said(words(said), self._words, _NEARLY)
        return any(held) or in_other_words or is_forgotten(said, self._marks)


def _sentences_by_line(text: str) -> list[str]:
    return [each for line in text.splitlines() for each in sentences(line)]


def held_parts(text: str, gone: Sequence[str], *, whole: bool) -> list[str]:
    """Return the sentences of *text* that `holds_one` of *gone* finds, else all of it; only that if it goes *whole*."""
    found = [] if whole else [each for each in sentences(text) if holds_one(each, gone)]
    return found or ([text] if holds_one(text, gone) else [])


def is_telling(text: str) -> bool:
    """Return whether *text* has enough words to be known in other words."""
    return len(words(text)) >= _LEAST_HASHES
