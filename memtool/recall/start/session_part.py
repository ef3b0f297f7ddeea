"""What a block shows of sessions: lines that hold of all of them, and the last ones, on as few lines as can be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from memtool.recall.budget import JOINED, BlockLine, BlockPart
from memtool.recall.framing import defused
from memtool.recall.ledger import key_of
from memtool.recall.start.excerpt import clipped
from memtool.recall.start.last_sessions import PastSession, Said, is_stump, told_in, whole_part
from memtool.text.lines import cut, tokens_in, width
from memtool.vault.memory import ASKED, COMMAND

_MOST_ROOM, _LEAST_ROOM, _ROOM_TO_KNOW = 2_000, 100, 400  # columns of a session; by the last one what is given is known
_COLUMNS, _ID = 4, 3  # of a token, in scripts with spaces; tokens of a short id
_WIDEST_BULLET, _ROUND = 420, 12  # columns of statements on one line, and around each
_SHORT_NAME, _NAME_OF_LINE = 8, 24  # characters; of a name with its day, beside a line
_DATED = re.compile(r"\d{4}-\d\d-\d\d-")  # a name of words: its beginning is that of others, too


def lines_part(found: Sequence[Said], share: float, most: int, replaces: str = "") -> BlockPart:
    """Return the first *most* lines *found* in sessions; *replaces* says what stood in the place of one."""
    lines = tuple(_said(said, replaces) for said in found[:most])
    return BlockPart("", "sessions/", "", share, (lines,), left_out=len(found[most:]))


def _said(said: Said, replaces: str) -> BlockLine:
    line, day, name = said.line, said.when[:10], _short_name(said.ref)[:_NAME_OF_LINE]
    text = f"`{defused(line.text)}`" if line.role == COMMAND else clipped(line.text)
    old, author = said.replaces, "" if line.role == COMMAND else line.author
    note = replaces.format(old=clipped(old.line.text), date=old.when[:10]) if old else ""
    about = ", ".join(filter(None, (author, day, note)))
    place = f"{said.ref}:{line.number}"
    return BlockLine(f"- {text} ({about})", place, name, said=line.text, when=said.when, author=line.author, note=note)


def _short_name(ref: str) -> str:
    """Return the beginning of the name of a session's note, which is enough to find it."""
    name = defused(ref.rpartition("/")[2].removesuffix(".md"))
    return name if _DATED.match(name) else cut(name, _SHORT_NAME + 1)


def sessions_part(sessions: Sequence[PastSession], bullets: int, how_to_read: str) -> BlockPart:
    """Return the *sessions* as whole notes made smaller, whatever the room is, on at most so many *bullets*."""
    made_for = partial(_within, sessions, bullets)
    return BlockPart("", "sessions/", how_to_read, 0.4, (_told(sessions, _ROOM_TO_KNOW),), made_for=made_for)


def bullets_at_most(sessions: Sequence[PastSession]) -> int:
    """Return how many bullets *sessions* take where there is room for all."""
    return bullets_in(_told(sessions, _MOST_ROOM))


def bullets_in(lines: Iterable[BlockLine]) -> int:
    """Return how many of *lines* begin a line of a list."""
    return sum(line.text.lstrip().startswith("- ") for line in lines)


def _within(sessions: Sequence[PastSession], bullets: int, tokens: int) -> tuple[BlockLine, ...]:
    """Return as much of each of *sessions* as takes at most so many *bullets* and *tokens*."""
    room = min(_MOST_ROOM, tokens * _COLUMNS // len(sessions))
    while True:
        lines = _told(sessions, room)
        fits = sum(tokens_in(f"\n{line}") + _ID for line in lines) <= tokens and bullets_in(lines) <= bullets
        if fits or room < _LEAST_ROOM:
            return lines  # of which the first are given where not even these have room
        room = room * 9 // 10


def _told(sessions: Sequence[PastSession], room: int) -> tuple[BlockLine, ...]:
    return tuple(line for session in sessions for line in _session(session, room))


def _session(session: PastSession, room: int) -> Iterator[BlockLine]:
    """Give the lines about *session*: its title, and behind it what came of it."""
    title, *lines = told_in(session, room)
    head = f"- {session.when.strip()} {clipped(title.text)}".rstrip()
    yield BlockLine(head, session.ref, _short_name(session.ref), key_of(session.ref))
    taken, above = width(head), ""
    session_asked = " ".join(line.text for line in lines if line.role == ASKED)
    for line in lines:
        asked = whole_part(line.asked) if line.asked != above else ""
        asked = "" if asked in session_asked or is_stump(asked) else asked
        above = line.asked
        columns = width(asked) + width(line.text) + _ROUND
        begins = JOINED if taken + columns <= _WIDEST_BULLET else "  - "
        taken = columns + (taken if begins == JOINED else 0)
        if asked:
            yield BlockLine(f"{begins}*{clipped(asked)}*", session.ref)
            begins = JOINED
        said = f"“{clipped(line.text)}”" if line.role == ASKED else clipped(line.text)
        yield BlockLine(f"{begins}{said}", f"{session.ref}:{line.number}", said=line.text)
