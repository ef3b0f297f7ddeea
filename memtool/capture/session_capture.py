"""One session, from its transcript to its note: read, redact, summarise, write; and again if a model is due."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtool.capture.captured import ReadUpTo, Record, kept_turns, read_record, write_record
from memtool.capture.conversation import Conversation, Step
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.capture.model_summary import ModelSummary, summarise_with_model
from memtool.capture.old_turns import Turn, turns_of
from memtool.capture.queue import Job
from memtool.capture.session_note import daily_sessions, session_note
from memtool.capture.summary import left_something, summarise
from memtool.capture.switches import is_excluded
from memtool.capture.transcript.reader import read_transcript
from memtool.capture.transcript.record_stream import mark_before, open_transcript
from memtool.capture.transcript.text import compaction_text
from memtool.clients import CLAUDE_CODE
from memtool.errors import MemtoolError, TranscriptUnreadable
from memtool.index.engine import place_of, use_index
from memtool.llm import EXTRACTIVE, is_set_up
from memtool.text.frontmatter import parse_fields, split_front_matter
from memtool.vault import files as files_of_vault
from memtool.vault.daily import DailySession, add_session
from memtool.vault.hand_edits import keep_hand_edits, topic_as_known
from memtool.vault.layout import Vault, session_ref
from memtool.vault.masking import Mask, mask_files, mask_state
from memtool.vault.old_sessions import is_as_written, parse_session, render_session, told_in
from memtool.vault.project_area import ProjectArea
from memtool.vault.session_lines import write_values
from memtool.vault.session_rows import Row, parse_row, render_row, texts_of, without_texts
from memtool.vault.uncommitted import note_uncommitted
from memtool.workspace import Workspace

if TYPE_CHECKING:
    from memtool.redaction import Redactor

GOES_ON = ("Stop", "PreCompact")  # events after which the session goes on, so that its note will change again

BY_HAND = "capture"  # the event of a transcript that the user has named
IMPORT, IMPORT_WITH_MODEL = "import", "import with model"

_NOW_AND_THEN = ("Stop", "SessionStart")  # a sweep may find a session that is going on elsewhere
_WITHOUT_MODEL = ("PreCompact", "PostCompact", IMPORT)  # the client is about to summarise it, or has; or it is old
_LITTLE = 1_500  # characters said since the client's own summary that need no other
_MOST_SECRETS = 500  # of one session; with more it is not read again for the last of them
MOST_HELPERS = 100  # of one session, the last ones

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class ReadSession(NamedTuple):
    """A session as far as it is known: its folder, times and size, its turns, and the place to read on from.

    *mask* takes its secrets out of other texts.
    """

    conversation: Conversation
    turns: list[Turn]
    reading: ReadUpTo = ReadUpTo()
    mask: Mask = str


class Later(NamedTuple):
    """The writes of many sessions, done at once: their records, and their lines with whether there is a note."""

    records: dict[str, Record]
    lines: dict[date, dict[str, tuple[DailySession, bool]]]


class Captured(NamedTuple):
    """The outcome of capturing a session.

    Args:
        refs: the files that were written.
        topic, project: of the session.
        fallback: why the summary is extractive although a model was asked.
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

    The extractive note is written first, so that there is one whatever becomes of the model.

    Raises:
        MemtoolError: the transcript cannot be read, or the vault cannot be written.
    """
    record = read_record(work.vault, job.session_id)
    return capture(work, job, read_session(work, job, record.reading), record)


def capture(work: Workspace, job: Job, session: ReadSession, record: Record, later: Later | None = None) -> Captured:
    """Write the note and the daily lines of *session*, captured before as *record* says; return what was written.

    Its record and its lines in daily notes are left to *later*, if that is given.

    Raises:
        MemtoolError: the vault cannot be written.
    """
    if record.size and session.reading.secrets > record.reading.secrets:
        record = _mask_earlier(work, job, session)
    record = record._replace(size=session.conversation.size, reading=session.reading)
    folder = session.conversation.cwd or job.cwd
    if job.event != BY_HAND and (record.off or is_excluded(folder, work.settings.capture.exclude, work.home)):
        write_record(work.vault, job.session_id, Record(record.size, off=record.off))
        return Captured()
    if not any(turn.asked or turn.told for turn in session.turns):
        write_record(work.vault, job.session_id, record)
        return Captured()
    where = Path(folder or work.home)
    area = work.registered_area(where)
    digest = _digest(session.turns)
    if record.provider in ("", EXTRACTIVE):
        record = record._replace(digest=digest, provider=EXTRACTIVE)
    refs, record, topic = _write(work, job, session, area, record, later)
    if not refs or not _wants_model(work, job, session.conversation, record, digest):
        return Captured(refs, topic, area.name, client=session.conversation.client)
    age = work.now().timestamp() - record.model_at
    if job.event in _NOW_AND_THEN and age < work.settings.capture.every_minutes * 60:
        write_record(work.vault, job.session_id, record._replace(owed=True))  # a later sweep will see to it
        return Captured(refs, topic, area.name, client=session.conversation.client)
    if session.conversation.start:
        session = read_session(work, job)  # a model is shown the messages themselves
    record, answer = _ask_model(work, session, record, digest)
    if answer.summary is not None:
        refs, record, topic = _write(work, job, session, area, record, later)
    _keep(work, job, record, later)
    return Captured(refs, topic, area.name, answer.reason, answer.may_pass, session.conversation.client)


def read_session(work: Workspace, job: Job, reading: ReadUpTo = ReadUpTo()) -> ReadSession:  # noqa: B008  (never changed)
    """Return the session whose transcript *job* names, read on from *reading*, with what the job knows of its end.

    One that holds a secret is read whole, and again once it is known: it is masked in what came before it, too.
    """
    redact, known = work.redact.of_session(), 0
    session = _read(job, ReadUpTo() if reading.secrets else reading, redact)
    for asked, said in pairwise(session.conversation.steps):
        if (asked.kind, said.kind) == ("answer", "prompt"):
            redact.learn_answer(asked.text, said.text)
    while known < redact.found < _MOST_SECRETS:
        known = redact.found
        redact.counts.clear()
        session = _read(job, ReadUpTo(), redact)
    work.redact.counts.update(redact.counts)
    return session._replace(reading=session.reading._replace(secrets=redact.found))


def _read(job: Job, reading: ReadUpTo, redact: Redactor) -> ReadSession:
    path = Path(job.transcript)
    conversation = read_transcript(
        path,
        redact,
        last_answer=job.said,
        start=reading.offset,
        mark=reading.mark,
        session_id=job.session_id,
        cwd=reading.cwd,
    )
    known = reading if conversation.start else ReadUpTo()
    conversation = _with_edits_of_helpers(conversation, path, redact)
    if job.compaction and not _has_compaction(conversation):
        summary = Step("compaction", redact(compaction_text(job.compaction)), conversation.ended_at)
        conversation = conversation._replace(steps=(*conversation.steps, summary))
    started_at = datetime.fromisoformat(known.started_at) if known.started_at else conversation.started_at
    conversation = conversation._replace(
        cwd=known.cwd or conversation.cwd,
        branch=conversation.branch or known.branch,
        title=conversation.title or known.title,
        started_at=started_at,
    )
    turns = turns_of(conversation.steps, known.turns)
    return ReadSession(conversation, turns, _reading(path, conversation, turns), redact.mask)


def _mask_earlier(work: Workspace, job: Job, session: ReadSession) -> Record:
    """Mask what was found only now in all that was written of the session before; return its record."""
    first, last = session.conversation.started_at or work.now(), session.conversation.ended_at or work.now()
    days = {(first + timedelta(days=number)).astimezone().date() for number in range((last - first).days + 2)}
    refs = [session_ref(job.session_id), *sorted(daily_ref(work.vault, day) for day in days)]
    note_uncommitted(work.vault, mask_files(work.vault, refs, session.mask))
    for folder in {work.vault.state_path, work.index_folder}:
        mask_state(folder, session.mask, besides=("queue",))
    if any((work.index_folder / "index").glob("*")):
        with suppress(MemtoolError):  # the next search makes it
            use_index(place_of(work), lambda _: None, rebuild=True)
    return read_record(work.vault, job.session_id)


def _reading(path: Path, conversation: Conversation, turns: list[Turn]) -> ReadUpTo:
    """Return from where to read on: the last turn may not have ended."""
    offset = turns[-1].offset if turns else 0
    with suppress(TranscriptUnreadable, OSError), open_transcript(path) as file:
        return ReadUpTo(
            offset,
            mark_before(file, offset),
            kept_turns(turns[:-1]),
            conversation.cwd,
            conversation.branch,
            conversation.title,
            conversation.started_at.isoformat() if conversation.started_at else "",
            turns[-1]._replace(said="") if turns else Turn(),
        )
    return ReadUpTo()


def _digest(turns: list[Turn]) -> str:
    digest = hashlib.sha256()
    for turn in turns:
        digest.update(repr(turn._replace(said="")).encode("utf-8", "replace"))
    return digest.hexdigest()


def _wants_model(work: Workspace, job: Job, conversation: Conversation, record: Record, digest: str) -> bool:
    if not is_set_up(work.settings.llm) or job.event in _WITHOUT_MODEL:
        return False
    if record.provider != EXTRACTIVE and record.digest == digest:
        return False
    return _length_since_compaction(conversation) >= _LITTLE or not _has_compaction(conversation)


def _has_compaction(conversation: Conversation) -> bool:
    return any(step.kind == "compaction" and step.text for step in conversation.steps)


def _length_since_compaction(conversation: Conversation) -> int:
    length = 0
    for step in reversed(conversation.steps):
        if step.kind == "compaction" and step.text:
            break
        length += len(step.text)
    return length


def _ask_model(work: Workspace, session: ReadSession, record: Record, digest: str) -> tuple[Record, ModelSummary]:
    """Return the record with the model's summary, or as it was where there is none, and what became of asking."""
    now = work.now()
    answer = summarise_with_model(session.turns, work.settings, work.vault, now)
    record = record._replace(model_at=now.timestamp(), owed=answer.may_pass)
    if answer.summary is not None:
        record = record._replace(digest=digest, provider=answer.provider, owed=False, summary=answer.summary)
    return record, answer


