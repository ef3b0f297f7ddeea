"""Storing one statement for an agent that knows nothing of projects and notes: the place follows from the category."""

from __future__ import annotations

from typing import NamedTuple

from memtool.index.engine import catch_up
from memtool.recall.remembering.memory import FACT, LONGEST_FACT, Memory
from memtool.recall.remembering.remember import AlreadyKnown, by_words, remember
from memtool.vault.authors import AGENT
from memtool.vault.fact_rules import CATEGORIES
from memtool.workspace import Workspace

OTHER = "other"
STORED_CATEGORIES = (*CATEGORIES, OTHER)

_EVERYWHERE = ("identity", "preference")  # are the user's, whatever project they are told in


class Stored(NamedTuple):
    """The id under which a statement stands, whether it is *new*, and the ids of what it may contradict."""

    id: str
    new: bool
    contradicts: tuple[str, ...] = ()


def store(work: Workspace, text: str, category: str) -> Stored:
    """Write *text* as a fact of the project at hand, or of the user; a long one as a note.

    The same text in the same category, redacted, stands once.

    Raises:
        MemtoolError: it cannot be written.
    """
    memory = Memory(
        text,
        kind=FACT if len(text.strip()) <= LONGEST_FACT else "knowledge",
        category="general" if category == OTHER else category,
        project="" if category in _EVERYWHERE else None,
        source=work.session_id,
        author=AGENT,
        exact=True,
    )
    try:
        done = remember(by_words(work), memory)
    except AlreadyKnown as known:
        return Stored(known.standing.id or known.standing.path, new=False)
    catch_up(work)
    return Stored(done.id, new=True, contradicts=tuple(one.name for one in done.contradictions))
