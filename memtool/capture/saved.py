"""What the agent itself saves: its summary of a session, a long note, and what no session's note repeats."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from memtool.capture import limits
from memtool.capture.captured import Captured
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.capture.model_note import note_with_model
from memtool.capture.queue import Job, Queue
from memtool.capture.turns import Turn
from memtool.errors import MemtoolError, NoteChanged
from memtool.history.uncommitted import note_uncommitted
from memtool.llm import is_set_up
from memtool.text.frontmatter import set_field
from memtool.text.languages import all_labels
from memtool.text.lines import cut, one_line, shortened
from memtool.text.markdown import blocks, heading_text, without_mark
from memtool.text.statements import sentences
from memtool.vault.daily import DailySession, add_session
from memtool.vault.facts import parse_facts
from memtool.vault.files import read_text, replace
from memtool.vault.layout import Vault, area_folder, facts_ref, project_of, session_ref
from memtool.vault.memory import (
    AGENT,
    COMMAND,
    FOLDERS,
    OPEN,
    USER,
)
from memtool.vault.note import Note, first_sentence, parse_note
from memtool.vault.session_text import SECTIONS, read_statement
from memtool.vault.sessions import Draft, Line, SessionNote, render_session
from memtool.workspace import Workspace

_KEPT = (OPEN, COMMAND)  # roles of lines that no fact takes the place of


def saved_in(vault: Vault, session: str, project: str) -> list[str]:
    """Return the statements that were saved in *session*: its facts, and those of the notes that it is the source of.

    A fact that was made of a session's lines is none of them.
    """
    found = []
    for area in dict.fromkeys((project, "")):
        with suppress(OSError, MemtoolError):
            facts = parse_facts(read_text(vault.root / facts_ref(area))[0]).facts
            found += [fact.fact for fact in facts if fact.source.partition("#")[0] == session and not fact.spans]
        for folder in FOLDERS.values():
            for path in sorted((vault.root / area_folder(area) / folder).glob("*.md")):
                with suppress(OSError, MemtoolError):
                    found += _statements(path.name, read_text(path)[0], session)
    return found


def _statements(name: str, text: str, session: str) -> list[str]:
    if session not in text:
        return []
    note = parse_note(name, text.encode())
    sources = note.fields.get("sources", []) if isinstance(note, Note) else []
    if not (isinstance(note, Note) and session in {str(source).partition("#")[0] for source in sources}):
        return []
    lines = (heading_text(line) or one_line(line) for line in note.body.splitlines())
    return [each for line in lines for each in (line, *sentences(line)) if each]


def without_saved(draft: Draft, saved: list[str]) -> Draft:
    """Return *draft* without the lines that say what was *saved*; what is open, and what to run, stays."""
    if not saved:
        return draft
    from memtool.text.near_duplicates import is_same, statement  # slow to import, and seldom needed

    known = [statement(text) for text in saved]

    def is_new(text: str) -> bool:
        return not any(is_same(statement(text), one) for one in known)

    return draft._replace(lines=tuple(line for line in draft.lines if line.role in _KEPT or is_new(line.text)))


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
    letters = "".join(filter(str.isalnum, text)).casefold()
    digest = hashlib.sha256(f"{area.name}\n{letters}".encode()).hexdigest()[:16]
    note = _session_note_of(text, title=title, tags=tags)
    note = note._replace(
        id=f"saved-{digest}",
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
    plain = one_line(text)
    lines = [
        line._replace(author=AGENT) if line.author == USER and f"{line.text} ({USER})" not in plain else line
        for line in lines
    ]
    topic = topic or first_sentence(text)
    draft = Draft(shortened(topic, limits.LINE) or cut(topic, limits.LINE), lines=tuple(lines), files=tuple(files))
    return SessionNote(tags=tuple(tags), draft=draft)


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


NOTE = "note"  # the event of a job whose `transcript` is the path of a note in the vault


def queue_summary(work: Workspace, ref: str, text: str) -> bool:
    """Let a worker summarise the note at *ref*, if it is long enough and a model is set up; return whether it will.

    Raises:
        NotWritable: the vault's state cannot be written.
    """
    if len(text) < limits.SUMMARISED_NOTE or not is_set_up(work.settings.llm):
        return False
    job_id = f"note-{hashlib.sha256(ref.encode()).hexdigest()[:16]}"
    Queue(work.vault).put(Job(job_id, ref, str(work.folder), NOTE, queued_at=work.now().timestamp()))
    return True


def summarise_note(work: Workspace, job: Job) -> Captured:
    """Write a summary into the note that *job* names. A note that is gone, or has one, stays as it is.

    Raises:
        MemtoolError: someone changed the note meanwhile, or the vault cannot be written.
    """
    ref = job.transcript
    path = work.vault.path(ref)
    try:
        text, expected = read_text(path)
    except OSError:
        return Captured()
    note = parse_note(ref, text.encode())
    if not isinstance(note, Note) or note.field("summary"):
        return Captured()
    turn = Turn(messages=(note.body,))
    answer = note_with_model([turn], work.settings, work.vault, work.now(), redact=work.redact)
    if answer.draft is None:
        return Captured(fallback=answer.reason, retry_may_help=answer.retry_may_help)
    summary = answer.draft.summary or answer.draft.title
    note_uncommitted(work.vault, [ref])
    with work.vault.lock():
        replace(path, set_field(text, "summary", summary), expected=expected)
    return Captured((ref,), summary, note.field("project") or project_of(ref))