def _write(
    work: Workspace, job: Job, session: ReadSession, area: ProjectArea, record: Record, later: Later | None
) -> tuple[tuple[str, ...], Record, str]:
    """Write the session's note and its lines in the daily notes; return what was written, its record and its topic.

    A session that left nothing behind has a line in the daily note and no note of its own.
    """
    now = work.now()
    ref = session_ref(job.session_id)
    told = session.conversation.told or _told_before(_read_note(work.vault, ref))
    named = session.conversation._replace(session_id=job.session_id, told=told)
    files = [file for turn in session.turns for file in turn.files]
    summary = record.summary
    if record.provider == EXTRACTIVE:
        gone, own = _changed_by_owner(record, _read_note(work.vault, ref))
        record = record._replace(gone=gone)
        summary = summarise(session.turns, branch=named.branch, language=work.language)
        summary = summary._replace(rows=tuple(_wanted(summary.rows, gone, own)))
    note = session_note(
        named, summary, files, len(session.turns), project=area.name, root=area.root, home=work.home, now=now
    )
    note = note._replace(topic=topic_as_known(note.topic, _read_note(work.vault, ref)))
    days = daily_sessions(named, note, now=now)
    refs = [*(daily_ref(work.vault, day) for day in days), *([area.ref] if area.name else [])]
    if has_note := bool(told) or left_something(session.turns) or (work.vault.root / ref).exists():
        refs.insert(0, ref)
    note_uncommitted(work.vault, refs)
    for day, line in days.items():  # before the note and the record, which say that the session is known
        if later is None:
            add = partial(add_session, session=line, has_note=has_note, language=work.language)
            change_daily(work.vault, day, add, language=work.language)
        else:
            later.lines.setdefault(day, {})[job.session_id] = line, has_note
    if has_note:
        generated = render_session(note, language=work.language)
        _replace_note(work.vault, ref, record.base, generated)
        write_values(work.vault, ref, {piece.text: piece.value for row in note.rows for piece in row.pieces})
        record = record._replace(base=generated)
    _keep(work, job, record, later)
    return tuple(refs), record, summary.topic


