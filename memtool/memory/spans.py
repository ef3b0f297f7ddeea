"""Evidence that is found again: the words of a session note, known by the session and a hash. Pure.

A span of a fact names a session and the hash of a statement there. Case, white space and the marks around a statement
do not count, so that a note may be shown, merged and moved; a statement that was reworded or deleted is not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from memtool.vault.old_sessions import read_line
from memtool.vault.session_lines import hash_of_words, lines_of
from memtool.vault.session_rows import ARROW


class Span(NamedTuple):
    """Words of a session. *source* is the session's id, with `#` and the turn where that is known."""

    source: str
    text: str

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.source.partition("#")[0]

    def as_field(self) -> dict[str, str]:
        """Return the span as a fact holds it."""
        return {"source": self.source, "hash": hash_of_words(self.text)}


def hashes_in(note: str) -> frozenset[str]:
    """Return the hashes of all statements of the session note *note*."""
    return frozenset(map(hash_of_words, _statements(note)))


def missing_spans(spans: Iterable[Mapping[str, Any]], notes: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the sources of those *spans* whose words are gone from their session.

    *notes* holds the hashes of each session by its id. A session of which nothing is known counts as missing.
    """
    return [
        str(span["source"])
        for span in spans
        if span.get("hash") not in notes.get(str(span["source"]).partition("#")[0], frozenset())
    ]


def ending_in_title(note: str) -> str:
    """Return how the session ended, as the title of the session note *note* says it; empty if it does not."""
    titles = (value for part, _, value in map(read_line, note.splitlines()) if part == "title")
    return next(titles, "").partition(ARROW)[2].strip()


def _statements(note: str) -> Iterator[str]:
    if ended := ending_in_title(note):
        yield ended
    for line in lines_of(note):
        yield line.text
        if line.asked:
            yield f"{line.asked} → {line.text}"
