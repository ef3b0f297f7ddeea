"""The figures of a session's note from its transcript: its days, its last minute, its files' names.

Of a session that an agent sums up itself all of its words are kept, in the order of such notes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memtool.capture.conversation import Conversation
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.errors import NoteChanged
from memtool.text.languages import all_labels
from memtool.text.lines import cut, one_line, shortened, width
from memtool.text.markdown import blocks, heading_text, without_mark
from memtool.vault.authors import (
    AGENT,
    USER,
)
from memtool.vault.daily import DailySession, add_session
from memtool.vault.files import replace
from memtool.vault.layout import session_ref
from memtool.vault.note import first_sentence
from memtool.vault.project_area import shown_path
from memtool.vault.session_text import SECTIONS, read_statement
from memtool.vault.sessions import Draft, Line, SessionNote, render_session
from memtool.workspace import Workspace

_WIDEST_PATH, _WIDEST_NAME = 36, 120  # columns
_SHORT_TOPIC = 160  # in the daily note, and of a session that an agent sums up

_LABEL = re.compile(r"\*\*([^*]{2,40})\*\*[:：]?\s*(.*)|([^:：]{2,40})[:：]")


def daily_sessions(
    conversation: Conversation, note: SessionNote, *, now: datetime, zone: tzinfo | None = None
) -> dict[date, DailySession]:
    """Return the line of the session for the daily notes of its first day and of its last."""
    topic = shortened(note.draft.title, _SHORT_TOPIC)
    return {
        at.date(): DailySession(at.strftime("%H:%M"), note.project, note.id, topic)
        for at in _span(conversation, now, zone)
    }


def last_minute(conversation: Conversation, now: datetime, zone: tzinfo | None = None) -> str:
    """Return the local minute in which a session was last heard of, such as `2026-02-10 14:30`."""
    return _span(conversation, now, zone)[1].replace(tzinfo=None).isoformat(" ", "minutes")


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


def shown_file(file: str, root: Path | None, home: Path) -> str:
    """Return *file* as a note names it: by its name and folder; of one outside the project at *root*, its path."""
    return _last_parts(shown_path(os.path.normpath(file), root, home)) if os.path.isabs(file) else file  # noqa: PTH117


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


class SavedSession(NamedTuple):
    """The note of a session, whether it is *new*, and all files that were written."""

    ref: str
    new: bool
    refs: tuple[str, ...] = ()


def save_session(work: Workspace, text: str, *, title: str = "", tags: Iterable[str] = ()) -> SavedSession:
    """Write *text*, redacted and in Markdown, as the note of a session of the project at hand, listed in its day.

    The same text saved twice gives one note.

    Raises:
        MemtoolError: the vault cannot be written.
    """
    area, now = work.area(), work.now()
    note = _session_note_of(text, title=title, tags=tags)
    note = note._replace(
        id=f"saved-{_digest(area.name, text)}",
        project=area.name,
        updated=now.replace(tzinfo=None).isoformat(" ", "minutes"),
        writer=AGENT,
    )
    ref = session_ref(note.id)
    with suppress(NoteChanged), work.vault.lock():
        replace(work.vault.path(ref), render_session(note, language=work.language), expected=None)
        line = DailySession(f"{now:%H:%M}", area.name, note.id, note.draft.title)
        add = partial(add_session, session=line, language=work.language)
        change_daily(work.vault, now.date(), add, language=work.language)
        return SavedSession(ref, new=True, refs=(ref, daily_ref(work.vault, now.date())))
    return SavedSession(ref, new=False)


def _session_note_of(text: str, *, title: str = "", tags: Iterable[str] = ()) -> SessionNote:
    """Return *text* as the note of a session: each item and paragraph is a line, with the role of the heading above it.

    Headings and labels that session notes know, such as "Decisions" or 待办, make its sections.
    """
    lines: list[Line] = []
    files: list[str] = []
    section, topic = "done", one_line(title)
    for heading, said in _pieces(text):
        if named := _section_of(heading):
            section = named
        elif heading and not topic and not lines:
            topic = heading
        elif heading:
            section = "done"
        if said and section == "topic":
            topic = topic or said
        elif said and section == "files":
            files.append(said)
        elif said:
            lines.append(Line(*read_statement(section, said)))
    lines = [
        line._replace(author=AGENT) if line.author == USER and not _is_signed(text, line) else line for line in lines
    ]
    topic = topic or first_sentence(text)
    draft = Draft(shortened(topic, _SHORT_TOPIC) or cut(topic, _SHORT_TOPIC), lines=tuple(lines), files=tuple(files))
    return SessionNote(tags=tuple(tags), draft=draft)


def _is_signed(text: str, line: Line) -> bool:
    """Return whether *text* names the user behind *line*."""
    return f"{line.text} ({USER})" in one_line(text)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Give each heading of *text* and each item and paragraph, on one line."""
    lines = [part for line in text.split("\n") for part in _with_heading(line)]
    ends = dict(blocks(lines))
    for at, line in enumerate(lines):
        if heading := heading_text(line.strip()):
            yield one_line(heading), ""
        elif at in ends:
            yield "", one_line(without_mark("\n".join(lines[at : ends[at] + 1])))


def _with_heading(line: str) -> list[str]:
    """Return *line*; if it begins with the label of a section, such as `**Open**:`, that as a heading and the rest."""
    label = _LABEL.fullmatch(without_mark(line).strip())
    name = (label[1] or label[3]) if label else ""
    return [f"## {name}", (label and label[2]) or ""] if _section_of(name) else [line]


def _section_of(heading: str) -> str:
    """Return the section of a session note that *heading* names in any language; empty if it names none."""
    wanted = heading.strip(" :：*").casefold()
    known = {"key_points": "done", "topic": "topic", "files": "files"} | {name: name for name in SECTIONS}
    named = (each for name, each in known.items() if wanted in map(str.casefold, all_labels("session")[name]))
    return next(named, "")


def _digest(project: str, text: str) -> str:
    letters = "".join(filter(str.isalnum, text)).casefold()
    return hashlib.sha256(f"{project}\n{letters}".encode()).hexdigest()[:16]
