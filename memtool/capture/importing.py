"""Turning what the client already keeps on this machine into notes, so that the vault is full on day one.

Of sessions whose transcripts are gone, the client's list of typed prompts (`history.jsonl`) is all that is left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memtool.capture import limits
from memtool.capture.captured import needs_no_capture, read_record, write_record
from memtool.capture.client_event import is_excluded, is_print_mode
from memtool.capture.daily_lines import Edit, change_daily, daily_ref, edit_entry, is_ignored
from memtool.capture.queue import Job
from memtool.capture.session_capture import IMPORT, IMPORT_WITH_MODEL, Later, capture
from memtool.capture.session_reading import ReadSession, read_session, source_of
from memtool.capture.source import find_source
from memtool.capture.transcript.forms import KeptSession, form_of_client
from memtool.capture.transcript.record_fields import moment_of, text_at, time_of
from memtool.capture.transcript.record_stream import open_transcript
from memtool.capture.turns import Conversation, Step
from memtool.clients import CLAUDE_CODE, title_of
from memtool.errors import MemtoolError, TranscriptUnreadable, sentence_of
from memtool.history.one_commit import commit_noted
from memtool.history.uncommitted import note_uncommitted
from memtool.index.turn_table import catch_up_turns
from memtool.text.json_places import object_in
from memtool.text.lines import counted
from memtool.vault.daily import DailyEntry, add_entries, add_sessions
from memtool.vault.session_names import note_of
from memtool.vault.sources import source_ref, trim_sources
from memtool.workspace import Workspace


class Importable(NamedTuple):
    """A session that can be imported.

    Args:
        session_id: the client's name for it.
        path: of its transcript; None if only its prompts are left, which then stand in *prompts*.
        project: the name of its area.
        started_at, ended_at: in seconds since 1970, as its records say; else as the file's time says.
        size: in bytes.
        is_known: whether it was captured already and has not grown.
    """

    session_id: str
    path: Path | None
    project: str
    started_at: float
    ended_at: float
    size: int
    is_known: bool
    prompts: Conversation | None = None

    @property
    def started_on(self) -> date:
        """The local day on which it began."""
        return datetime.fromtimestamp(self.started_at).astimezone().date()

    @property
    def ended_on(self) -> date:
        """The local day of its last record."""
        return datetime.fromtimestamp(self.ended_at).astimezone().date()


class ImportedSessions(NamedTuple):
    """The result of an import: sessions that became notes, those that said nothing, and unread ones with the reason."""

    notes: int = 0
    empty: int = 0
    problems: tuple[str, ...] = ()


def find_sources(work: Workspace) -> list[Importable]:
    """Return every session that Claude Code keeps in its folder (`~/.claude`), oldest first."""
    found = sources_in(work, work.claude_folder / "projects", CLAUDE_CODE)
    seen = {source.session_id for source in found}
    prompts = read_history(work.claude_folder / "history.jsonl", work.redact.of_session)
    found += [
        _prompts_source(work, one) for one in prompts if one.session_id not in seen and not _is_excluded(work, one.cwd)
    ]
    return sorted(found, key=_age)


def sources_in(work: Workspace, folder: Path, client: str) -> list[Importable]:
    """Return every session that *client* keeps below *folder*, oldest first."""
    found = (_source(work, one) for one in form_of_client(client).sessions(folder))
    return sorted((source for source in found if source), key=_age)


def doomed(work: Workspace, sources: Iterable[Importable]) -> int:
    """Return how many of *sources* have transcripts that Claude Code deletes within a week.

    It goes by the file's age and its own setting `cleanupPeriodDays`.
    """
    days: float = 30.0  # the client's own default
    with suppress(OSError, ValueError):
        text = (work.claude_folder / "settings.json").read_text(encoding="utf-8-sig")
        wanted: Any = object_in(text).get("cleanupPeriodDays")
        days = wanted if type(wanted) in (int, float) and wanted >= 0 else days
    first_kept = work.now().timestamp() - (days - 7) * 86_400
    count = 0
    for source in sources:
        with suppress(OSError):
            count += source.path is not None and source.path.stat().st_mtime < first_kept
    return count


def _age(source: Importable) -> tuple[float, str]:
    return source.ended_at, source.session_id


def import_sessions(
    work: Workspace,
    sources: Sequence[Importable],
    progress: Callable[[int, int], None],
    *,
    client: str = CLAUDE_CODE,
    with_model: bool = False,
) -> ImportedSessions:
    """Write the notes of *sources* that are not known yet, and commit them together; it can be repeated at any time.

    *progress* is told (sessions done, sessions in all).
    """
    done = ImportedSessions()
    waiting = [source for source in sources if not source.is_known]
    batch = Later({}, {}, {})
    try:
        for number, source in enumerate(waiting):
            progress(number, len(waiting))
            done = _import(work, source, done, batch, event=IMPORT_WITH_MODEL if with_model else IMPORT)
            # What a model answered is kept at once: it was paid for.
            if with_model or len(batch.records) >= limits.MANY:
                done, batch = _with_days(work, batch, done), Later({}, {}, {})
        progress(len(waiting), len(waiting))
    finally:  # also of an import that is interrupted
        done = _with_days(work, batch, done)
        with suppress(MemtoolError):  # then it is committed with the next capture
            commit_noted(work.vault, f"import: {counted(done.notes, 'session')} of {title_of(client)}")
            trim_sources(work.vault, work.settings.transcripts, work.now())
        catch_up_turns(work)
    return done


def _import(
    work: Workspace, source: Importable, done: ImportedSessions, batch: Later, *, event: str
) -> ImportedSessions:
    job = Job(source.session_id, str(source.path or ""), event=event)
    try:
        known = find_source(work.vault, source.session_id)
        if source.prompts:
            note = known.note if known else {}
            session = ReadSession(source_of(source.prompts, None, note))
        else:
            session = read_session(work, job, known=known)
        later = None if source.prompts else batch  # of prompts alone the note says that they are known
        captured = capture(work, job, session, read_record(work.vault, source.session_id), later)
        for day, entry in _edits(work, session) if captured.refs else ():
            batch.entries.setdefault(day, []).append(entry)
    except Exception as error:  # noqa: BLE001  (a bug in one session must not stop the others)
        return done._replace(problems=(*done.problems, f"{source.session_id}: {sentence_of(error)}"))
    return done._replace(notes=done.notes + 1) if captured.refs else done._replace(empty=done.empty + 1)


def _with_days(work: Workspace, batch: Later, done: ImportedSessions) -> ImportedSessions:
    """Write the daily notes of *batch*, each once; then the records by which its sessions are known from now on.

    The sessions of a day that cannot be written are not known then: the next import brings them again.
    """
    missing: set[str] = set()
    for day in sorted({*batch.lines, *batch.entries}):

        def with_all(text: str, day: date = day) -> str:
            lines = batch.lines.get(day, {}).values()
            return add_entries(add_sessions(text, lines, language=work.language), batch.entries.get(day, ()))

        try:
            note_uncommitted(work.vault, [daily_ref(work.vault, day)])
            change_daily(work.vault, day, with_all, language=work.language)
        except MemtoolError as error:
            done = done._replace(problems=(*done.problems, f"{daily_ref(work.vault, day)}: {error}"))
            missing.update(batch.lines.get(day, ()))
    for session_id, record in batch.records.items():
        if session_id not in missing:
            write_record(work.vault, session_id, record)
    return done


def _source(work: Workspace, found: KeptSession) -> Importable | None:
    """Return the session as it can be imported; None if it is excluded, empty, or gone meanwhile."""
    at = found.changed_at
    try:
        folder, entry, times = (found.folder, "", found.times) if found.times else _folder_and_times(found)
        settings, size = work.settings.capture, found.size or found.path.stat().st_size
        if not size or _is_excluded(work, folder) or (is_print_mode(entry) and settings.print_sessions == "no"):
            return None
        known = needs_no_capture(read_record(work.vault, found.session_id), found)
        began, ended = min(times, default=at), max(times, default=at)
        return Importable(found.session_id, found.path, _project(work, folder), began, ended, size, known)
    except OSError:
        return None
    except Exception:  # noqa: BLE001  (the import will say what is wrong with it, and bring the others)
        return Importable(found.session_id, found.path, "", at, at, found.size, is_known=False)


def _prompts_source(work: Workspace, prompts: Conversation) -> Importable:
    # Its transcript said more, as long as it was; and a session that left nothing behind has no note.
    has_note = (work.vault.root / note_of(work.vault, prompts.session_id)).exists()
    is_kept = bool(source_ref(work.vault, prompts.session_id))
    known = has_note or is_kept or read_record(work.vault, prompts.session_id).size >= prompts.size
    began, ended = (at.timestamp() if at else 0.0 for at in (prompts.started_at, prompts.ended_at))
    return Importable(
        prompts.session_id, None, _project(work, prompts.cwd), began, ended, prompts.size, known, prompts
    )  # fmt: skip


def _project(work: Workspace, folder: str) -> str:
    with suppress(OSError, ValueError):  # no folder can have such a name; the import says so
        return work.area(Path(folder)).name if folder else ""
    return ""


def _is_excluded(work: Workspace, folder: str) -> bool:
    with suppress(OSError, ValueError):
        return is_excluded(folder, work.settings.capture.exclude, work.home)
    return False


def _folder_and_times(found: KeptSession) -> tuple[str, str, Sequence[float]]:
    """Return the folder and the entry point that a transcript names first, and the times at both its ends."""
    lines: list[bytes] = []
    with suppress(TranscriptUnreadable), open_transcript(found.path) as file:  # the import will say why
        lines = file.read(limits.TRANSCRIPT_ENDS_BYTES).splitlines()
        file.seek(max(file.tell(), file.seek(0, os.SEEK_END) - limits.TRANSCRIPT_ENDS_BYTES))
        lines += file.read(limits.TRANSCRIPT_ENDS_BYTES).splitlines()
    folder, entry, times = found.folder, "", list[float]()
    for record in map(object_in, lines):
        folder = folder or text_at(record, "cwd") or text_at(record, "payload", "cwd")
        entry = entry or text_at(record, "entrypoint")
        times += [at.timestamp()] if (at := time_of(record)) else []
    return folder, entry, times


def _edits(work: Workspace, session: ReadSession) -> Iterator[tuple[date, DailyEntry]]:
    folder = session.source.cwd
    area = work.registered_area(Path(folder or work.home))
    for step in session.edits:
        if step.at and not is_ignored(step.file, area, work):
            at = step.at.astimezone()
            yield at.date(), edit_entry(work, area, Edit(step.file, folder, at))


def read_history(path: Path, redactor: Callable[[], Callable[[str], str]]) -> list[Conversation]:
    """Return the sessions in the list at *path*, each with its prompts, oldest first.

    Lines that cannot be read are passed over, as are slash commands. A list that is missing is empty. *redactor* gives
    what redacts the prompts of one session.
    """
    sessions: dict[str, Conversation] = {}
    for entry in _entries(path):
        name, prompt, at = entry.get("sessionId"), entry.get("display"), moment_of(entry.get("timestamp"))
        if not (isinstance(name, str) and name and isinstance(prompt, str) and at):
            continue
        known = sessions.get(name) or Conversation(name, text_at(entry, "project"), started_at=at)
        text = prompt.strip()
        if text and not text.startswith(("/", "!")) and len(known.steps) < 200:
            known = known._replace(steps=(*known.steps, Step("prompt", text, at)), size=known.size + len(text))
        sessions[name] = known._replace(ended_at=at)
    found = []
    for one in (each for each in sessions.values() if each.steps):
        redact = redactor()
        for step in one.steps:  # each is read twice, for what a later one says
            redact(step.text)
        steps = (step._replace(text=redact(step.text)[: limits.PROMPT]) for step in one.steps)
        found.append(one._replace(steps=tuple(steps)))
    return sorted(found, key=lambda one: (one.ended_at, one.session_id))


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as lines:
        while line := lines.readline(limits.BLOCK_BYTES):
            yield object_in(line)