def _keep(work: Workspace, job: Job, record: Record, later: Later | None) -> None:
    if later is None:
        write_record(work.vault, job.session_id, record)
    else:
        later.records[job.session_id] = record


def _read_note(vault: Vault, ref: str) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        return vault.path(ref).read_text(encoding="utf-8-sig")
    return None


def _told_before(note: str | None) -> dict[str, str]:
    """Return the summary by who worked that the note holds: its record may lie before what was read anew."""
    fields = parse_fields(split_front_matter(note)[0] or "") if note else {}
    return told_in(fields) if isinstance(fields, dict) else {}


def _changed_by_owner(record: Record, current: str | None) -> tuple[tuple[str, ...], list[str]]:
    """Return the texts that the owner took out of the note since the first capture, and the prompts of changed rows."""
    if current is None or not record.base or is_as_written(current):
        return record.gone, []
    before, now = _rows_of(record.base), _rows_of(current)
    there, written = set(texts_of(now)), set(map(render_row, before))
    gone = [*record.gone, *(text for text in texts_of(before) if text not in there)]
    return tuple(dict.fromkeys(gone)), [row.asked for row in now if row.asked and render_row(row) not in written]


def _wanted(rows: Iterable[Row], gone: Sequence[str], own: Sequence[str]) -> list[Row]:
    """Return *rows* without what is *gone*, and without those of the prompts that the owner made their *own*."""
    asked = set(texts_of(row._replace(pieces=()) for row in without_texts(rows, own)))
    return without_texts([row for row in rows if not row.asked or row.asked in asked], gone)


