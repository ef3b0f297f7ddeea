"""Evidence that is found again: the words of a session note, known by the session, the turn and a hash. Pure.

A span of a fact names a session and the hash of a statement there. Case, white space and the marks around a statement
do not count, so that a note may be shown, merged and moved; a statement that was reworded or deleted is not found.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memtool.capture.turns import Turn
from memtool.consolidate.session_views import SessionView
from memtool.vault.authors import ASKED
from memtool.vault.session_lines import lines_of
from memtool.vault.session_rows import ARROW
from memtool.vault.sessions import read_line

_DIGITS = 16  # of a hash, in hexadecimal
_CUT = r" … |…$"
_SHORTEST = 12  # characters by which a statement is known
_MARKS = re.compile(r"[\s\"'`“”„「」*]+")


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


def hash_of_words(text: str) -> str:
    """Return the hash of the words of *text*: white space, case, quotes and code marks do not count."""
    return hashlib.sha256(_MARKS.sub("", text).casefold().encode("utf-8", "replace")).hexdigest()[:_DIGITS]


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


class Grounds:
    """The lines of a session's note by the turn that they tell of."""

    def __init__(self, view: SessionView, turns: Sequence[Turn]) -> None:
        self._view, self._turns = view, turns
        self._ending = ending_in_title(view.text)
        self._asked: dict[int, str] = {}
        for line in view.lines:
            at = self.turn_of(line.text) if line.role == ASKED else None
            if at is not None:
                self._asked.setdefault(at, line.text)

    def turn_of(self, text: str) -> int | None:
        """Return the number of the turn in which *text* was asked, as far as the note shows it."""
        head = _head(text)
        return next((at for at, turn in enumerate(self._turns) if head and turn.asked.startswith(head)), None)

    def of(self, at: int) -> Span | None:
        """Return the words of turn number *at* in the note: what was asked, else what came of it."""
        turn = self._turns[at]
        text = self._asked.get(at) or next((line.text for line in self._view.lines if _tells(turn, line.text)), "")
        if not text and len(turn.ended) >= _SHORTEST and _head(turn.ended) in self._ending:
            text = self._ending
        return Span(f"{self._view.id}#{at + 1}", text) if text else None

    def of_text(self, at: int, text: str) -> Span | None:
        """Return the line of the note that says *text*, which was said in turn number *at*."""
        lines = [*(line.text for line in self._view.lines), self._ending]
        found = next((line for line in lines if line and (text in line or line in text)), "")
        return Span(f"{self._view.id}#{at + 1}", found) if found else None


def _tells(turn: Turn, line: str) -> bool:
    """Return whether *line*, which may be cut, is something that the agent said in *turn*."""
    head = _head(line)
    return len(head) >= _SHORTEST and any(head in piece.text for piece in turn.told)


def _head(text: str) -> str:
    return re.split(_CUT, text)[0]
