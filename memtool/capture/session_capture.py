"""One session, from its transcript to its note: read, redact, keep the source, write; and again if a model is due."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memtool.capture import limits
from memtool.capture.captured import Captured, Record, read_record, write_record
from memtool.capture.client_event import is_excluded
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.capture.model_note import note_with_model
from memtool.capture.note_place import follow_title, place_of_note
from memtool.capture.queue import Job, only_worker
from memtool.capture.rules_note import leaves_note, write_by_rules
from memtool.capture.saved import saved_in, without_saved
from memtool.capture.session_reading import ReadSession, read_session
from memtool.capture.source import KeptNote, Source, fields_of, find_source, kept_note, read_source, write_source
from memtool.clients import CLAUDE_CODE
from memtool.errors import Busy, MemtoolError, sentence_of
from memtool.history.one_commit import commit_noted
from memtool.history.uncommitted import note_uncommitted
from memtool.index.engine import place_of, use_index
from memtool.llm import is_set_up
from memtool.text.frontmatter import parse_fields, split_front_matter
from memtool.text.lines import counted, one_line, shortened, width
from memtool.vault import files as files_of_vault
from memtool.vault.daily import DailyEntry, DailySession, add_session
from memtool.vault.forgotten import title_as_known
from memtool.vault.hand_edits import keep_hand_edits
from memtool.vault.layout import Vault, session_name
from memtool.vault.masking import mask_files, mask_state
from memtool.vault.note import first_sentence
from memtool.vault.project_area import ProjectArea, shown_path
from memtool.vault.session_names import note_of
from memtool.vault.sessions import Draft, SessionNote, is_as_written, render_session, summary_parts_in
from memtool.vault.sources import is_in_git, list_sources, source_ref
from memtool.workspace import Workspace

GOES_ON = ("Stop", "PreCompact")  # events after which the session goes on, so that its note will change again
BY_HAND = "capture"  # the event of a transcript that the user has named
IMPORT, IMPORT_WITH_MODEL = "import", "import with model"
RULES = "rules"  # the writer of a note without a model

_WITHOUT_MODEL = ("Stop", "PostCompact", IMPORT)  # a turn has ended, the client has just summarised, or it is old
_AT_ONCE = (BY_HAND, IMPORT_WITH_MODEL)  # what the user asked for does not wait until the hour is over


class Later(NamedTuple):
    """The writes of many sessions, done at once: records, lines with whether there is a note, and edits, by day."""

    records: dict[str, Record]
    lines: dict[date, dict[str, tuple[DailySession, bool]]]
    entries: dict[date, list[DailyEntry]]


def capture_session(work: Workspace, job: Job) -> Captured:
    """Write the note of the session that *job* names, and its line in the daily note.

    The note by rules is written first, so that there is one even if the model fails.

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
        _mask_earlier(work, session)
        before = find_source(work.vault, source.session_id)
        session = session._replace(source=source._replace(note=before.note if before else {}))
    record = record._replace(size=source.size, offset=session.offset, mark=session.mark, secrets=session.secrets)
    folder = source.cwd or job.cwd
    if job.event != BY_HAND and (record.off or is_excluded(folder, work.settings.capture.exclude, work.home)):
        write_record(work.vault, source.session_id, Record(source.size, off=record.off))
        return Captured()
    if not any(turn.typed or turn.messages or turn.summary for turn in source.turns):
        write_record(work.vault, source.session_id, record)
        return Captured()
    writing = _writing(work, session, folder, record, later)
    known = kept_note(session.source.note)
    llm = work.settings.llm
    if known.writer in ("", RULES) or not (is_set_up(llm) or known.size == source.size):
        known = known._replace(writer=RULES, draft=_by_rules(work, source))
    captured, known, record = writing.write(known, record)
    is_written = known.writer != RULES and known.size == source.size  # with all that is in the transcript
    if not captured.refs or is_written or not is_set_up(llm) or job.event in _WITHOUT_MODEL:
        return captured
    pause = work.settings.capture.every_minutes * 60
    is_early = work.now().timestamp() - record.model_at < pause and job.tries <= 1  # a failed try is no note
    if is_early and job.event not in _AT_ONCE:
        writing.keep(record._replace(owed=True))  # a later sweep will see to it
        return captured
    return _with_model(writing, captured, known, record)


def _writing(work: Workspace, session: ReadSession, folder: str, record: Record, later: Later | None) -> _Writing:
    area = work.registered_area(Path(folder or work.home))
    return _Writing(work, session, area, later, place_of_note(work, session.source, record.ref))


def _with_model(writing: _Writing, captured: Captured, known: KeptNote, record: Record) -> Captured:
    """Return the outcome of asking a model, after *captured*: its note takes the place of the one *known*."""
    work, source, mask = writing.work, writing.session.source, writing.session.mask

    def redact(text: str) -> str:
        return mask(work.redact(text))

    answer = note_with_model(source.turns, work.settings, work.vault, work.now(), redact=redact)
    record = record._replace(model_at=work.now().timestamp(), owed=answer.retry_may_help)
    if answer.draft is None:
        writing.keep(record)
    else:
        if known.writer == RULES and (ref := follow_title(work, source, writing.ref, answer.draft.title)):
            writing, known = writing._replace(ref=ref), known._replace(former=PurePosixPath(writing.ref).stem)
        known = known._replace(writer=answer.provider, draft=answer.draft, size=source.size)
        captured = writing.write(known, record._replace(owed=False))[0]
    return captured._replace(fallback=answer.reason, retry_may_help=answer.retry_may_help)


