"""The turns of a kept session for who may read its note: one as a whole, or a list; without what was forgotten."""

from __future__ import annotations

from typing import NamedTuple

from memtool.capture.session_turns import TurnRow, turn_rows, turn_text, without_forgotten
from memtool.capture.source import Source, read_source
from memtool.errors import SessionNotFound, UsageError
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.lookup import SessionPlace, find_session, forgotten_of
from memtool.index.reach import reach
from memtool.memory.agent_search import use_ready
from memtool.text.lines import without_surrogates
from memtool.vault.session_names import session_at
from memtool.workspace import Workspace


class KeptTurns(NamedTuple):
    """A session, the *rows* of its turns, and the *text* of the one that was asked for.

    *path*, *title*, *date* and *project* are those of its note.
    """

    session: str
    path: str
    title: str
    date: str
    project: str
    rows: tuple[TurnRow, ...]
    text: str = ""


def read_turns(work: Workspace, session: str, number: int = 0, *, here: str = "") -> KeptTurns:
    """Return the turns of *session*, which its id or the path of its note names, and turn *number* as a whole.

    Args:
        work: where we work.
        session: of the project *here* or of none; without it, of any that whoever asks may read.
        number: from 1; 0 for none.
        here: see above.

    Raises:
        SessionNotFound: there is none, its turns are not kept, or it was forgotten.
        UsageError: it has no turn of that number.
        MemtoolError: the vault or its index cannot be read.
    """
    name = without_surrogates(session).strip()
    name = session_at(work.vault, name) if name.endswith(".md") else name

    def look(index: Index) -> KeptTurns:
        wanted = Filter(work.now(), projects=reach(index.db, here), archived=True)
        place = find_session(index, name, wanted)
        source = read_source(work.vault, name) if place and place.status != "archived" else None
        if place is None or source is None:
            raise SessionNotFound(f"no turns of '{session}' are kept", hint="Name a session as a search does.")
        return _read(index, source, place, number)

    return use_ready(work, look)


def _read(index: Index, source: Source, place: SessionPlace, number: int) -> KeptTurns:
    if number > len(source.turns):
        raise UsageError(f"the session has {len(source.turns)} turns, and no turn {number}")
    told = without_forgotten(source, forgotten_of(index, place, source.note))
    text = turn_text(told.turns[number - 1], number) if number else ""
    return KeptTurns(source.session_id, *place[:4], tuple(turn_rows(told)), text)
