"""The last sessions of a project, as the daily notes list them, and what their notes say that still stands."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence, Set as AbstractSet
from typing import NamedTuple

from memtool.recall.start.excerpt import names_in, read_bytes
from memtool.recall.start.last_word import LastWord
from memtool.text.lines import shortened, width
from memtool.text.similarity import is_said, words
from memtool.vault.daily import DailySession, listed_sessions
from memtool.vault.layout import Vault
from memtool.vault.session_lines import ASKED, OPEN, Line, lines_of, read_values
from memtool.vault.session_rows import Row, fit_rows, parse_row
from memtool.vault.sessions import USER, SessionNote, parse_session

_MOST_DAYS = 180  # daily notes that are looked at, however long ago they were written
_LARGEST_DAY, _LARGEST_NOTE = 262_144, 65_536  # bytes
_DAY = r"\d{4}-\d\d-\d\d(?:\.memtool)?\.md"
_TOPIC_SHARE, _SHORTEST_TOPIC = 0.35, 60  # of the room of a session, and columns, that its topic may take
_LEAST_ROW = 170  # columns of room that each row needs: fewer rows than in the note, but not cut as short
_SAID = 0.7  # share of an open item's words by which a later line shows that it was taken up


class PastSession(NamedTuple):
    """A session and what its note says. *rows* are what was asked and what came of it."""

    day: str
    minute: str
    ref: str
    note: SessionNote
    lines: tuple[Line, ...]
    rows: tuple[Row, ...]


class Said(NamedTuple):
    """A line of a session, and when and where it was said."""

    day: str
    ref: str
    line: Line


def last_sessions(vault: Vault, project: str, most: int, besides: str = "") -> list[tuple[str, DailySession, str]]:
    """Return the day, the entry and the path of the note of each of the last *most* sessions, newest first.

    Sessions whose notes are gone are left out, and so is the one of the note *besides*.
    """
    found: dict[str, tuple[str, DailySession, str]] = {}
    for name in names_in(vault, "daily", _MOST_DAYS):
        if len(found) >= most:
            break
        for session in _sessions_of(vault, name) if re.fullmatch(_DAY, name) else ():
            ref = f"sessions/{session.session_id}.md"
            if session.project == project and ref != besides and (vault.root / ref).is_file():
                found.setdefault(ref, (name[:10], session, ref))
    return list(found.values())[:most]


def read_sessions(vault: Vault, project: str, most: int, besides: str = "") -> list[PastSession]:
    """Return the last *most* sessions, newest first, without what a later line takes back."""
    sessions = []
    last_word = LastWord()
    for day, entry, ref in last_sessions(vault, project, most, besides):
        content, _ = read_bytes(vault, ref, _LARGEST_NOTE) or (b"", 0.0)
        text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(content)
        note, values = parse_session(text), read_values(vault, ref)
        rows = (
            parse_row(f"[{point.kind}] {point.text}" if point.kind else point.text, values) for point in note.key_points
        )
        session = PastSession(day, entry.minute, ref, note, tuple(lines_of(text)), tuple(rows))
        sessions.append(_standing(session, last_word))
    return sessions


def _standing(session: PastSession, last_word: LastWord) -> PastSession:
    """Return *session* without what the user takes back later on, in it or in a later session."""
    lines = [line for line in reversed(session.lines) if last_word.lets_stand(line.text, by_user=line.author == USER)]
    stand = {line.text for line in lines}
    rows = (_standing_row(row, stand, last_word) for row in session.rows)
    topic = session.note.topic
    is_own_word = any(line.role == ASKED and line.text in topic for line in lines)
    if not (is_own_word or last_word.lets_stand(topic)):
        topic = ""
    return session._replace(
        note=session.note._replace(topic=topic),
        lines=tuple(reversed(lines)),
        rows=tuple(row for row in rows if row.asked or row.pieces),
    )


def _standing_row(row: Row, stand: AbstractSet[str], last_word: LastWord) -> Row:
    pieces = (piece for piece in row.pieces if piece.text.strip('"') in stand or last_word.lets_stand(piece.text))
    return row._replace(asked=row.asked if row.asked in stand else "", pieces=tuple(pieces))


def said_as(sessions: Iterable[PastSession], role: str) -> list[Said]:
    """Return the lines of this *role*, newest first, each that says something of its own."""
    found: list[Said] = []
    told: list[frozenset[str]] = []
    for session in sessions:
        for line in reversed(session.lines):
            if line.role == role and not is_said(words(line.text), told):
                found.append(Said(session.day, session.ref, line))
                told.append(words(line.text))
    return found


def still_open(sessions: Sequence[PastSession]) -> list[Said]:
    """Return the open items that no later session took up, newest first."""
    later: list[frozenset[str]] = []
    found = []
    for session in sessions:
        items = [Said(session.day, session.ref, line) for line in session.lines if line.role == OPEN]
        found += [item for item in items if not is_said(words(item.line.text), later, _SAID)]
        later += [words(line.text) for line in session.lines]
        later.append(words(session.note.topic))
    return found


def told_in(session: PastSession, room: int) -> tuple[str, list[Row]]:
    """Return what *session* was about, and as much of what came of it as fits into *room* columns."""
    topic = shortened(session.note.topic, max(_SHORTEST_TOPIC, int(_TOPIC_SHARE * room)))
    rows = fit_rows(session.rows, room - width(topic), [topic], least_row=_LEAST_ROW)
    return topic, rows


def _sessions_of(vault: Vault, name: str) -> list[DailySession]:
    """Return the sessions of one day, latest first."""
    found = read_bytes(vault, f"daily/{name}", _LARGEST_DAY)
    if found is None or b"](../sessions/" not in found[0]:
        return []
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(found[0])
    latest_first = reversed(listed_sessions(text))  # of one minute, too
    return sorted(latest_first, key=lambda session: session.minute, reverse=True)
