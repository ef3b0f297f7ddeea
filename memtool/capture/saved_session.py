"""A session that an agent sums up itself: its words as a session note, in the order of such notes, all of them kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from memtool.capture.daily import change_daily, daily_ref
from memtool.errors import NoteChanged
from memtool.text.languages import all_labels
from memtool.text.lines import cut, one_line, shortened
from memtool.text.markdown import blocks, without_mark
from memtool.vault.daily import DailySession, add_session
from memtool.vault.files import replace
from memtool.vault.note import first_sentence, heading_text
from memtool.vault.project_area import shown_path
from memtool.vault.sessions import SECTIONS, KeyPoint, SessionNote, render_session, session_ref
from memtool.workspace import Workspace

_LISTS = ("files", "decisions", "rules", "done", "commands", "open")
_WIDEST_TOPIC = 160  # columns
_LABEL = re.compile(r"\*\*([^*]{2,40})\*\*[:：]?\s*(.*)|([^:：]{2,40})[:：]")


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
    note = session_note_of(text, title=title, tags=tags)
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


def session_note_of(text: str, *, title: str = "", tags: Iterable[str] = ()) -> SessionNote:
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
    return SessionNote(
        id="",
        topic=shortened(topic, _WIDEST_TOPIC) or cut(topic, _WIDEST_TOPIC),
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
