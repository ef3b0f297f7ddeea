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
from typing import Any, NamedTuple

from memtool.capture.conversation import Conversation
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.capture.summary import Summary
from memtool.clients import CLAUDE_CODE
from memtool.errors import NoteChanged
from memtool.text.languages import all_labels
from memtool.text.lines import cut, one_line, shortened, width
from memtool.text.markdown import blocks, heading_text, without_mark
from memtool.vault.daily import DailySession, add_session
from memtool.vault.files import replace
from memtool.vault.layout import session_name, session_ref
from memtool.vault.note import first_sentence
from memtool.vault.old_sessions import SECTIONS, KeyPoint, OldNote, render_session
from memtool.vault.project_area import shown_path
from memtool.vault.session_rows import ARROW, fit_rows
from memtool.workspace import Workspace

LARGEST = 2_048  # bytes of the rendered note; of a Chinese character only two count, as it takes two columns
_ROOM, _ROOM_OF_TURN = 1_100, 90  # columns of rows: a short session needs fewer
_HEADING = 36  # columns that the section of rows takes beside them

_MOST_FILES, _MOST_ITEMS, _MOST_TAGS = 4, 12, 4
_WIDEST_TOPIC, _WIDEST_ITEM, _WIDEST_DECISION, _WIDEST_OPEN = 330, 240, 360, 340  # columns
_WIDEST_PATH, _WIDEST_NAME, _WIDEST_TAG = 36, 120, 40
_SHORT_TOPIC = 160  # in the daily note, and of a session that an agent sums up

# Where a note is too large, the least important item goes first: the last of the first list that is longer than this.
_SHORTER = (("files", 6), ("key_points", 6), ("done", 2), ("files", 3), ("decisions", 3), ("rules", 3), ("open", 3),
            ("key_points", 3), ("files", 0), ("done", 0), ("decisions", 1), ("rules", 1), ("open", 1), ("commands", 0),
            ("key_points", 0), ("rows", 0), ("rules", 0), ("decisions", 0), ("open", 0))  # fmt: skip
_LISTS = ("files", "decisions", "rules", "done", "commands", "open")
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
) -> OldNote:
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
    is_home = bool(conversation.cwd) and Path(conversation.cwd) == home
    note = OldNote(
        id=session_name(conversation.session_id),
        project=one_line(project),
        updated=last.replace(tzinfo=None).isoformat(" ", "minutes"),
        directory="~" if is_home else _short_path(shown_path(conversation.cwd, None, home)),
        branch="" if summary.topic.startswith(f"{conversation.branch}: ") else one_line(conversation.branch),
        topic=shortened(_topic(conversation, summary), _WIDEST_TOPIC),
        key_points=tuple(filter(None, map(_short_point, summary.key_points[:_MOST_ITEMS]))),
        files=tuple(named),
        more_files=len(dict.fromkeys(files)) - len(named) if named else 0,  # "and 1 more" than nothing says nothing
        decisions=_short_items(summary.decisions, _WIDEST_DECISION),
        rules=_short_items(summary.rules),
        done=_short_items(summary.done),
        commands=_short_items(summary.commands),
        open=_short_items(summary.open, _WIDEST_OPEN),
        client="" if conversation.client == CLAUDE_CODE else conversation.client,
        size=conversation.size,
        told=conversation.told,
    )
    return _fitted(_with_rows(note, summary, turns))


def _topic(conversation: Conversation, summary: Summary) -> str:
    """Return what the session was about and came to: in the words of who worked, where they said it."""
    topic = summary.topic or conversation.title
    done = first_sentence(conversation.told.get("completed", ""))
    return f"{topic.partition(ARROW)[0]}{ARROW}{done}" if topic and done else topic


def daily_sessions(
    conversation: Conversation, note: OldNote, *, now: datetime, zone: tzinfo | None = None
) -> dict[date, DailySession]:
    """Return the line of the session for the daily notes of its first day and of its last."""
    topic = shortened(note.topic, _SHORT_TOPIC)
    return {
        at.date(): DailySession(at.strftime("%H:%M"), note.project, note.id, topic)
        for at in _span(conversation, now, zone)
    }


def _with_rows(note: OldNote, summary: Summary, turns: int) -> OldNote:
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


def _fitted(note: OldNote) -> OldNote:
    for name, enough in _SHORTER:
        while len(getattr(note, name)) > enough:
            if _size(note) <= LARGEST:
                return note
            more = note.more_files + (name == "files")
            note = note._replace(**{name: getattr(note, name)[:-1], "more_files": more})
    return note


def _size(note: OldNote) -> int:
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
        directory=one_line(shown_path(str(work.folder), None, work.home)),
    )
    ref = session_ref(note.id)
    with suppress(NoteChanged), work.vault.lock():
        replace(work.vault.path(ref), render_session(note, language=work.language), expected=None)
        line = DailySession(f"{now:%H:%M}", area.name, note.id, note.topic)
        add = partial(add_session, session=line, language=work.language)
        change_daily(work.vault, now.date(), add, language=work.language)
        return SavedSession(ref, new=True, refs=(ref, daily_ref(work.vault, now.date())))
    return SavedSession(ref, new=False)


def _session_note_of(text: str, *, title: str = "", tags: Iterable[str] = ()) -> OldNote:
    """Return *text* as the note of a session: each item and paragraph is a key point, or what the heading above says.

    Headings and labels that session notes know, such as "Decisions" or 待办, make its sections.
    """
    found: dict[str, list[str]] = {name: [] for name in SECTIONS}
    section, topic = "key_points", one_line(title)
    for heading, said in _pieces(text):
        if named := _section_of(heading):
            section = named
        elif heading and not topic and not any(found.values()):
            topic = heading
        elif heading:
            section = "key_points"
        found[section] += [said] if said else []
    topic = topic or " ".join(found["topic"]) or first_sentence(text)
    sections: dict[str, Any] = {name: tuple(found[name]) for name in _LISTS}
    points = [KeyPoint(said) for said in found["key_points"]]
    return OldNote(
        id="",
        topic=shortened(topic, _SHORT_TOPIC) or cut(topic, _SHORT_TOPIC),
        key_points=(*points[:-1], *(point._replace(tags=tuple(tags)) for point in points[-1:])),
        **sections,
    )


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
    named = (name for name in SECTIONS if wanted in map(str.casefold, all_labels("session")[name]))
    return next(named, "")


def _digest(project: str, text: str) -> str:
    letters = "".join(filter(str.isalnum, text)).casefold()
    return hashlib.sha256(f"{project}\n{letters}".encode()).hexdigest()[:16]
