"""Sessions that come by HTTP: what is told of them is kept as a transcript, redacted, and captured as all others are.

It is the transcript that hooks keep for clients without one of their own (`memtool.capture.heard`), so that a session
goes through the same queue and becomes the same note.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memtool.capture.client_event import ClientEvent, is_private, note_edit, queue_session
from memtool.capture.heard import heard_folder, heard_path, keep, keep_record
from memtool.capture.queue import Queue
from memtool.capture.transcript.record_fields import TOLD_SUMMARY
from memtool.clients import HTTP
from memtool.errors import SessionNotFound
from memtool.text.lines import cut, one_line
from memtool.vault.layout import area_folder
from memtool.vault.project_area import area_name, remembered_folders
from memtool.vault.state import read_state
from memtool.workspace import Workspace

PROMPT = "prompt"
ACTIVE, COMPLETED = "active", "completed"
PENDING, PROCESSING, FAILED = "pending", "processing", "failed"
_LARGEST = 16_777_216  # bytes of a transcript, or of the end of the client's list of prompts
_MOST = 500  # transcripts that are looked through, the newest
_LONGEST = 2_000  # characters of a prompt


class Status(NamedTuple):
    """How far a session has come. *queue* says what its capture does; empty where nothing waits."""

    session_id: str
    status: str
    prompts: int
    started_at: str
    completed_at: str
    queue: str


class Prompt(NamedTuple):
    """Something that a user typed, in ISO 8601 *at*; not redacted yet where it comes from the client's own list."""

    session_id: str
    at: str
    folder: str
    text: str

    @property
    def id(self) -> str:
        """What it is known by: the same for as long as it is kept."""
        named = f"{self.session_id}\n{self.at}\n{self.folder}\n{self.text}"
        return f"{PROMPT}-{hashlib.sha256(named.encode('utf-8', 'replace')).hexdigest()[:12]}"


def tell(work: Workspace, event: str, session_id: str, **fields: object) -> bool:
    """Take in what happened in a session, as the hook of a client does; return whether it is kept.

    It is not where the user has switched capturing off, or has excluded the folder.
    """
    path = heard_path(work.vault, session_id)
    told = {"session_id": session_id, "cwd": str(work.folder), "transcript_path": str(path), **fields}
    happened = ClientEvent(event, told, work, HTTP)
    if is_private(happened):
        return False
    keep(happened)
    if event == "PostToolUse":
        note_edit(happened)
    if event in ("Stop", "SessionEnd"):
        queue_session(happened)
    if event == "SessionEnd":
        keep_record(happened, {"type": "system", "subtype": COMPLETED})
    return True


def tell_summary(work: Workspace, session_id: str, parts: Mapping[str, str]) -> None:
    """Keep the *parts* of a summary as they are, redacted; the note of the session holds them."""
    told = {"session_id": session_id, "cwd": str(work.folder)}
    happened = ClientEvent("Stop", told, work, HTTP)
    if not is_private(happened):
        redacted = {name: work.redact(text) for name, text in parts.items() if text}
        keep_record(happened, {"type": "system", "subtype": TOLD_SUMMARY, **redacted})


def folder_of(work: Workspace, project: str, cwd: str) -> Path:
    """Return the folder that a session works in: *cwd*, else one of the *project*; without both, the home folder.

    Of a project without a folder on this machine that is its area in the vault.
    """
    if cwd or not project:
        return Path(cwd) if cwd else work.home
    wanted = area_name(project) or "project"
    areas = [path.name for path in work.vault.path("areas/projects").glob("*")]
    name = next((one for one in areas if one.casefold() == wanted.casefold()), wanted)
    known = (Path(folder) for folder in remembered_folders(work.vault))
    own = (folder for folder in known if folder.is_dir() and work.area(folder).name == name)
    return next(own, work.vault.path(area_folder(name)))


def status_of(work: Workspace, session_id: str) -> Status:
    """Return how far the session has come.

    Raises:
        SessionNotFound: nothing was told of it.
    """
    records = list(_records(heard_path(work.vault, session_id)))
    if not records:
        raise SessionNotFound(session_id)
    ends = [record.get("timestamp", "") for record in records if record.get("subtype") == COMPLETED]
    goes_on = not ends or records[-1].get("subtype") != COMPLETED
    return Status(
        session_id,
        ACTIVE if goes_on else COMPLETED,
        sum(1 for record in records if _typed(record)),
        str(records[0].get("timestamp", "")),
        "" if goes_on else str(ends[-1]),
        _queued(work, session_id),
    )


def last_folder(work: Workspace, session_id: str) -> Path:
    """Return the folder in which the session works.

    Raises:
        SessionNotFound: nothing was told of it.
    """
    folder = next((record.get("cwd") for record in _records(heard_path(work.vault, session_id))), None)
    if not isinstance(folder, str):
        raise SessionNotFound(session_id)
    return Path(folder)


def prompts(work: Workspace) -> Iterator[Prompt]:
    """Give what users typed: in the sessions that came here, and in the client's own list."""
    for path in sorted(heard_folder(work.vault).glob("*.jsonl"), key=_changed_at)[-_MOST:]:
        for record in _records(path):
            if said := _typed(record):
                session, at, folder = (str(record.get(name, "")) for name in ("sessionId", "timestamp", "cwd"))
                yield Prompt(session, at, folder, said)
    for entry in _records(work.client_folder / "history.jsonl"):
        text, milliseconds = entry.get("display"), entry.get("timestamp")
        if isinstance(text, str) and isinstance(milliseconds, int | float) and text[:1] not in ("/", "!"):
            with suppress(OverflowError, OSError, ValueError):
                when = datetime.fromtimestamp(milliseconds / 1000, work.now().tzinfo).isoformat(timespec="seconds")
                folder, session = str(entry.get("project") or ""), str(entry.get("sessionId") or "")
                yield Prompt(session, when, folder, cut(one_line(text), _LONGEST))


def _queued(work: Workspace, session_id: str) -> str:
    queue = Queue(work.vault)
    if any(job.session_id == session_id for job in queue.parked()):
        return FAILED
    job = next((job for job in queue.waiting() if job.session_id == session_id), None)
    if job is None:
        return ""
    return PROCESSING if job.tries and not job.reason and job.due_at > time.time() else PENDING


def _typed(record: Mapping[str, Any]) -> str:
    """Return what was typed, if that is what *record* tells."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if record.get("type") == "user" and isinstance(content, str) else ""


def _changed_at(path: Path) -> float:
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with suppress(OSError):
        for line in read_state(path, largest=_LARGEST).splitlines():
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict):
                    yield record
