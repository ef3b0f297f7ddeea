"""One session, from its transcript to its note: read, redact, keep the source, write; and again if a model is due."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta
from functools import partial
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memtool.capture.captured import Record, read_record, write_record
from memtool.capture.conversation import Conversation
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.capture.note_names import name_from
from memtool.capture.old_note import OldDraft, as_note, draft_of, leaves_note, write_by_rules, write_with_model
from memtool.capture.queue import Job
from memtool.capture.saved import saved_in, without_saved
from memtool.capture.session_note import daily_sessions, session_note
from memtool.capture.session_reading import ReadSession, read_session
from memtool.capture.source import Source, find_source, is_in_git, source_ref, write_source
from memtool.capture.switches import is_excluded
from memtool.clients import CLAUDE_CODE
from memtool.errors import MemtoolError
from memtool.index.engine import place_of, use_index
from memtool.llm import EXTRACTIVE, is_set_up
from memtool.text.frontmatter import parse_fields, split_front_matter
from memtool.vault import files as files_of_vault
from memtool.vault.daily import DailySession, add_session
from memtool.vault.hand_edits import keep_hand_edits, title_as_known
from memtool.vault.layout import ARCHIVE, Vault, session_name, session_ref
from memtool.vault.masking import mask_files, mask_state
from memtool.vault.project_area import ProjectArea
from memtool.vault.session_names import find_moved, note_of
from memtool.vault.sessions import is_as_written, render_session, told_in
from memtool.vault.uncommitted import note_uncommitted
from memtool.workspace import Workspace

GOES_ON = ("Stop", "PreCompact")  # events after which the session goes on, so that its note will change again

BY_HAND = "capture"  # the event of a transcript that the user has named
IMPORT, IMPORT_WITH_MODEL = "import", "import with model"

_WITHOUT_MODEL = ("Stop", "PostCompact", IMPORT)  # a turn has ended, the client has just summarised, or it is old
_AT_ONCE = (BY_HAND, IMPORT_WITH_MODEL)  # what the user asked for does not wait until the hour is over


class Later(NamedTuple):
    """The writes of many sessions, done at once: their records, and their lines with whether there is a note."""

    records: dict[str, Record]
    lines: dict[date, dict[str, tuple[DailySession, bool]]]


class Captured(NamedTuple):
    """The outcome of capturing a session.

    Args:
        refs: the files that were written.
        topic, project: of the session.
        fallback: why rules wrote the note although a model was asked.
        may_pass: whether asking again may help.
        client: whose session it was.
    """

    refs: tuple[str, ...] = ()
    topic: str = ""
    project: str = ""
    fallback: str = ""
    may_pass: bool = False
    client: str = CLAUDE_CODE


def capture_session(work: Workspace, job: Job) -> Captured:
    """Write the note of the session that *job* names, and its line in the daily note.

    The note by rules is written first, so that there is one whatever becomes of the model.

    Raises:
        MemtoolError: the transcript cannot be read, or the vault cannot be written.
    """
    record = read_record(work.vault, job.session_id)
    known = find_source(work.vault, job.session_id)
    return capture(work, job, read_session(work, job, record, known), record)


def capture(work: Workspace, job: Job, session: ReadSession, record: Record, later: Later | None = None) -> Captured:
    """Write the source, the note and the daily lines of *session*, captured before as *record* says.

    Its record and its lines in daily notes are left to *later*, if that is given.

    Raises:
        MemtoolError: the vault cannot be written.
    """
    source = session.source
    if record.size and session.secrets > record.secrets:
        _mask_earlier(work, job, session)
        known = find_source(work.vault, job.session_id)
        session = session._replace(source=source._replace(note=known.note if known else {}))
    record = record._replace(size=source.size, offset=session.offset, mark=session.mark, secrets=session.secrets)
    folder = source.cwd or job.cwd
    if job.event != BY_HAND and (record.off or is_excluded(folder, work.settings.capture.exclude, work.home)):
        write_record(work.vault, job.session_id, Record(source.size, off=record.off))
        return Captured()
    if not any(turn.typed or turn.messages or turn.summary for turn in source.turns):
        write_record(work.vault, job.session_id, record)
        return Captured()
    area = work.registered_area(Path(folder or work.home))
    ref = _note_ref(work, session, record)
    writing = _Writing(work, job, session, area, later, ref)
    draft = draft_of(session.source.note)
    if draft.writer in ("", EXTRACTIVE) or not (is_set_up(work.settings.llm) or draft.size == source.size):
        draft = write_by_rules(session, draft, writing.current, work.language)
    captured, draft, record = writing.write(draft, record)
    if not captured.refs or not _wants_model(work, job, draft, source.size):
        return captured
    pause = work.settings.capture.every_minutes * 60
    is_early = work.now().timestamp() - record.model_at < pause and job.tries <= 1  # a failed try is no note
    if is_early and job.event not in _AT_ONCE:
        writing.keep(record._replace(owed=True))  # a later sweep will see to it
        return captured
    answer = write_with_model(session, draft, work.settings, work.vault, work.now())
    record = record._replace(model_at=work.now().timestamp(), owed=answer.may_pass)
    if answer.draft is not None:
        captured, _, _ = writing.write(answer.draft._replace(size=source.size), record._replace(owed=False))
    else:
        writing.keep(record)
    return captured._replace(fallback=answer.reason, may_pass=answer.may_pass)


def _note_ref(work: Workspace, session: ReadSession, record: Record) -> str:
    """Return the path of the session's note: where it is, wherever its owner has moved it, or that of a new one."""
    vault, source = work.vault, session.source
    if (vault.root / (ref := note_of(vault, source.session_id))).is_file():
        return ref
    is_known = record.ref or draft_of(source.note).text
    if is_known and (moved := find_moved(vault, source.session_id)):
        return moved
    if record.ref or work.settings.sessions.names == "id":
        return record.ref or session_ref(source.session_id)
    day = (source.started_at or source.ended_at or work.now()).astimezone().date()
    name = name_from(turn.typed for turn in source.turns if not turn.pasted) or "session"
    names = chain([f"{day}-{name}"], (f"{day}-{name}-{number}" for number in count(2)))
    return next(ref for ref in (f"sessions/{name}.md" for name in names) if not _is_taken(vault, ref))


