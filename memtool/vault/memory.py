"""`Memory`, with the same field names everywhere; `NewMemory` is one to be written, `Found` one that was searched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtool.named_tuple import NamedTuple
from memtool.vault.authors import AGENT


class Location(NamedTuple):
    """Lines of a file of the vault, counted from 1, both included; without lines, all of it."""

    path: str
    start_line: int = 0
    end_line: int = 0


class Memory(NamedTuple):
    """A fact, a note, a passage or a line of a note, or a turn of a kept session.

    Args:
        id: names it in every interface: the id of a fact, the path of a note.
        text: what it says; of a fact that was searched, its evidence too, in the lines below.
        kind: a key of `memtool.vault.kinds.KINDS`, or `transcript`.
        place: the file and its lines. A file outside the vault has an absolute path.
        title: of the note.
        heading: the headings above a passage, joined by ` > `; of a fact, its summary.
        role: of a line of a session's note (`memtool.vault.authors`).
        author: who said it; empty if that is not known.
        project: its name; empty for none.
        category: one of `memtool.vault.kinds.CATEGORIES`.
        date: ISO, of an event with the minute if that is known; empty if it is not known.
        tags: without `#`.
        expires: the last day on which it holds, or the moment until which it does; empty for ever.
        status: `superseded` or `archived`; empty while it holds.
        version: a hash of what was read; a change of anything else is refused. Empty where nothing is to be changed.
    """

    id: str
    text: str
    kind: str
    place: Location
    title: str = ""
    heading: str = ""
    role: str = ""
    author: str = ""
    project: str = ""
    category: str = ""
    date: str = ""
    tags: tuple[str, ...] = ()
    expires: str = ""
    status: str = ""
    version: str = ""

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.place.path

    @property
    def day(self) -> str:
        """The day of its date."""
        return self.date[:10]

    @property
    def minute(self) -> str:
        """The minute of its date, such as 14:30; empty where only the day is known."""
        return self.date[11:16]

    @property
    def at_version(self) -> str:
        """The id with the version that was read, as a change names them; the id alone without a version."""
        return f"{self.id}@{self.version}" if self.version else self.id

    @property
    def key(self) -> str:
        """Its key in ledgers and counts: a fact may move to another file, and counts anew there."""
        return f"{self.place.path}#{self.fact_id}" if self.fact_id else self.place.path

    @property
    def fact_id(self) -> str:
        """The id of a fact; empty for notes, and for a fact without one, which bears the path of its file."""
        return self.id if self.kind == "fact" and self.id != self.place.path else ""


class NewMemory(NamedTuple):
    """A memory before it is written, and how to write it.

    Args:
        text: the statement, or the body of the note.
        kind: `fact`, `todo`, or a kind of note that can be saved (`FOLDERS`).
        project: its name; None is that of the working folder, empty none.
        expires: the last day on which it holds, or the moment until which it does.
        source: a session with its turn (`3f2a9c#4`), the path of a note, or a commit.
        author: one of `memtool.vault.authors.AUTHORS`; empty if that is not known.
        supersedes: the id of the fact that it replaces.
        force: whether it is written although a memory says the same already.
        exact: whether only the same text in the same category counts as the same, and not other words for it.
        type: of an open item, one of `memtool.vault.todos.TYPES`.
        due: the day by which an open item is to be done.
        summary: a few words for lists.
        anchors: the files that a fact speaks of, each with its path in the project and its git blob id.
    """

    text: str
    kind: str = "fact"
    category: str = ""
    project: str | None = None
    tags: tuple[str, ...] = ()
    expires: str = ""
    evidence: str = ""
    source: str = ""
    author: str = ""
    supersedes: str = ""
    force: bool = False
    exact: bool = False
    type: str = ""
    due: str = ""
    summary: str = ""
    anchors: tuple[Mapping[str, str], ...] = ()


class Line(NamedTuple):
    """One statement of a session's note: one memory.

    Args:
        text: plain, without bullet, quotation marks, check box and author.
        role: `asked`, `decision`, `rule`, `fix`, `finding`, `refuted`, `open` or `command`; empty for what came of a
            turn, where no role is claimed. Read from a note, also `title` and `summary`.
        author: `user`, `agent`, `tool` or `imported`.
        turn: of the source, from 1; 0 if unknown.
        number: of the line of the file, from 1; 0 before it is printed.
        asked: the beginning of the prompt that it answers, as it is shown.
    """

    text: str
    role: str = ""
    author: str = AGENT
    turn: int = 0
    number: int = 0
    asked: str = ""


class Found(NamedTuple):
    """A memory that was found.

    Args:
        memory: of a note, the passage that answers best.
        score: the higher, the better; comparable within one search.
        why: the parts of the score, by name.
        terms: the folded words that it was found by.
        shown: what a snippet is made of, where that is not all of its text.
        session, turn: of a turn of a kept session, whose note is the memory's place.
        statements: of the note or the session, those that answer, whole, in its order.
        likelihood: from 0 to 1, that a reader finds it worth reading; 1 where nothing was asked.
    """

    memory: Memory
    score: float = 0.0
    why: Mapping[str, Any] = {}
    terms: frozenset[str] = frozenset()
    shown: str = ""
    session: str = ""
    turn: int = 0
    statements: tuple[Line, ...] = ()
    likelihood: float = 1.0
