"""The note of a session, from its conversation and its summary: about 2 KB, whatever the transcript's size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import date, datetime, tzinfo
from pathlib import Path

from memtool.capture.conversation import Conversation
from memtool.capture.summary import Summary
from memtool.vault.daily import DailySession
from memtool.vault.project_area import shown_path
from memtool.vault.prose import LANGUAGES, one_line
from memtool.vault.sessions import KeyPoint, SessionNote, render_session, session_ref

LARGEST = 2_048  # bytes of the rendered note, in the language that needs more of them

_MOST_FILES = 12
_MOST_ITEMS = 20  # of any other list
_MOST_TAGS = 4  # of one key point
_LONGEST_TOPIC, _LONGEST_ITEM, _LONGEST_PATH, _LONGEST_TAG = 200, 280, 160, 40  # bytes
_WITHOUT_SPACES = (("\u2e80", "\u9fff"), ("\uf900", "\ufaff"), ("\uff00", "\uffef"), ("\U00020000", "\U0003ffff"))

# Where a note is too large, the least important item goes first: the last of the first list that is longer than this.
_SHORTER = (
    ("key_points", 5), ("done", 3), ("files", 6),
    ("key_points", 3), ("open", 3), ("decisions", 3), ("done", 1), ("files", 3),
    ("key_points", 1), ("open", 1), ("decisions", 1),
    ("done", 0), ("files", 0), ("key_points", 0), ("links", 0), ("open", 0), ("decisions", 0),
)  # fmt: skip


def session_note(
    conversation: Conversation,
    summary: Summary,
    *,
    project: str,
    root: Path | None,
    home: Path,
    now: datetime,
    has_area: bool = True,
    zone: tzinfo | None = None,
) -> SessionNote:
    """Return the note of a session, small enough that its text is at most LARGEST bytes.

    Args:
        conversation: what its times, its folder and its files are taken from.
        summary: what its sections are taken from.
        project: the name of its area; empty if it belongs to none.
        root: the project's folder, to which files are named relative.
        home: the user's home folder, written `~`.
        now: when the session ended, if the transcript does not say.
        has_area: whether the area's summary exists, so that it can be linked to.
        zone: the time zone of the note; this machine's if None.
    """
    first, last = _span(conversation, now, zone)
    files = [_short_path(shown_path(os.path.normpath(file), root, home)) for file in conversation.files]
    named = [file for file in dict.fromkeys(files) if file][:_MOST_FILES]
    return _fitted(
        SessionNote(
            id=_id(conversation),
            project=one_line(project),
            updated=last.replace(tzinfo=None).isoformat(" ", "minutes"),
            directory=_directory(conversation.cwd, home),
            transcript_kb=-(-conversation.size // 1024),
            transcript_lines=conversation.lines,
            links=tuple(_links(dict.fromkeys((first.date(), last.date())), project if has_area else "")),
            topic=shortened(summary.topic or conversation.title, _LONGEST_TOPIC),
            key_points=tuple(filter(None, map(_short_point, summary.key_points[:_MOST_ITEMS]))),
            files=tuple(named),
            more_files=len(conversation.files) - len(named),
            decisions=_short_items(summary.decisions),
            done=_short_items(summary.done),
            open=_short_items(summary.open),
        )
    )


def daily_sessions(
    conversation: Conversation, note: SessionNote, *, now: datetime, zone: tzinfo | None = None
) -> dict[date, DailySession]:
    """Return the line of the session for each daily note that *note* links to: of its first day and of its last."""
    return {
        at.date(): DailySession(at.strftime("%H:%M"), note.project, note.id, note.topic)
        for at in _span(conversation, now, zone)
    }


def shortened(text: str, longest: int) -> str:
    """Return *text* on one line in at most *longest* bytes; where it is cut, whole words stay, and `…` follows."""
    line = one_line(text)
    content = line.encode()
    if len(content) <= longest:
        return line
    end = len(content[: longest - len("…".encode())].decode(errors="ignore"))
    while end and not _is_between_words(line, end):
        end -= 1
    return f"{line[:end].rstrip(' ,;:，、；：')}…" if end else ""


def _is_between_words(line: str, at: int) -> bool:
    pair = line[at - 1 : at + 1]
    return " " in pair or any(_stands_alone(character) for character in pair)


def _stands_alone(character: str) -> bool:
    """Whether a line may be cut before and behind *character*, as in Chinese and Japanese."""
    return any(first <= character <= last for first, last in _WITHOUT_SPACES)


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


def _id(conversation: Conversation) -> str:
    return session_ref(conversation.session_id).removeprefix("sessions/").removesuffix(".md")


def _directory(cwd: str, home: Path) -> str:
    return "~" if cwd and Path(cwd) == home else _short_path(shown_path(cwd, None, home))


def _short_path(path: str) -> str:
    """Return *path*, or as many of its last parts as fit; empty if not even the name does."""
    line = one_line(path)
    while len(line.encode()) > _LONGEST_PATH:
        _, _, rest = line.removeprefix("…/").partition("/")
        line = f"…/{rest}" if rest else ""
    return line


def _links(days: Iterable[date], project: str) -> Iterable[tuple[str, str]]:
    for day in days:
        yield day.isoformat(), f"../daily/{day.isoformat()}.md"
    if one_line(project) and project not in (".", "..") and not {"/", "\\"} & set(project):
        yield one_line(project), f"../areas/projects/{one_line(project)}/summary.md"


def _short_items(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(short for item in items[:_MOST_ITEMS] if (short := shortened(item, _LONGEST_ITEM)))


def _short_point(point: KeyPoint) -> KeyPoint | None:
    tags = tuple(tag for tag in map(one_line, point.tags) if len(tag.encode()) <= _LONGEST_TAG)[:_MOST_TAGS]
    text = shortened(point.text, _LONGEST_ITEM)
    return KeyPoint(text, point.kind, tags) if text else None


def _fitted(note: SessionNote) -> SessionNote:
    for name, enough in _SHORTER:
        while len(getattr(note, name)) > enough:
            if _size(note) <= LARGEST:
                return note
            note = _without_last(note, name)
    return note


def _without_last(note: SessionNote, name: str) -> SessionNote:
    counted = note._replace(more_files=note.more_files + (name == "files"))
    return counted._replace(**{name: getattr(note, name)[:-1]})


def _size(note: SessionNote) -> int:
    return max(len(render_session(note, language=language).encode()) for language in LANGUAGES)
