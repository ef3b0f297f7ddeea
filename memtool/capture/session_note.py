"""The note of a session, from its transcript's figures and its summary: about 2 KB, whatever the transcript's size."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import date, datetime, tzinfo
from pathlib import Path

from memtool.capture.conversation import Conversation
from memtool.capture.summary import Summary
from memtool.clients import CLAUDE_CODE
from memtool.text.lines import one_line, shortened, width
from memtool.vault.daily import DailySession
from memtool.vault.project_area import shown_path
from memtool.vault.session_rows import fit_rows
from memtool.vault.sessions import KeyPoint, SessionNote, render_session, session_ref

LARGEST = 2_048  # bytes of the rendered note; of a Chinese character only two count, as it takes two columns
_ROOM, _ROOM_OF_TURN = 1_100, 90  # columns of rows: a short session needs fewer

_HEADING = 36  # columns that the section of rows takes beside them

_MOST_FILES, _MOST_ITEMS, _MOST_TAGS = 4, 12, 4
_WIDEST_TOPIC, _WIDEST_ITEM, _WIDEST_DECISION, _WIDEST_OPEN = 330, 240, 360, 340  # columns
_WIDEST_PATH, _WIDEST_NAME, _WIDEST_TAG = 36, 120, 40
_DAILY_TOPIC = 160

# Where a note is too large, the least important item goes first: the last of the first list that is longer than this.
_SHORTER = (("files", 6), ("key_points", 6), ("done", 2), ("files", 3), ("decisions", 3), ("rules", 3), ("open", 3),
            ("key_points", 3), ("files", 0), ("done", 0), ("decisions", 1), ("rules", 1), ("open", 1), ("commands", 0),
            ("key_points", 0), ("rows", 0), ("rules", 0), ("decisions", 0), ("open", 0))  # fmt: skip


def session_note(
    conversation: Conversation,
    summary: Summary,
    files: Sequence[str],
    turns: int,
    *,
    project: str,
    root: Path | None,
    home: Path,
    now: datetime,
    zone: tzinfo | None = None,
) -> SessionNote:
    """Return the note of a session, small enough that its text has at most LARGEST bytes.

    Args:
        conversation: what its times and its folder are taken from.
        summary: what its sections are taken from.
        files: absolute paths of what was edited, in order.
        turns: how many the session had: longer ones may fill more of the room.
        project: the name of its area; empty if it belongs to none.
        root: the project's folder, to which files are named relative.
        home: the user's home folder, written `~`.
        now: when the session ended, if the transcript does not say.
        zone: the time zone of the note; this machine's if None.
    """
    last = _span(conversation, now, zone)[1]
    shown = dict.fromkeys(_last_parts(shown_path(os.path.normpath(file), root, home)) for file in files)
    named = [file for file in shown if file][:_MOST_FILES]
    note = SessionNote(
        id=session_ref(conversation.session_id).removeprefix("sessions/").removesuffix(".md"),
        project=one_line(project),
        updated=last.replace(tzinfo=None).isoformat(" ", "minutes"),
        directory=_directory(conversation.cwd, home),
        branch="" if summary.topic.startswith(f"{conversation.branch}: ") else one_line(conversation.branch),
        topic=shortened(summary.topic or conversation.title, _WIDEST_TOPIC),
        key_points=tuple(filter(None, map(_short_point, summary.key_points[:_MOST_ITEMS]))),
        files=tuple(named),
        more_files=len(dict.fromkeys(files)) - len(named) if named else 0,  # "and 1 more" than nothing says nothing
        decisions=_short_items(summary.decisions, _WIDEST_DECISION),
        rules=_short_items(summary.rules),
        done=_short_items(summary.done),
        commands=_short_items(summary.commands),
        open=_short_items(summary.open, _WIDEST_OPEN),
        client="" if conversation.client == CLAUDE_CODE else conversation.client,
    )
    return _fitted(_with_rows(note, summary, turns))


def daily_sessions(
    conversation: Conversation, note: SessionNote, *, now: datetime, zone: tzinfo | None = None
) -> dict[date, DailySession]:
    """Return the line of the session for the daily notes of its first day and of its last."""
    topic = shortened(note.topic, _DAILY_TOPIC)
    return {
        at.date(): DailySession(at.strftime("%H:%M"), note.project, note.id, topic)
        for at in _span(conversation, now, zone)
    }


def _with_rows(note: SessionNote, summary: Summary, turns: int) -> SessionNote:
    if not summary.rows:
        return note
    room = min(LARGEST - _size(note) - _HEADING, _ROOM + _ROOM_OF_TURN * turns)
    said = [note.topic, *note.decisions, *note.rules, *note.open]
    rows = fit_rows(summary.rows, room, said)
    while rows and (over := _size(note._replace(rows=tuple(rows))) - LARGEST) > 0:
        room -= max(8, over)
        rows = fit_rows(summary.rows, room, said)
    return note._replace(rows=tuple(rows))


def _span(conversation: Conversation, now: datetime, zone: tzinfo | None) -> tuple[datetime, datetime]:
    """Return the local times at which the session began and ended."""
    last = _local(conversation.ended_at, zone) or now.astimezone(zone)
    first = _local(conversation.started_at, zone) or last
    return min(first, last), last


def _local(at: datetime | None, zone: tzinfo | None) -> datetime | None:
    try:
        return at and at.astimezone(zone)
    except (OverflowError, ValueError, OSError):  # a time that the machine's calendar does not reach
        return None


def _directory(cwd: str, home: Path) -> str:
    return "~" if cwd and Path(cwd) == home else _short_path(shown_path(cwd, None, home))


def _last_parts(path: str) -> str:
    """Return the name of the file at *path* with its folder; all of a path that leads out of the project."""
    return (
        _short_path(path)
        if path.startswith(("~", "/", "\\"))
        else one_line(re.sub(r"^.*[/\\](?=[^/\\]+[/\\][^/\\]+$)", "", path))
    )


def _short_path(path: str) -> str:
    """Return *path*, or as many of its last parts as fit; empty if not even the name does."""
    line = one_line(path)
    while width(line) > (_WIDEST_PATH if "/" in line.removeprefix("…/") else _WIDEST_NAME):
        _, _, rest = line.removeprefix("…/").partition("/")
        line = f"…/{rest}" if rest else ""
    return line


def _short_items(items: Sequence[str], widest: int = _WIDEST_ITEM) -> tuple[str, ...]:
    return tuple(short for item in items[:_MOST_ITEMS] if (short := shortened(one_line(item), widest)))


def _short_point(point: KeyPoint) -> KeyPoint | None:
    tags = tuple(tag for tag in map(one_line, point.tags) if width(tag) <= _WIDEST_TAG)[:_MOST_TAGS]
    text = shortened(one_line(point.text), _WIDEST_ITEM)
    return KeyPoint(text, point.kind, tags) if text else None


def _fitted(note: SessionNote) -> SessionNote:
    for name, enough in _SHORTER:
        while len(getattr(note, name)) > enough:
            if _size(note) <= LARGEST:
                return note
            more = note.more_files + (name == "files")
            note = note._replace(**{name: getattr(note, name)[:-1], "more_files": more})
    return note


def _size(note: SessionNote) -> int:
    text = render_session(note)
    return len(text.encode()) - (width(text) - len(text))
