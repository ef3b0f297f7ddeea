"""The kinds and categories of memories: one row each, and a new one needs no more than its row."""

from __future__ import annotations

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