def _by_rules(work: Workspace, source: Source) -> Draft:
    return write_by_rules(source.turns, branch=source.branch, language=work.language)


def _mask_earlier(work: Workspace, session: ReadSession) -> None:
    """Mask the secrets that were found only now in all that was written of the session before."""
    vault, name = work.vault, session.source.session_id
    first, last = session.source.started_at or work.now(), session.source.ended_at or work.now()
    days = {(first + timedelta(days=number)).astimezone().date() for number in range((last - first).days + 2)}
    source = source_ref(vault, name)
    note_uncommitted(
        vault, mask_files(vault, [note_of(vault, name), *(daily_ref(vault, day) for day in sorted(days))], session.mask)
    )
    mask_files(vault, [source] if source else [], session.mask)
    for folder in {vault.state_path, work.index_folder}:
        mask_state(folder, session.mask, besides=("queue",))
    if any((work.index_folder / "index").glob("*")):
        with suppress(MemtoolError):  # the next search makes it
            use_index(place_of(work), lambda _: None, rebuild=True)


class _Writing(NamedTuple):
    """What is written of one session, and where: *ref* is the path of its note, which may not be there yet."""

    work: Workspace
    session: ReadSession
    area: ProjectArea
    later: Later | None
    ref: str

    def write(self, known: KeptNote, record: Record) -> tuple[Captured, KeptNote, Record]:
        """Write the session's note as *known* has it, its lines in the daily notes and its source; keep its record.

        A session that left nothing behind has a line in the daily note and no note of its own.
        """
        vault, source, now, ref = self.work.vault, self.session.source, self.work.now(), self.ref
        current = _read_note(vault, ref)
        note = self._note(known, self.session.told or _told_before(current), current)
        days = daily_sessions(source, note, now=now)
        refs = [*(daily_ref(vault, day) for day in days), *([self.area.ref] if self.area.name else [])]
        names: tuple[str, ...] = (session_name(source.session_id),)
        if has_note := bool(note.parts) or current is not None or leaves_note(source.turns):
            refs.insert(0, ref)
            names = (PurePosixPath(ref).stem, *names, known.former)
        is_in_place = not has_note or re.fullmatch(r"sessions/[^()\s/]+\.md", ref)  # its owner has moved the links, too
        note_uncommitted(vault, refs)
        for day, line in days.items() if is_in_place else ():  # before the record, which says that it is known
            self._write_line(day, line._replace(session_id=names[0], former=names[1:]), has_note=has_note)
        if has_note:
            generated = render_session(note, language=self.work.language)
            _replace_note(vault, ref, known.text, generated)
            known, record = known._replace(text=generated), record._replace(ref=ref)
        kept = write_source(vault, source._replace(note=fields_of(known)), now)
        if is_in_git(vault):
            note_uncommitted(vault, [kept])
        self.keep(record)
        return Captured(tuple(refs), note.draft.title, self.area.name, client=source.client), known, record

    def _note(self, known: KeptNote, told: Mapping[str, str], current: str | None) -> SessionNote:
        """Return the note as it is to be. Its title is what the agent told of the session, if it did."""
        source, project = self.session.source, self.area.name
        draft = without_saved(known.draft, saved_in(self.work.vault, source.session_id, project))
        worked = shortened(first_sentence(told.get("completed", "")), limits.TITLE)
        title = worked or draft.title or shortened(source.title or draft.asked, limits.TITLE)
        files = tuple(shown_file(file, self.area.root, self.work.home) for file in draft.files)
        return SessionNote(
            id=source.session_id,
            project=project,
            updated=last_minute(source, self.work.now()),
            branch=source.branch,
            client="" if source.client == CLAUDE_CODE else source.client,
            size=source.size,
            writer=known.writer,
            parts=told,
            aliases=(known.former,) if known.former else (),
            draft=draft._replace(title=title_as_known(title, current), files=files),
        )

    def keep(self, record: Record) -> None:
        """Keep the session's record, now or later."""
        if self.later is None:
            write_record(self.work.vault, self.session.source.session_id, record)
        else:
            self.later.records[self.session.source.session_id] = record

    def _write_line(self, day: date, line: DailySession, *, has_note: bool) -> None:
        if self.later is None:
            add = partial(add_session, session=line, has_note=has_note, language=self.work.language)
            change_daily(self.work.vault, day, add, language=self.work.language)
        else:
            self.later.lines.setdefault(day, {})[self.session.source.session_id] = line, has_note


def _read_note(vault: Vault, ref: str) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        return vault.path(ref).read_text(encoding="utf-8-sig")
    return None


def _told_before(note: str | None) -> dict[str, str]:
    """Return the agent's own summary that the note holds: its record may lie before what was read anew."""
    fields = parse_fields(split_front_matter(note)[0] or "") if note else {}
    return summary_parts_in(fields) if isinstance(fields, dict) else {}


