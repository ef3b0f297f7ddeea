"""Evidence that is found again: the words of a session note, known by the session and a hash.

A span of a fact names a session and the hash of a statement there. Case, white space and the marks around a statement
do not count, so that a note may be shown, renamed, merged and moved; a statement that was reworded or deleted is not
found.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from memtool.errors import MemtoolError
from memtool.text.frontmatter import plain_fields, split_front_matter
from memtool.vault.files import read_text
from memtool.vault.layout import Vault, session_ref
from memtool.vault.sessions import Line, hash_of_words, lines_of

_FOLDERS = ("sessions", "archive/sessions")


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


def session_of(span: Mapping[str, Any]) -> str:
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
    """Return the hashes of the notes of *sessions*, by their ids, archived or not; a note may have any name."""
    found: dict[str, frozenset[str]] = {}
    left = set(sessions)
    for refs in ([session_ref(session) for session in left], _names(vault)):
        for ref in refs if left else ():
            for folder in _FOLDERS:
                with suppress(MemtoolError, OSError):
                    text = read_text(vault.path(f"{folder}/{ref.rpartition('/')[2]}"))[0]
                    if (session := id_in(text, ref)) in left:
                        found[session] = hashes_of(lines_of(text))
                        left.discard(session)
    return found


def id_in(text: str, ref: str) -> str:
    """Return the id of the session whose note has that *text*: that of its front matter, else its name."""
    matter = split_front_matter(text.removeprefix("\ufeff"))[0]
    return (plain_fields(matter).get("session", "") if matter else "") or ref.rpartition("/")[2].removesuffix(".md")


def _names(vault: Vault) -> list[str]:
    names: set[str] = set()
    for folder in _FOLDERS:
        with suppress(MemtoolError, OSError):
            names |= {name for name in os.listdir(vault.path(folder)) if name.endswith(".md")}  # noqa: PTH208
    return sorted(names)


def missing_spans(spans: Iterable[Mapping[str, Any]], notes: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the sources of those *spans* whose words are gone from their session.

    *notes* holds the hashes of each session by its id. A session of which nothing is known counts as missing.
    """
    return [str(span["source"]) for span in spans if span.get("hash") not in notes.get(session_of(span), frozenset())]
