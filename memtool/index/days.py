"""Daily pages among the hits of a search: each yields to the sessions that it links to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtool.text.markdown import find_links
from memtool.vault.layout import DAILY

if TYPE_CHECKING:
    from memtool.index.tables import Tables

_LOOKED_AT = 20  # hits, the best: a session further down was hardly meant


def sessions_of_days(db: Tables, best_first: Sequence[int]) -> dict[int, int]:
    """Return for each chunk of a daily page among the best of *best_first* the chunk of a session to which it yields.

    That is the best one of a session to which the page links. A page lists the files of a day and the names of its
    sessions: it often holds the words of the query, and says less about them than the session does.
    """
    best = best_first[:_LOOKED_AT]
    rows = db.execute(
        "SELECT c.id, c.note_id, c.kind, n.ref FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
        f" WHERE c.id IN ({', '.join(map(str, best))})"
    ).fetchall()
    pages = {chunk_id: note_id for chunk_id, note_id, kind, _ in rows if kind == DAILY}
    linked = _links(db, set(pages.values())) if pages else {}
    names = {chunk_id: ref.rpartition("/")[2] for chunk_id, _, _, ref in rows}
    found = {page: next((each for each in best if names[each] in linked[note]), page) for page, note in pages.items()}
    return {page: session for page, session in found.items() if session != page}


def _links(db: Tables, pages: set[int]) -> dict[int, set[str]]:
    """Return the names of the files that each of *pages* links to."""
    linked: dict[int, set[str]] = {page: set() for page in pages}
    rows = db.execute(f"SELECT note_id, text FROM chunk WHERE note_id IN ({', '.join(map(str, pages))})")
    for page, text in rows:
        linked[page] |= {target.rpartition("/")[2] for _, target in find_links(text)}
    return linked