def _replace_note(vault: Vault, ref: str, base: str, generated: str) -> None:
    def merged(current: str | None) -> str:
        if current is None:
            return generated
        # A note that nobody touched is its own base: we may have been killed before its record was written.
        return keep_hand_edits(current if is_as_written(current) else base or None, current, generated)

    path = vault.path(ref)
    with vault.lock():
        files_of_vault.change(path, merged)


def daily_sessions(
    source: Source, note: SessionNote, *, now: datetime, zone: tzinfo | None = None
) -> dict[date, DailySession]:
    """Return the line of the session for the daily notes of its first day and of its last."""
    topic = shortened(note.draft.title, limits.LINE)
    return {
        at.date(): DailySession(at.strftime("%H:%M"), note.project, note.id, topic) for at in _span(source, now, zone)
    }


def last_minute(source: Source, now: datetime, zone: tzinfo | None = None) -> str:
    """Return the local minute in which a session was last heard of, such as `2026-02-10 14:30`."""
    return _span(source, now, zone)[1].replace(tzinfo=None).isoformat(" ", "minutes")


def _span(source: Source, now: datetime, zone: tzinfo | None) -> tuple[datetime, datetime]:
    """Return the local times at which the session began and ended."""
    last = _local(source.ended_at, zone) or now.astimezone(zone)
    first = _local(source.started_at, zone) or last
    return min(first, last), last


def _local(at: datetime | None, zone: tzinfo | None) -> datetime | None:
    try:
        return at and at.astimezone(zone)
    except (OverflowError, ValueError, OSError):  # a time that the machine's calendar does not reach
        return None


def shown_file(file: str, root: Path | None, home: Path) -> str:
    """Return *file* as a note names it: by its name and folder; a file outside the project at *root* by its path."""
    if not os.path.isabs(file):  # noqa: PTH117
        return file
    path = one_line(shown_path(os.path.normpath(file), root, home))
    if not path.startswith(("~", "/", "\\")):
        return re.sub(r"^.*[/\\](?=[^/\\]+[/\\][^/\\]+$)", "", path)
    while width(path) > (limits.PATH if "/" in path.removeprefix("…/") else limits.NAME):
        _, _, rest = path.removeprefix("…/").partition("/")
        path = f"…/{rest}" if rest else ""
    return path


class RewrittenNotes(NamedTuple):
    """The result: notes that were written anew, those by a model that were *left*, and the others with the reason."""

    notes: int = 0
    left: int = 0
    problems: tuple[str, ...] = ()


def rewrite_notes(
    work: Workspace, sessions: Sequence[str], progress: Callable[[int, int], None], *, writer: str = ""
) -> RewrittenNotes:
    """Write the notes of the kept *sessions*, or of all, anew; one commit holds them. The owner's edits stay.

    *writer* is the model that writes them, or `none` for memtool's rules. Without it rules write, and what a model
    wrote stays.

    Raises:
        Busy: sessions are being captured.
    """
    if writer not in ("", "none"):
        llm = work.settings.llm._replace(writer=writer, providers=())
        work = work._replace(settings=work.settings._replace(llm=llm))
    names = list(sessions) or [one.name for one in list_sources(work.vault)]
    done = RewrittenNotes()
    with only_worker(work.vault) as is_alone:
        if not is_alone:
            raise Busy("sessions are being captured; try again in a minute")
        try:
            for number, name in enumerate(names):
                progress(number, len(names))
                done = _rewritten(work, name, done, writer)
            progress(len(names), len(names))
        finally:
            with suppress(MemtoolError):  # then it is committed with the next capture
                commit_noted(work.vault, f"capture: {counted(done.notes, 'note')} rewritten")
    return done


def _rewritten(work: Workspace, name: str, done: RewrittenNotes, writer: str) -> RewrittenNotes:
    try:
        source = read_source(work.vault, name)
        if source is None or read_record(work.vault, source.session_id).off:
            return done._replace(problems=(*done.problems, f"{name}: its turns are not kept"))
        if not writer and kept_note(source.note).writer not in ("", RULES):
            return done._replace(left=done.left + 1)
        reason = _rewrite(work, source, with_model=writer not in ("", "none"))
    except Exception as error:  # noqa: BLE001  (a bug in one session must not stop the others)
        reason = sentence_of(error)
    if reason:
        return done._replace(problems=(*done.problems, f"{name}: {reason}"))
    return done._replace(notes=done.notes + 1)


def _rewrite(work: Workspace, source: Source, *, with_model: bool) -> str:
    """Write the note of a kept *source* anew; return why a model did not."""
    record, known = read_record(work.vault, source.session_id), kept_note(source.note)
    source = source._replace(client=source.client or CLAUDE_CODE)
    writing = _writing(work, ReadSession(source), source.cwd, record, None)
    if with_model:
        done = _with_model(writing, Captured(), known, record)
        return done.fallback or ("" if done.refs else "no model is set up")
    writing.write(known._replace(writer=RULES, draft=_by_rules(work, source)), record)
    return ""
