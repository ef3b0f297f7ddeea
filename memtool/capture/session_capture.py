"""One session, from its transcript to its note: read, redact, keep the source, write; and again if a model is due."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memtool.capture.captured import Record, read_record, write_record
from memtool.capture.conversation import Conversation
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.capture.kept_note import KeptNote, fields_of, kept_note
from memtool.capture.model_note import note_with_model
from memtool.capture.note_place import follow_title, place_of_note
from memtool.capture.queue import Job
from memtool.capture.rules_note import leaves_note, write_by_rules
from memtool.capture.saved import saved_in, without_saved
from memtool.capture.session_note import daily_sessions, last_minute, shown_file
from memtool.capture.session_reading import ReadSession, read_session
from memtool.capture.source import Source, find_source, write_source
from memtool.capture.switches import is_excluded
from memtool.clients import CLAUDE_CODE
from memtool.errors import MemtoolError
from memtool.history.uncommitted import note_uncommitted
from memtool.index.engine import place_of, use_index
from memtool.llm import is_set_up
from memtool.text.frontmatter import parse_fields, split_front_matter
from memtool.text.lines import shortened
from memtool.vault import files as files_of_vault
from memtool.vault.daily import DailySession, add_session
from memtool.vault.hand_edits import keep_hand_edits, title_as_known
from memtool.vault.layout import Vault, session_name
from memtool.vault.masking import mask_files, mask_state
from memtool.vault.note import first_sentence
from memtool.vault.project_area import ProjectArea
from memtool.vault.session_names import note_of
from memtool.vault.sessions import Draft, SessionNote, is_as_written, render_session, told_in
from memtool.vault.sources import is_in_git, source_ref
from memtool.workspace import Workspace

GOES_ON = ("Stop", "PreCompact")  # events after which the session goes on, so that its note will change again

BY_HAND = "capture"  # the event of a transcript that the user has named
IMPORT, IMPORT_WITH_MODEL = "import", "import with model"

RULES = "rules"  # the writer of a note without a model

_WITHOUT_MODEL = ("Stop", "PostCompact", IMPORT)  # a turn has ended, the client has just summarised, or it is old
_WIDEST_TITLE = 70  # columns of a title in the words of who worked
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
        before = find_source(work.vault, job.session_id)
        session = session._replace(source=source._replace(note=before.note if before else {}))
    record = record._replace(size=source.size, offset=session.offset, mark=session.mark, secrets=session.secrets)
    folder = source.cwd or job.cwd
    if job.event != BY_HAND and (record.off or is_excluded(folder, work.settings.capture.exclude, work.home)):
        write_record(work.vault, job.session_id, Record(source.size, off=record.off))
        return Captured()
    if not any(turn.typed or turn.messages or turn.summary for turn in source.turns):
        write_record(work.vault, job.session_id, record)
        return Captured()
    area = work.registered_area(Path(folder or work.home))
    ref = place_of_note(work, session.source, record.ref)
    writing = _Writing(work, job, session, area, later, ref)
    known = kept_note(session.source.note)
    if known.writer in ("", RULES) or not (is_set_up(work.settings.llm) or known.size == source.size):
        known = known._replace(writer=RULES, draft=_by_rules(work, source))
    captured, known, record = writing.write(known, record)
    if not captured.refs or not _wants_model(work, job, known, source.size):
        return captured
    pause = work.settings.capture.every_minutes * 60
    is_early = work.now().timestamp() - record.model_at < pause and job.tries <= 1  # a failed try is no note
    if is_early and job.event not in _AT_ONCE:
        writing.keep(record._replace(owed=True))  # a later sweep will see to it
        return captured
    return _with_model(writing, captured, known, record)


def _with_model(writing: _Writing, captured: Captured, known: KeptNote, record: Record) -> Captured:
    """Return what came of asking a model, after *captured*: its note takes the place of the one *known*."""
    work, source = writing.work, writing.session.source
    mask = writing.session.mask

    def redact(text: str) -> str:
        return mask(work.redact(text))

    answer = note_with_model(source.turns, work.settings, work.vault, work.now(), redact=redact)
    record = record._replace(model_at=work.now().timestamp(), owed=answer.may_pass)
    if answer.draft is not None:
        if known.writer == RULES and (ref := follow_title(work, source, writing.ref, answer.draft.title)):
            writing, known = writing._replace(ref=ref), known._replace(former=PurePosixPath(writing.ref).stem)
        known = known._replace(writer=answer.provider, draft=answer.draft, size=source.size)
        captured, _, _ = writing.write(known, record._replace(owed=False))
    else:
        writing.keep(record)
    return captured._replace(fallback=answer.reason, may_pass=answer.may_pass)


def _by_rules(work: Workspace, source: Source) -> Draft:
    return write_by_rules(source.turns, branch=source.branch, language=work.language)


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
    session = ReadSession(about, source, record.offset, record.mark, record.secrets)
    area = work.registered_area(Path(source.cwd or work.home))
    writing = _Writing(work, job, session, area, None, place_of_note(work, session.source, record.ref))
    known = kept_note(source.note)
    if with_model:
        done = _with_model(writing, Captured(), known, record)
        return done if done.refs else done._replace(fallback=done.fallback or "no model is set up")
    return writing.write(known._replace(writer=RULES, draft=_by_rules(work, source)), record)[0]


def _wants_model(work: Workspace, job: Job, known: KeptNote, size: int) -> bool:
    is_written = known.writer != RULES and known.size == size  # with all that is in the transcript
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

    def write(self, known: KeptNote, record: Record) -> tuple[Captured, KeptNote, Record]:
        """Write the session's note as *known* has it, its lines in the daily notes and its source; keep its record.

        A session that left nothing behind has a line in the daily note and no note of its own.
        """
        work, vault, source = self.work, self.work.vault, self.session.source
        now, current, ref = work.now(), self.current, self.ref
        told = self.session.conversation.told or _told_before(current)
        named = self.session.conversation._replace(session_id=self.job.session_id, told=told)
        note = self._note(known, told, current)
        stem = PurePosixPath(ref).stem
        days = daily_sessions(named, note, now=now)
        refs = [*(daily_ref(vault, day) for day in days), *([self.area.ref] if self.area.name else [])]
        if has_note := bool(told) or current is not None or leaves_note(source.turns):
            refs.insert(0, ref)
        names = (stem, session_name(self.job.session_id), known.former)[: 3 if has_note else 0]
        names = names or (session_name(self.job.session_id),)
        is_in_place = not has_note or re.fullmatch(r"sessions/[^()\s/]+\.md", ref)  # its owner has moved the links, too
        days = {day: line._replace(session_id=names[0], former=names[1:]) for day, line in days.items() if is_in_place}
        note_uncommitted(vault, refs)
        self._write_days(days, has_note=has_note)  # before the record, which says that the session is known
        if has_note:
            generated = render_session(note, language=work.language)
            _replace_note(vault, ref, known.text, generated)
            known, record = known._replace(text=generated), record._replace(ref=ref)
        kept = write_source(vault, source._replace(note=fields_of(known)), now)
        if is_in_git(vault):
            note_uncommitted(vault, [kept])
        self.keep(record)
        return Captured(tuple(refs), note.draft.title, self.area.name, client=source.client), known, record

    def _note(self, known: KeptNote, told: Mapping[str, str], current: str | None) -> SessionNote:
        """Return the note as it is to be; who worked has the last word on what came of the session."""
        source, project = self.session.source, self.area.name
        draft = without_saved(known.draft, saved_in(self.work.vault, self.job.session_id, project))
        worked = shortened(first_sentence(told.get("completed", "")), _WIDEST_TITLE)
        title = worked or draft.title or shortened(source.title or draft.asked, _WIDEST_TITLE)
        return SessionNote(
            id=self.job.session_id,
            project=project,
            updated=last_minute(self.session.conversation, self.work.now()),
            branch=source.branch,
            client="" if source.client == CLAUDE_CODE else source.client,
            size=source.size,
            writer=known.writer,
            told=told,
            aliases=(known.former,) if known.former else (),
            draft=draft._replace(
                title=title_as_known(title, current),
                files=tuple(shown_file(file, self.area.root, self.work.home) for file in draft.files),
            ),
        )

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
