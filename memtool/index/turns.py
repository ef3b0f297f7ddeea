"""Searching the kept sources of sessions, by words, for what no note says.

ask the table for the parts that hold the question's telling words   BM25, of each session its best part
keep to what the filter leaves                                       as it leaves the session's note
read the part from its source                                        without what the owner has forgotten
weigh it by the share of the question that it holds                  by idf, as the best note is weighed

A turn is given before the notes where it holds more of the question than the first of them by `_MORE`; where the notes
answer, none is. Measured in `python -m benchmarks.sources`.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import MemtoolError
from memtool.index import limits
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.lexical import share_of
from memtool.index.ranking import SearchResult
from memtool.index.turn_table import (
    TURN,
    TurnLine,
    drop_damaged,
    lines_of_turn,
    missing_sources,
    open_table,
    parts_of,
    telling_terms,
    texts_of_turn,
    turns_in,
)
from memtool.text.tokens import query_terms
from memtool.vault.layout import Vault
from memtool.vault.memory import Found, Location, Memory
from memtool.vault.sources import note_in, read_lines, source_ref

if TYPE_CHECKING:
    from memtool.index.lookup import SessionPlace

_MORE = 0.05  # of the question that a turn must hold beyond the first note
_FLOOR = 0.4  # of the question that a turn must hold at least
_COMMON = 0.25  # share of all parts; a word of more of them finds nothing


class FoundTurns(NamedTuple):
    """Turns, best first; the *idf* of the question's terms among all turns; what the user should know."""

    hits: tuple[Found, ...] = ()
    idf: Mapping[str, float] = {}
    notices: tuple[str, ...] = ()


def find_turns(index: Index, text: str, wanted: Filter, *, limit: int) -> FoundTurns:
    """Return the *limit* turns, of each session the best, that hold most of the telling words of *text*.

    The score of a hit is the share of the question that its text holds, from 0 to 1; its author wrote the line of it
    that holds most, and its path is that of the session's note.
    Only sessions count whose note *wanted* leaves; one without a note has been forgotten.
    """
    if wanted.categories or wanted.tags or (wanted.kinds and "session" not in wanted.kinds):
        return FoundTurns()
    with open_table(index.place) as db:
        found = FoundTurns()
        try:
            if db is not None:
                idf, asked = _weighed(db, query_terms(text))
                hits = _hits(index, db, _best_of_sessions(db, asked, limit), idf, wanted._replace(kinds=()))
                found = FoundTurns(tuple(islice(hits, limit)), idf)
            missing, of = missing_sources(db, index.place.vault)
        except sqlite3.DatabaseError as error:  # damaged, or written to for longer than our patience
            drop_damaged(index.place, error)
            missing, of = missing_sources(None, index.place.vault)
    notice = f"the turns of {missing:,} of {of:,} kept sessions are not searched yet; `memtool index` reads them"
    return found._replace(notices=(notice,) if missing else ())


def with_turns(index: Index, found: SearchResult, text: str, wanted: Filter, *, limit: int) -> SearchResult:
    """Return what was *found* among the notes, and the turns of sessions that answer *text* better, or only those."""
    if wanted.transcripts == "only":
        turns = find_turns(index, text, wanted, limit=limit)
        return SearchResult(turns.hits, "bm25", turns.notices)
    turns = find_turns(index, text, wanted, limit=1)
    best, covered = found.hits[0] if found.hits else None, 0.0
    if best:
        memory = best.memory
        covered = share_of(turns.idf, telling_terms(f"{memory.title} {memory.heading} {memory.text}"))
    better = [hit for hit in turns.hits if hit.score >= max(_FLOOR, covered + _MORE)]
    least = best.score if best else 0.0
    first = [hit._replace(score=round(least + (abs(least) or 1.0) * (hit.score - covered), 4)) for hit in better]
    return found._replace(hits=(*first, *found.hits)[:limit], notices=(*found.notices, *turns.notices))