def _is_taken(vault: Vault, ref: str) -> bool:
    return any(os.path.lexists(vault.root / place) for place in (ref, f"{ARCHIVE}{ref}"))


def rewrite_session(work: Workspace, source: Source, *, with_model: bool) -> Captured:
    """Write the note of a kept *source* anew: by the model of the settings, or by rules. The owner's edits stay.

    Raises:
        MemtoolError: the vault cannot be written.
    """
    job = Job(source.session_id, event=BY_HAND)
    record = read_record(work.vault, source.session_id)
    about = Conversation(
        source.session_id, source.cwd, source.branch, source.title, (), source.started_at, source.ended_at,
        size=source.size, client=source.client or CLAUDE_CODE,
    )  # fmt: skip
    has_answers = any(turn.messages for turn in source.turns)
    session = ReadSession(about, source, record.offset, record.mark, record.secrets, has_answers=has_answers)
    area = work.registered_area(Path(source.cwd or work.home))
    writing = _Writing(work, job, session, area, None, _note_ref(work, session, record))
    draft = draft_of(source.note)
    if with_model:
        answer = write_with_model(session, draft, work.settings, work.vault, work.now())
        if answer.draft is None:
            return Captured(fallback=answer.reason)
        draft, record = answer.draft._replace(size=source.size), record._replace(model_at=work.now().timestamp())
    else:
        draft = write_by_rules(session, draft, writing.current, work.language)
    return writing.write(draft, record)[0]


def _wants_model(work: Workspace, job: Job, draft: OldDraft, size: int) -> bool:
    is_written = draft.writer != EXTRACTIVE and draft.size == size  # with all that is in the transcript
    return is_set_up(work.settings.llm) and job.event not in _WITHOUT_MODEL and not is_written


def _mask_earlier(work: Workspace, job: Job, session: ReadSession) -> None:
    """Mask what was found only now in all that was written of the session before."""
    first, last = session.source.started_at or work.now(), session.source.ended_at or work.now()
    days = {(first + timedelta(days=number)).astimezone().date() for number in range((last - first).days + 2)}
    source = source_ref(work.vault, job.session_id)
    refs = [note_of(work.vault, job.session_id), *sorted(daily_ref(work.vault, day) for day in days)]
    note_uncommitted(work.vault, mask_files(work.vault, refs, session.mask))
    mask_files(work.vault, [source] if source else [], session.mask)
    for folder in {work.vault.state_path, work.index_folder}:
        mask_state(folder, session.mask, besides=("queue",))
    if any((work.index_folder / "index").glob("*")):
        with suppress(MemtoolError):  # the next search makes it
            use_index(place_of(work), lambda _: None, rebuild=True)


