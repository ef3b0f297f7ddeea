"""A list of words that is asked for few of them, so that it need not be cut up and stemmed as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from memtool.index.text import stem

_LONG = 3  # letters; such a stem may differ from its word in the last one: `deploi` of deploy


class WordList:
    """The words of *text*, folded, which spaces and line breaks part."""

    def __init__(self, text: str) -> None:
        self._text = f" {text.replace(chr(10), ' ')} "

    def __contains__(self, word: object) -> bool:
        return f" {word} " in self._text

    def has_stem(self, term: str) -> bool:
        """Whether a word of the list has the stem *term*."""
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
