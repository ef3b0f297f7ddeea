"""Turning what the client already keeps on this machine into notes, so that the vault is full on day one."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from memtool.capture.conversation import Conversation
from memtool.capture.daily_file import daily_ref
from memtool.capture.edits import Edit, Surroundings, edit_entry, is_ignored
from memtool.capture.history_file import read_history
from memtool.capture.late_entries import write_entries
from memtool.capture.queue import Job
from memtool.capture.records import read_record
from memtool.capture.session_capture import (
    IMPORT,
    IMPORT_WITH_MODEL,
    Context,
    Session,
    capture,
    read_session,
)
from memtool.capture.sweep import transcripts_in
from memtool.capture.turns import turns_of
from memtool.capture.uncommitted import commit_noted, note_uncommitted
from memtool.errors import MemtoolError
from memtool.vault.daily import DailyEntry
from memtool.vault.numbers import counted
from memtool.vault.project_area import find_area, find_registered_area
from memtool.vault.sessions import session_ref

_HEAD = 131_072  # bytes of a transcript in which its folder is looked for


class Source(NamedTuple):
    """A session that can be imported.

    Args:
        session_id: the client's name for it.
        path: of its transcript; None if only its prompts are left, which then stand in *prompts*.
        project: the name of its area.
        ended_on: the local day of its last change.
        size: in bytes.
        is_known: whether it was captured already and has not grown.
    """

    session_id: str
    path: Path | None
    project: str
    ended_at: float
    size: int
    is_known: bool
    prompts: Conversation | None = None

    @property
    def ended_on(self) -> date:
        """The local day of its last change."""
        return datetime.fromtimestamp(self.ended_at).astimezone().date()


class Imported(NamedTuple):
    """How many sessions became notes, how many said nothing, and what could not be read (with the reason)."""

    notes: int = 0
    empty: int = 0
    problems: tuple[str, ...] = ()


def find_sources(context: Context, client_folder: Path) -> list[Source]:
    """Return every session that the client keeps in *client_folder* (`~/.claude`), oldest first."""
    found = [source for path in transcripts_in(client_folder / "projects") if (source := _source(context, path))]
    seen = {source.session_id for source in found}
    prompts = read_history(client_folder / "history.jsonl", context.redact)
    found += [_prompts_source(context, one) for one in prompts if one.session_id not in seen]
    return sorted(found, key=lambda source: (source.ended_at, source.session_id))


def import_sessions(
    context: Context,
    client_folder: Path,
    sources: Sequence[Source],
    progress: Callable[[int, int], None],
    *,
    with_model: bool = False,
) -> Imported:
    """Write the notes of *sources* that are not known yet, and commit them together; it can be repeated at any time.

    *progress* is told (sessions done, sessions in all).
    """
    done = Imported()
    waiting = [source for source in sources if not source.is_known]
    try:
        for number, source in enumerate(waiting):
            progress(number, len(waiting))
            done = _import(context, client_folder, source, done, event=IMPORT_WITH_MODEL if with_model else IMPORT)
        progress(len(waiting), len(waiting))
    finally:  # also of an import that is interrupted
        with suppress(MemtoolError):  # then it is committed with the next capture
            commit_noted(context.vault, f"import: {counted(done.notes, 'session')} of Claude Code")
    return done


def _import(context: Context, client_folder: Path, source: Source, done: Imported, *, event: str) -> Imported:
    job = Job(source.session_id, str(source.path or ""), event=event)
    try:
        session = _session(source.prompts) if source.prompts else read_session(context, job)
        captured = capture(context, job, session, read_record(context.vault, source.session_id))
        if captured.refs:
            _write_edits(context, client_folder, session.conversation)
    except MemtoolError as error:
        return done._replace(problems=(*done.problems, f"{source.session_id}: {error}"))
    return done._replace(notes=done.notes + 1) if captured.refs else done._replace(empty=done.empty + 1)


def _session(prompts: Conversation) -> Session:
    return Session(prompts, turns_of(prompts.steps))


def _source(context: Context, path: Path) -> Source | None:
    with suppress(OSError):
        status = path.stat()
        known = read_record(context.vault, path.stem).size == status.st_size
        project = _project(context, _folder_of(path))
        return Source(path.stem, path, project, status.st_mtime, status.st_size, known) if status.st_size else None
    return None


def _prompts_source(context: Context, prompts: Conversation) -> Source:
    known = (
        context.vault.root / session_ref(prompts.session_id)
    ).exists()  # its transcript said more, as long as it was
    ended_at = prompts.ended_at.timestamp() if prompts.ended_at else 0.0
    return Source(prompts.session_id, None, _project(context, prompts.cwd), ended_at, prompts.size, known, prompts)


def _project(context: Context, folder: str) -> str:
    area = find_area(context.vault, Path(folder), context.home, context.now().timestamp()) if folder else None
    return area.name if area else ""


def _folder_of(path: Path) -> str:
    """Return the folder in which the session began, from the first record that names one."""
    with path.open("rb") as file:
        for line in file.read(_HEAD).splitlines():
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict) and isinstance(record.get("cwd"), str) and record["cwd"]:
                    return str(record["cwd"])
    return ""


def _write_edits(context: Context, client_folder: Path, conversation: Conversation) -> None:
    around = Surroundings(
        context.vault, context.home, client_folder, context.settings.capture.ignore, context.language, context.redact
    )
    by_day: dict[date, list[DailyEntry]] = defaultdict(list)
    for day, entry in _edits(context, around, conversation):
        by_day[day].append(entry)
    note_uncommitted(context.vault, map(daily_ref, by_day))
    for day, entries in by_day.items():
        write_entries(context.vault, day, entries, language=context.language)


def _edits(context: Context, around: Surroundings, conversation: Conversation) -> Iterator[tuple[date, DailyEntry]]:
    folder = Path(conversation.cwd or context.home)
    area = find_registered_area(context.vault, folder, context.home, context.now().timestamp())
    for step in conversation.edits:
        if step.at and not is_ignored(step.file, area, around):
            at = step.at.astimezone()
            yield at.date(), edit_entry(around, area, Edit(step.file, conversation.cwd, at))
