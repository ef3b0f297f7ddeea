"""A memory: its kinds, its categories, its authors and roles, and the values that carry one.

`Memory` has the same field names everywhere; `NewMemory` is one to be written, `Found` one that was searched. A new
kind or category needs no more than its row.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

from memtool.named_tuple import NamedTuple


class Kind(NamedTuple):
    """A kind of memory. `note` is what a note is whose place and front matter name no other.

    Args:
        category: of a note that names none in its front matter.
        scope: the scope of `context_search` that finds it; without one, only `all` does.
        folder: below a project's folder, with one note for each memory.
        area: the folder below `areas/` whose `summary.md` files are of this kind.
        file: the one file of this kind, which memtool itself reads and writes; it cannot be forgotten as a whole.
        is_saved: whether users and agents can save notes of this kind (`remember --kind`, `context_save`).
        is_page: whether it describes something that lasts, so that it is no event of a day.
        label: its English name on the page; empty where that is the name of the kind.
    """

    category: str = "general"
    scope: str = "knowledge"
    folder: str = ""
    area: str = ""
    file: str = ""
    is_saved: bool = False
    is_page: bool = False
    label: str = ""


FACT, NOTE, TODO, KNOWLEDGE, SESSION, DECISION = "fact", "note", "todo", "knowledge", "session", "decision"

KINDS = {
    "session": Kind("conversation", "sessions"),
    "daily": Kind("conversation", "sessions", label="day"),
    "project": Kind("project", area="projects", file="summary.md", is_page=True),
    "rules": Kind("preference", file="rules.md", is_page=True),
    "pattern": Kind("code", area="patterns", is_page=True),
    "tool": Kind("configuration", area="tools", is_page=True),
    "decision": Kind("decision", "decisions", "decisions", is_saved=True),
    "change": Kind("code", "changes", "changes", is_saved=True),
    "knowledge": Kind("research", folder="knowledge", is_saved=True),
    "memory": Kind("preference", file="MEMORY.md", is_page=True),
    "todo": Kind("project", "", file="todos.md", is_page=True, label="to do"),
    "schema": Kind("architecture", folder="schema", is_page=True),
    "fact": Kind(),
    "note": Kind(),
}
FOLDERS = {name: kind.folder for name, kind in KINDS.items() if kind.is_saved}  # of notes that can be saved
PAGES = tuple(name for name, kind in KINDS.items() if kind.is_page)


class Category(NamedTuple):
    """The *weight* of a category in a ranking, and the *days* after which its recency has fallen to 1/e."""

    weight: float
    days: int


# Prompts, searches for an agent and the service all rank by this table; configuration, entity and fact count as the
# categories nearest to them.
CATEGORIES = {
    "identity": Category(1.0, 3_650),
    "preference": Category(0.9, 365),
    "decision": Category(0.9, 180),
    "architecture": Category(0.8, 180),
    "project": Category(0.8, 90),
    "research": Category(0.8, 365),
    "code": Category(0.6, 90),
    "configuration": Category(0.6, 90),
    "bug": Category(0.6, 90),
    "conversation": Category(0.3, 30),
    "entity": Category(0.5, 60),
    "fact": Category(0.5, 60),
    "general": Category(0.5, 60),
}

USER, AGENT, TOOL, IMPORTED = "user", "agent", "tool", "imported"
DECISION, RULE, DONE, COMMAND, OPEN, ASKED = "decision", "rule", "done", "command", "open", "asked"
FIX, FINDING, REFUTED, TITLE, SUMMARY = "fix", "finding", "refuted", "title", "summary"
AUTHORS = (USER, AGENT, TOOL, IMPORTED)
STANDING = frozenset({"identity", "preference", "decision"})  # categories that the output of a tool never takes

_TRUST = {USER: 2, TOOL: 0}
_SIGNATURE = rf"[ \t]*[(（]({'|'.join(AUTHORS)})[)）](?=(?:[ \t]+#[^\s#]+)*$)"  # tags may follow


def trust(author: str) -> int:
    """Return how much the word of *author* counts: that of the user most, that of a tool's output least.

    Of two who count the same, the newer word holds.
    """
    return _TRUST.get(author, 1)


def named(author: str) -> str:
    """Return the name of *author* for an agent; empty for `imported` and for unknown ones."""
    return {USER: USER, AGENT: AGENT, TOOL: "tool output"}.get(author, "")


def standing_category(category: str, author: str) -> str:
    """Return *category*; of a tool's output, `general` in place of decision, preference and identity."""
    return "general" if author == TOOL and category in STANDING else category


def signed_by(text: str) -> tuple[str, str]:
    """Return a line of a note without the author at its end, such as `(user)`, and that author; empty if none is."""
    if not any(author in text for author in AUTHORS):  # compiling the pattern would take longer
        return text, ""
    match = re.search(_SIGNATURE, text)
    return (text[: match.start()] + text[match.end() :], match[1]) if match else (text, "")


def is_past(expires: str, now: dt.datetime) -> bool:
    """Return whether *expires*, a last day or a moment in ISO 8601, is over; an empty text never is.

    A moment without an offset is of the zone of *now*.
    """
    if len(expires) > len("2026-02-10"):
        try:
            moment = dt.datetime.fromisoformat(expires)
        except ValueError:
            return expires[:10] < now.date().isoformat()
        return (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)) <= now
    return bool(expires) and expires < now.date().isoformat()


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
        kind: a key of `KINDS`, or `transcript`.
        place: the file and its lines. A file outside the vault has an absolute path.
        title: of the note.
        heading: the headings above a passage, joined by ` > `; of a fact, its summary.
        role: of a line of a session's note, such as `DECISION`.
        author: who said it; empty if that is not known.
        project: its name; empty for none.
        category: one of `CATEGORIES`.
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
        author: one of `AUTHORS`; empty if that is not known.
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
