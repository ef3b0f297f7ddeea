"""What was forgotten of a session, as its note and the index know it: it is given back from no turn of it either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from memtool.vault.files import read_text
from memtool.vault.forgotten import ForgottenTexts, is_forgotten
from memtool.vault.hand_edits import forgotten_in

if TYPE_CHECKING:
    from memtool.index.engine import Index
    from memtool.index.lookup import SessionPlace
    from memtool.index.tables import Tables

_ARCHIVED = 500  # facts and notes
_DEEPEST = 8  # of a note as it is kept


def forgotten_of(index: Index, place: SessionPlace, kept: Mapping[str, Any]) -> ForgottenTexts:
    """Return what was forgotten of the session with the note at *place*, which memtool had written as *kept*.

    That is what bears a mark of the note, and the facts and notes of its project that are not given any more.
    """
    return forgotten_of_note(index.db, place.project, read_text(index.place.vault.path(place.ref))[0], kept)


def forgotten_of_note(
    db: Tables, project: str, note: str, kept: Mapping[str, Any] = MappingProxyType({})
) -> ForgottenTexts:
    """Return what was forgotten of the session of *project* whose note is the text *note*."""
    marks = tuple(forgotten_in(note))
    lines = [text for text in _texts(kept, _DEEPEST) if is_forgotten(text, marks)] if marks else []
    return ForgottenTexts(marks, [*lines, *_archived(db, project)])


def _texts(value: object, depth: int) -> Iterator[str]:
    """Give the texts in *value*, which JSON knows, down to a *depth*."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list) and depth:
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each, depth - 1)


def _archived(db: Tables, project: str) -> Iterator[str]:
    """Give the facts and the titles of notes, of *project* and of none, that are archived by their status."""
    rows = db.execute(
        "SELECT c.fact_id, c.text, n.title FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        " WHERE c.project IN (?, '') AND c.status = 'archived' AND c.kind <> 'session' ORDER BY c.id DESC LIMIT ?",
        (project, _ARCHIVED),
    )
    for fact_id, text, title in rows:
        yield text.partition("\n")[0] if fact_id else title
