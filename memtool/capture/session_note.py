"""The note of a session, from its transcript's figures and its summary: about 2 KB, whatever the transcript's size.

Of a session that an agent sums up itself all of its words are kept, in the order of such notes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memtool.capture.conversation import Conversation
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.capture.summary import Summary
from memtool.clients import CLAUDE_CODE
from memtool.errors import NoteChanged
from memtool.text.languages import all_labels
from memtool.text.lines import cut, one_line, shortened, width
from memtool.text.markdown import blocks, heading_text, without_mark
from memtool.vault.authors import (
    AGENT,
    ASKED,
    COMMAND,
    DECISION,
    FINDING,
    FIX,
    OPEN,
    REFUTED,
    RULE,
    USER,
    signed_by,
)
from memtool.vault.daily import DailySession, add_session
from memtool.vault.files import replace
from memtool.vault.layout import session_name, session_ref
from memtool.vault.note import first_sentence
from memtool.vault.project_area import shown_path
from memtool.vault.session_rows import ARROW, Row, fit_rows
from memtool.vault.session_text import SECTIONS, author_of_prompt, read_statement
from memtool.vault.sessions import Draft, Line, SessionNote, render_session
from memtool.workspace import Workspace

LARGEST = 2_048  # bytes of the rendered note; of a Chinese character only two count, as it takes two columns
_ROOM, _ROOM_OF_TURN = 1_100, 90  # columns of rows: a short session needs fewer
_HEADING = 36  # columns that the section of rows takes beside them

_MOST_FILES, _MOST_ITEMS = 4, 12
_WIDEST_TOPIC, _WIDEST_ITEM, _WIDEST_DECISION, _WIDEST_OPEN = 330, 240, 360, 340  # columns
_WIDEST_PATH, _WIDEST_NAME, _WIDEST_TITLE = 36, 120, 80
_BRANCH = r"^[\w.]+[-/_][\w./-]*: "
_ROLES = {
    "decision": DECISION, "fix": FIX, "bugfix": FIX, "finding": FINDING, "discovery": FINDING, "refuted": REFUTED,
}  # fmt: skip
_SHORT_TOPIC = 160  # in the daily note, and of a session that an agent sums up

_LABEL = re.compile(r"\*\*([^*]{2,40})\*\*[:：]?\s*(.*)|([^:：]{2,40})[:：]")


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
    shown = dict.fromkeys(_last_parts(shown_path(os.path.normpath(file), root, home)) for file in files)
    named = [file for file in shown if file][:_MOST_FILES]
    topic = shortened(_topic(conversation, summary), _WIDEST_TOPIC)
    draft = _draft(summary, topic, named, len(dict.fromkeys(files)))
    note = SessionNote(
        id=session_name(conversation.session_id),
        project=one_line(project),
        updated=last_minute(conversation, now, zone),
        branch="" if summary.topic.startswith(f"{conversation.branch}: ") else one_line(conversation.branch),
        client="" if conversation.client == CLAUDE_CODE else conversation.client,
        size=conversation.size,
        told=conversation.told,
        draft=draft,
    )
    return _fitted(note, summary, _ROOM + _ROOM_OF_TURN * turns)


def _draft(summary: Summary, topic: str, files: Sequence[str], edited: int) -> Draft:
    """Return *summary* as the content of a note, without its rows."""
    began, _, ended = topic.partition(ARROW)
    ended = re.sub(f"^(?:{'|'.join(form.partition('{}')[0] for form in all_labels('summary')['last'])})", "", ended)
    title = shortened(ended or began, _WIDEST_TITLE) or cut(ended or began, _WIDEST_TITLE)
    return Draft(
        title=title,
        asked=re.sub(_BRANCH, "", began) if ended else "",
        summary=ended if title != ended else "",
        lines=(
            *(_line(text, DECISION, _WIDEST_DECISION) for text in summary.decisions[:_MOST_ITEMS]),
            *(_line(text, RULE) for text in summary.rules[:_MOST_ITEMS]),
            *(_line(point.text, _ROLES.get(point.kind, "")) for point in summary.key_points[:_MOST_ITEMS]),
            *(_line(text, "") for text in summary.done[:_MOST_ITEMS]),
            *(_line(text, OPEN, _WIDEST_OPEN) for text in summary.open[:_MOST_ITEMS]),
            *(_line(text, COMMAND) for text in summary.commands[:_MOST_ITEMS]),
        ),
        files=tuple(files),
        more_files=edited - len(files) if files else 0,  # "and 1 more" than nothing says nothing
    )


def _line(text: str, role: str, widest: int = _WIDEST_ITEM) -> Line:
    said, author = signed_by(one_line(text))
    return Line(shortened(said, widest), role, author or (USER if role == RULE else AGENT))


def _row_lines(rows: Iterable[Row]) -> Iterator[Line]:
    for row in rows:
        if row.asked:
            yield Line(row.asked, ASKED, author_of_prompt(row.asked))
        for piece in row.pieces:
            if piece.is_typed:
                yield Line(piece.text[1:-1], ASKED, USER)
            else:
                yield Line(piece.text, asked=row.asked)


def _fitted(note: SessionNote, summary: Summary, room: int) -> SessionNote:
    """Return *note* with as many of the rows of *summary* as there is room for, in at most LARGEST columns."""
    while (over := _size(note) - LARGEST) > 0 and note.draft.lines:
        note = note._replace(draft=note.draft._replace(lines=note.draft.lines[:-1]))
    said = [note.draft.title, note.draft.asked, note.draft.summary, *(line.text for line in note.draft.lines)]
    room = min(LARGEST - _size(note) - _HEADING, room)
    fitted = note
    while summary.rows and room > _HEADING:
        rows = tuple(_row_lines(fit_rows(summary.rows, room, said)))
        fitted = note._replace(draft=note.draft._replace(lines=(*rows, *note.draft.lines)))
        if (over := _size(fitted) - LARGEST) <= 0:
            return fitted
        room -= max(8, over)
    return note


def _topic(conversation: Conversation, summary: Summary) -> str:
    """Return what the session was about and came to: in the words of who worked, where they said it."""
    topic = summary.topic or conversation.title
    done = first_sentence(conversation.told.get("completed", ""))
    return f"{topic.partition(ARROW)[0]}{ARROW}{done}" if topic and done else topic


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


def _size(note: SessionNote) -> int:
    text = render_session(note._replace(size=0, told={}))  # which have no part in what is chosen
    return len(text.encode()) - (width(text) - len(text))


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
