"""Evidence that is found again: the words of a session note, known by the session and a hash.

A span of a fact names a session and the hash of a statement there. Case, white space and the marks around a statement
do not count, so that a note may be shown, renamed, merged and moved; a statement that was reworded or deleted is not
found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from memtool.errors import MemtoolError
from memtool.vault.files import read_text
from memtool.vault.layout import Vault
from memtool.vault.scan import scan
from memtool.vault.session_names import FOLDER, note_of, session_at
from memtool.vault.sessions import Line, hash_of_words, lines_of


class Span(NamedTuple):
    """Words of a session. *source* is its id, with `#` and the turn where that is known; *place* the note's line."""

    source: str
    text: str
    place: str = ""

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.source.partition("#")[0]

    def as_field(self) -> dict[str, str]:
        """Return the span as a fact holds it."""
        return {"source": self.source, "hash": hash_of_words(self.text)}


def session_of_span(span: Mapping[str, Any]) -> str:
    """Return the id of the session that *span*, as a fact holds it, is of."""
    return str(span["source"]).partition("#")[0]


def hashes_of(lines: Iterable[Line]) -> frozenset[str]:
    """Return the hashes of all statements of a session note with *lines*."""
    return frozenset(hash_of_words(text) for line in lines for text in _statements(line))


def _statements(line: Line) -> Iterator[str]:
    yield line.text
    if line.asked:
        yield f"{line.asked} → {line.text}"


def hashes_by_session(vault: Vault, sessions: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the hashes of the notes of *sessions*, by their ids, wherever the owner has put them."""
    found: dict[str, frozenset[str]] = {}
    wanted = set(sessions)
    for ref in chain((note_of(vault, session) for session in wanted), _notes(vault)):
        if found.keys() == wanted:
            break
        if (session := session_at(vault, ref)) in wanted and session not in found:
            with suppress(MemtoolError, OSError):
                found[session] = hashes_of(lines_of(read_text(vault.path(ref))[0]))
    return found


def _notes(vault: Vault) -> Iterator[str]:
    """Give the paths of all notes, those of sessions first; nothing is looked up before one is wanted."""
    refs = scan(vault.root).stamps
    yield from sorted((ref for ref in refs if ref.endswith(".md")), key=lambda ref: FOLDER not in ref)


def missing_spans(spans: Iterable[Mapping[str, Any]], notes: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the sources of those *spans* whose words are gone from their session.

    *notes* holds the hashes of each session by its id. A session of which nothing is known counts as missing.
    """
    return [
        str(span["source"]) for span in spans if span.get("hash") not in notes.get(session_of_span(span), frozenset())
    ]
