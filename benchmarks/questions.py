"""Questions for a synthetic vault: seeded, and of the kinds that people and agents ask."""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from benchmarks import vaults
from benchmarks.words import chinese, english
from memtool.index import limits
from memtool.text.tokens import query_terms

_RARE_WORD = re.compile(r"\b[a-z]{9,}\b")
_IDENTIFIER = re.compile(r"[a-z]+[A-Z]\w+|[a-z]+_[a-z]+|E\d{4}|#\d{2,}|v\d+\.\d+\.\d+|[a-z]+/[\w/]+\.\w+")
_OPENINGS = ("why did we change the", "how do I configure the", "what was decided about the", "where is the")


class Question(NamedTuple):
    """A question and its kind."""

    kind: str
    text: str


def questions(size: int, count: int, seed: int = vaults.SEED) -> list[Question]:
    """Return *count* questions of each kind for the vault of *size* notes."""
    asker = _Asker(Random(f"{seed}/questions"), size, seed)
    makers = {
        "English question": asker.english,
        "Chinese question": asker.chinese,
        "identifier": lambda: asker.occurring(_IDENTIFIER),
        "one word": asker.one_word,
        "long passage": asker.passage,
    }
    return [Question(kind, make()) for kind, make in makers.items() for _ in range(count)]


def half_typed(size: int, count: int, seed: int = vaults.SEED) -> list[Question]:
    """Return *count* beginnings of words, which most likely occur nowhere as words."""
    asker = _Asker(Random(f"{seed}/half typed"), size, seed)
    return [Question("half-typed word", asker.occurring(_RARE_WORD)[:-2]) for _ in range(count)]


class _Asker:
    """Asks about the vault of *size* notes that *seed* gives."""

    def __init__(self, chance: Random, size: int, seed: int) -> None:
        self._chance = chance
        self._size = size
        self._seed = seed

    def english(self) -> str:
        """Two everyday words, and one that few notes have."""
        common, other = self._chance.sample(english().words[45:250], 2)
        return f"{self._chance.choice(_OPENINGS)} {common} {other} of {self.occurring(_RARE_WORD)}?"

    def chinese(self) -> str:
        """The same in Chinese."""
        common, other = self._chance.sample(chinese().words[26:110], 2)
        (rare,) = chinese().draw_rare(self._chance, 1)
        forms = ("为什么{0}{1}{2}？", "{0}{2}怎么{1}", "{0} {1}", "{2}的{0}")
        return self._chance.choice(forms).format(common, other, rare)

    def one_word(self) -> str:
        """A word of which many notes have something to say, or few."""
        return self._chance.choice((self._chance.choice(english().words[45:400]), self.occurring(_RARE_WORD)))

    def passage(self) -> str:
        """As much of a note as memtool asks for without leaving terms out."""
        text = self._text()
        lengths = (length for length in range(240, 0, -20) if len(query_terms(text[:length])) <= limits.MOST_TERMS)
        return text[: next(lengths)]

    def occurring(self, pattern: re.Pattern[str]) -> str:
        """Something in a note that *pattern* matches."""
        found: list[str] = []
        while not found:
            found = pattern.findall(self._text())
        return self._chance.choice(found)

    def _text(self) -> str:
        return vaults.note(self._chance.randrange(self._size), self._seed).text.split("---\n")[-1]