class _Writing(NamedTuple):
    """What is written of one session, and where: *ref* is the path of its note, which may not be there yet."""

    work: Workspace
    job: Job
    session: ReadSession
    area: ProjectArea
    later: Later | None
    ref: str

    @property
    def current(self) -> str | None:
        """The note as it is in the vault."""
        return _read_note(self.work.vault, self.ref)

    def write(self, draft: OldDraft, record: Record) -> tuple[Captured, OldDraft, Record]:
        """Write the session's note of *draft*, its lines in the daily notes and its source; keep its record.

        A session that left nothing behind has a line in the daily note and no note of its own.
        """
        work, vault, source = self.work, self.work.vault, self.session.source
        now, current, ref = work.now(), self.current, self.ref
        told = self.session.conversation.told or _told_before(current)
        named = self.session.conversation._replace(session_id=self.job.session_id, told=told)
        files = [file for turn in source.turns for file in turn.files]
        note = session_note(
            named,
            draft.summary,
            files,
            len(source.turns),
            project=self.area.name,
            root=self.area.root,
            home=work.home,
            now=now,
        )
        known = without_saved(note.draft, saved_in(vault, self.job.session_id, self.area.name))
        title = title_as_known(known.title, current)
        note = note._replace(id=self.job.session_id, draft=known._replace(title=title))
        stem = PurePosixPath(ref).stem
        days = daily_sessions(named, note, now=now)
        refs = [*(daily_ref(vault, day) for day in days), *([self.area.ref] if self.area.name else [])]
        if has_note := bool(told) or current is not None or leaves_note(self.session):
            refs.insert(0, ref)
        names = (stem, session_name(self.job.session_id)) if has_note else (session_name(self.job.session_id),)
        is_in_place = not has_note or re.fullmatch(r"sessions/[^()\s/]+\.md", ref)  # its owner has moved the links, too
        days = {day: line._replace(session_id=names[0], former=names[1:]) for day, line in days.items() if is_in_place}
        note_uncommitted(vault, refs)
        self._write_days(days, has_note=has_note)  # before the record, which says that the session is known
        if has_note:
            generated = render_session(note, language=work.language)
            _replace_note(vault, ref, draft.text, generated)
            draft, record = draft._replace(text=generated), record._replace(ref=ref)
        kept = write_source(vault, source._replace(note=as_note(draft)), now)
        if is_in_git(vault):
            note_uncommitted(vault, [kept])
        self.keep(record)
        return Captured(tuple(refs), draft.summary.topic, self.area.name, client=source.client), draft, record

    def keep(self, record: Record) -> None:
        """Keep the session's record, now or later."""
        if self.later is None:
            write_record(self.work.vault, self.job.session_id, record)
        else:
            self.later.records[self.job.session_id] = record

    def _write_days(self, days: Mapping[date, DailySession], *, has_note: bool) -> None:
        for day, line in days.items():
            if self.later is None:
                add = partial(add_session, session=line, has_note=has_note, language=self.work.language)
                change_daily(self.work.vault, day, add, language=self.work.language)
            else:
                self.later.lines.setdefault(day, {})[self.job.session_id] = line, has_note


def _read_note(vault: Vault, ref: str) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        return vault.path(ref).read_text(encoding="utf-8-sig")
    return None


def _told_before(note: str | None) -> dict[str, str]:
    """Return the summary by who worked that the note holds: its record may lie before what was read anew."""
    fields = parse_fields(split_front_matter(note)[0] or "") if note else {}
    return told_in(fields) if isinstance(fields, dict) else {}


def _replace_note(vault: Vault, ref: str, base: str, generated: str) -> None:
    def merged(current: str | None) -> str:
        if current is None:
            return generated
        # A note that nobody touched is its own base: we may have been killed before its record was written.
        return keep_hand_edits(current if is_as_written(current) else base or None, current, generated)

    path = vault.path(ref)
    with vault.lock():
        files_of_vault.change(path, merged)