def _weighed(db: sqlite3.Connection, terms: Sequence[str]) -> tuple[dict[str, float], list[str]]:
    """Return the idf, among all parts, of the rarest of *terms*, and those of them to ask for."""
    count = db.execute("SELECT coalesce(max(id), 0) FROM part").fetchone()[0]
    find = "SELECT doc FROM part_vocabulary WHERE term = ?"
    often = {term: (db.execute(find, (term,)).fetchone() or (0,))[0] for term in terms}
    rarest = sorted(often, key=often.__getitem__)[: limits.MOST_TERMS]
    idf = {term: math.log(1 + (count - often[term] + 0.5) / (often[term] + 0.5)) for term in rarest}
    known = [term for term in rarest if often[term]]
    return idf, [term for term in known if often[term] <= _COMMON * count] or known


def _hits(
    index: Index,
    db: sqlite3.Connection,
    best: Mapping[tuple[str, str], list[tuple[int, int]]],
    idf: Mapping[str, float],
    wanted: Filter,
) -> Iterator[Found]:
    """Give the best turn of each session, best first."""
    from memtool.index.lookup import find_session

    for (name, session), places in best.items():
        note = find_session(index, session, wanted)
        if note is None:
            continue
        of_places = (_turn_hit(index, db, name, note, place, idf) for place in places)
        if (hit := next(filter(None, of_places), None)) is not None:
            yield hit


def _best_of_sessions(
    db: sqlite3.Connection, terms: Sequence[str], limit: int
) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Return for the best sources and their sessions, best first, the best parts: numbers of the turn and part.

    Ten more than the *limit*: of some the owner has forgotten the words that were found.
    """
    if not terms:
        return {}
    best = "SELECT rowid AS id, -rank AS score FROM part_terms WHERE part_terms MATCH ? ORDER BY score DESC LIMIT ?"
    rows = db.execute(
        f"SELECT s.name, s.session, p.turn, p.number FROM ({best}) AS m JOIN part AS p ON p.id = m.id"
        " JOIN source AS s ON s.id = p.source_id ORDER BY m.score DESC, m.id",
        (" OR ".join(f'"{term}"' for term in terms), limits.NEAREST),
    )
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for name, session, turn, part in rows:
        found.setdefault((name, session), []).append((turn, part))
    return dict(islice(found.items(), limit + 10))


def _turn_hit(
    index: Index,
    db: sqlite3.Connection,
    session: str,
    note: SessionPlace,
    place: tuple[int, int],
    idf: Mapping[str, float],
) -> Found | None:
    """Return what stands at *place* now: None where its source has changed, or its owner has forgotten it."""
    number, at = place
    vault = index.place.vault
    try:
        content = _as_indexed(db, vault, session)
        turn = next(islice(turns_in(content), number - 1, None), None)
        part = next(islice(parts_of(lines_of_turn(turn[1])), at, None), None) if turn else None
        if turn is None or part is None:
            return None
        lines = _without_forgotten(index, note, content, turn[1], part)
    except (MemtoolError, OSError):
        return None
    if not lines:
        return None
    text = "\n".join(line.text for line in lines)
    best = max(lines, key=lambda line: share_of(idf, telling_terms(line.text)))
    score = share_of(idf, telling_terms(text))
    memory = Memory(
        note.ref, text, TURN, Location(note.ref, 1, 1), title=note.title, heading=f"turn {number}", author=best.author,
        project=note.project, category="conversation", date=note.date,
    )  # fmt: skip
    why = {"transcript": {"covered": round(score, 3)}}
    return Found(memory, round(score, 4), why, frozenset(idf), session=session, turn=number)


def _as_indexed(db: sqlite3.Connection, vault: Vault, session: str) -> bytes:
    """Return what the source of *session* holds; nothing if it has changed since its turns were read."""
    ref = source_ref(vault, session)
    about = vault.path(ref).stat() if ref else None
    known = db.execute("SELECT size, ended_at FROM source WHERE name = ?", (session,)).fetchone()
    return read_lines(vault, ref) if about and known == (about.st_size, about.st_mtime) else b""


def _without_forgotten(
    index: Index, note: SessionPlace, content: bytes, turn: Mapping[str, Any], part: Sequence[TurnLine]
) -> list[TurnLine]:
    """Return the lines of *part* but those of a text that says what was forgotten."""
    from memtool.index.lookup import forgotten_of

    gone = forgotten_of(index, note, note_in(content))
    texts = [text for _, text in texts_of_turn(turn)]
    away = {number for number in {line.of for line in part} if gone.is_in(texts[number])}
    return [line for line in part if line.of not in away]
