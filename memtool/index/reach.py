"""Whose chunks may surface unasked: those of the project at hand, of none, and of those that somebody names.

Search, prompts, routes and the interfaces for agents all ask here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtool.text.scripts import is_unspaced
from memtool.text.tokens import fold

if TYPE_CHECKING:
    from memtool.index.tables import Tables

# One step of the index for each project: `SELECT DISTINCT` would walk over all chunks.
_PROJECTS = """
WITH RECURSIVE each (name) AS (
    SELECT min(project) FROM chunk
    UNION ALL SELECT (SELECT min(project) FROM chunk WHERE project > name) FROM each WHERE name IS NOT NULL
)
SELECT name FROM each WHERE name <> ''
"""


def reach(db: Tables, here: str, text: str = "") -> tuple[str, ...]:
    """Return the projects whose chunks may surface, as a `Filter` takes them: an empty name is that of none.

    Args:
        db: an open index.
        here: the project at hand; without one, everything may surface, and the answer is empty.
        text: what somebody says; it asks for the projects that it names.
    """
    if not here:
        return ()
    others = (name for name in projects_in(db) if name.casefold() != here.casefold()) if text else ()
    return (here, "", *(name for name in others if is_named(name, text)))


def projects_in(db: Tables) -> list[str]:
    """Return the names of the projects that the index *db* holds anything of."""
    return [row[0] for row in db.execute(_PROJECTS)]


def is_named(project: str, text: str) -> bool:
    """Return whether *text* holds the name of *project* as a whole, whatever its case.

    A name of less than three characters, or two where words have no spaces, asks for nothing.
    """
    name, text = fold(project), fold(text)
    at = text.find(name) if len(name) >= 3 - any(map(is_unspaced, name)) else -1
    while at >= 0:
        around = (text[at - 1 : at], name[:1]), (text[at + len(name) :][:1], name[-1:])
        if not any(_goes_on(beside, edge) for beside, edge in around):
            return True
        at = text.find(name, at + 1)
    return False


def _goes_on(beside: str, edge: str) -> bool:
    """Return whether a word, or a name with dashes, goes on from *edge* to the character *beside* it."""
    spaced = not is_unspaced(beside) and not is_unspaced(edge) if beside else False
    return spaced and (beside.isalnum() or beside in "_-")