def _rows_of(text: str) -> list[Row]:
    return [parse_row(point.text) for point in parse_session(text).key_points if not point.kind]


def _replace_note(vault: Vault, ref: str, base: str, generated: str) -> None:
    def merged(current: str | None) -> str:
        if current is None:
            return generated
        # A note that nobody touched is its own base: we may have been killed before its record was written.
        return keep_hand_edits(current if is_as_written(current) else base or None, current, generated)

    path = vault.path(ref)
    with vault.lock():
        files_of_vault.change(path, merged)


def _with_edits_of_helpers(conversation: Conversation, path: Path, redact: Callable[[str], str]) -> Conversation:
    """Return *conversation*, whose transcript lies at *path*, with what its helpers edited, each edit at its time."""
    steps = list(conversation.steps)
    since = next((step.at for step in steps if step.at), None) if conversation.start else None
    times = list(accumulate((step.at or _LONG_AGO for step in steps), max))
    edits = sorted(_edits_of_helpers(path, redact, since), key=lambda step: step.at or _LONG_AGO, reverse=True)
    for edit in edits:
        steps.insert(bisect_right(times, edit.at or _LONG_AGO), edit)
    return conversation._replace(steps=tuple(steps))


def _edits_of_helpers(path: Path, redact: Callable[[str], str], since: datetime | None) -> Sequence[Step]:
    """Return the edits of the helpers, from the time *since* on: the others are known."""
    found: list[Step] = []
    for helper in sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))[-MOST_HELPERS:]:
        with suppress(TranscriptUnreadable, OSError):
            if since is None or helper.stat().st_mtime >= since.timestamp():
                found += read_transcript(helper, redact, of_helper=True).edits
    return found if since is None else [step for step in found if step.at and step.at >= since]
