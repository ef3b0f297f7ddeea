"""The answer of memory to a question: the memories that fit, each with the statements that answer."""

from __future__ import annotations

from memtool.named_tuple import NamedTuple
from memtool.vault.sessions import Line

SESSION, NOTE, FACT, TRANSCRIPT = "session", "note", "fact", "transcript"


class Budget(NamedTuple):
    """The room of an interface.

    Args:
        characters: of all statements together.
        notes: memories at most.
        statements: of one memory at most.
        first: share of the room that the first memory may fill.
        fills: whether a session may say more than what has words of the question, as far as there is room.
    """

    characters: int
    notes: int
    statements: int
    first: float = 1.0
    fills: bool = False


PRINTED = Budget(2_300, notes=5, statements=12, first=0.44)  # a page of `memtool search`
TO_AGENT = Budget(4_500, notes=5, statements=30, first=0.4, fills=True)  # a page of the tool `context_search`
IN_FIELDS = Budget(4_000, notes=5, statements=3, first=0.3)  # a page of the service, and of its viewer
LISTED = Budget(100_000, notes=20, statements=3)  # what there is, without a question


class MemoryAnswer(NamedTuple):
    """A memory that answers.

    Args:
        ref: its path in the vault.
        title: of the note; of a session, what came of it.
        date: ISO; empty if unknown.
        project: empty for none.
        kind: `SESSION`, `NOTE`, `FACT` or `TRANSCRIPT`.
        statements: those that answer, whole, in the order of the note.
        files: names of files that matter and that no statement names.
        likelihood: from 0 to 1, that a reader finds it worth reading.
    """

    ref: str
    title: str
    date: str
    project: str
    kind: str
    statements: tuple[Line, ...] = ()
    files: tuple[str, ...] = ()
    likelihood: float = 0.0
