"""The calls of sessions over HTTP: they begin, report tool calls and a summary, and end; their turns can be read.

Each is kept as a redacted transcript, as hooks do for clients without one (`memtool.capture.heard`), so that the
session goes through the same queue and becomes the same kind of note.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import AliasChoices, Field

from memtool.capture.client_event import ClientEvent, is_private, note_edit, queue_session
from memtool.capture.heard import heard_folder, heard_path, keep, keep_record
from memtool.capture.queue import Queue
from memtool.capture.transcript.record_fields import TOLD_SUMMARY
from memtool.clients import HTTP
from memtool.errors import SessionNotFound, UsageError
from memtool.memory.search import read_turns
from memtool.text.lines import cut, one_line
from memtool.vault.layout import area_folder
from memtool.vault.project_area import area_name, remembered_folders
from memtool.vault.sessions import SUMMARY_PARTS
from memtool.vault.state import read_state
from memtool.web.calls import LONGEST_TEXT, Body, Name, Opening, PathText, Words, Work, example
from memtool.workspace import OpenWorkspace, Workspace

PROMPT = "prompt"
_COMPLETED = "completed"

SessionId: TypeAlias = Annotated[
    Name,
    Field(
        min_length=1, validation_alias=AliasChoices("session_id", "contentSessionId", "claudeSessionId", "sessionId")
    ),
]

_STATUS = {
    "session_id": "s-1", "status": "active", "prompts": 1, "started_at": "2026-02-10T14:30:00+08:00",
    "completed_at": "", "queue": "pending", "queue_depth": 1,
}  # fmt: skip
_TURNS = {
    "session": "s-1", "path": "sessions/2026-02-10-login.md", "title": "Login uses JWT", "date": "2026-02-10",
    "project": "shop", "turns": 1, "text": "TURN 1\nUSER: Use JWT.",
    "rows": [{"number": 1, "at": "2026-02-10T14:30:00+08:00", "typed": "Use JWT.", "ended": "Done.", "size": 21}],
}  # fmt: skip

router, turns_router = APIRouter(tags=["sessions"]), APIRouter(tags=["sessions"])


class Prompt(NamedTuple):
    """A prompt, typed at the ISO 8601 time *at*; one from the client's own list is not redacted yet."""

    session_id: str
    at: str
    folder: str
    text: str

    @property
    def id(self) -> str:
        """Its id, which stays the same."""
        named = f"{self.session_id}\n{self.at}\n{self.folder}\n{self.text}"
        return f"{PROMPT}-{hashlib.sha256(named.encode('utf-8', 'replace')).hexdigest()[:12]}"


def record_event(work: Workspace, event: str, session_id: str, **fields: object) -> bool:
    """Keep an event of a session, as the hook of a client does; return whether it was kept.

    It is not kept if the user has switched capturing off or has excluded the folder.
    """
    path = heard_path(work.vault, session_id)
    given = {"session_id": session_id, "cwd": str(work.folder), "transcript_path": str(path), **fields}
    happened = ClientEvent(event, given, work, HTTP)
    if is_private(happened):
        return False
    keep(happened)
    if event == "PostToolUse":
        note_edit(happened)
    if event in ("Stop", "SessionEnd"):
        queue_session(happened)
    if event == "SessionEnd":
        keep_record(happened, {"type": "system", "subtype": _COMPLETED})
    return True


def record_summary(work: Workspace, session_id: str, parts: Mapping[str, str]) -> None:
    """Keep the *parts* of a summary, redacted; the note of the session holds them."""
    happened = ClientEvent("Stop", {"session_id": session_id, "cwd": str(work.folder)}, work, HTTP)
    redacted = {name: work.redact(text) for name, text in parts.items() if text}
    if redacted and not is_private(happened):
        keep_record(happened, {"type": "system", "subtype": TOLD_SUMMARY, **redacted})


def folder_of(work: Workspace, project: str, cwd: str) -> Path:
    """Return the folder that a session works in: *cwd*, else one of the *project*; without both, the home folder.

    Of a project without a folder on this machine that is its area in the vault.

    Raises:
        UsageError: *cwd* is not absolute.
    """
    if cwd and not Path(cwd).is_absolute():
        raise UsageError("`cwd` must be an absolute path")
    if cwd or not project:
        return Path(cwd) if cwd else work.home
    wanted = area_name(project) or "project"
    areas = [path.name for path in work.vault.path("areas/projects").glob("*")]
    name = next((one for one in areas if one.casefold() == wanted.casefold()), wanted)
    known = (Path(folder) for folder in remembered_folders(work.vault))
    own = (folder for folder in known if folder.is_dir() and work.area(folder).name == name)
    return next(own, work.vault.path(area_folder(name)))


def status_of(work: Workspace, session_id: str) -> dict[str, Any]:
    """Return the progress of the session as the answer to a request.

    Its `queue` is the state of its capture, empty if it is not in the queue; `queue_depth` is the length of the queue.

    Raises:
        SessionNotFound: it is unknown.
    """
    records = list(_records(heard_path(work.vault, session_id)))
    if not records:
        raise SessionNotFound(session_id)
    ends = [record.get("timestamp", "") for record in records if record.get("subtype") == _COMPLETED]
    is_over = records[-1].get("subtype") == _COMPLETED
    return {
        "session_id": session_id,
        "status": _COMPLETED if is_over else "active",
        "prompts": sum(1 for record in records if _typed(record)),
        "started_at": str(records[0].get("timestamp", "")),
        "completed_at": str(ends[-1]) if is_over else "",
        "queue": _queued(work, session_id),
        "queue_depth": len(Queue(work.vault).waiting()),
    }


def last_folder(work: Workspace, session_id: str) -> Path:
    """Return the folder in which the session works.

    Raises:
        SessionNotFound: it is unknown.
    """
    folder = next((record.get("cwd") for record in _records(heard_path(work.vault, session_id))), None)
    if not isinstance(folder, str):
        raise SessionNotFound(session_id)
    return Path(folder)


def prompts(work: Workspace) -> Iterator[Prompt]:
    """Give the prompts of sessions over HTTP, and those of the client's own list."""
    for path in sorted(heard_folder(work.vault).glob("*.jsonl"), key=_changed_at)[-500:]:
        for record in _records(path):
            if typed := _typed(record):
                session, at, folder = (str(record.get(name, "")) for name in ("sessionId", "timestamp", "cwd"))
                yield Prompt(session, at, folder, typed)
    for entry in _records(work.claude_folder / "history.jsonl"):
        text, milliseconds = entry.get("display"), entry.get("timestamp")
        if isinstance(text, str) and isinstance(milliseconds, int | float) and text[:1] not in ("/", "!"):
            with suppress(OverflowError, OSError, ValueError):
                when = datetime.fromtimestamp(milliseconds / 1000, work.now().tzinfo).isoformat(timespec="seconds")
                folder, session = str(entry.get("project") or ""), str(entry.get("sessionId") or "")
                yield Prompt(session, when, folder, cut(one_line(text), 2_000))


def _queued(work: Workspace, session_id: str) -> str:
    queue = Queue(work.vault)
    if any(job.session_id == session_id for job in queue.parked()):
        return "failed"
    job = next((job for job in queue.waiting() if job.session_id == session_id), None)
    if job is None:
        return ""
    return "processing" if job.tries and not job.reason and job.due_at > time.time() else "pending"


def _typed(record: Mapping[str, Any]) -> str:
    """Return the prompt of *record*; empty if it is another record."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if record.get("type") == "user" and isinstance(content, str) else ""


def _changed_at(path: Path) -> float:
    with suppress(OSError):
        return path.lstat().st_mtime
    return 0.0


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with suppress(OSError):
        for line in read_state(path, largest=16 << 20).splitlines():
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict):
                    yield record


class SessionAsked(Body):
    """A session."""

    session_id: SessionId


class InitAsked(SessionAsked):
    """A prompt. Without `cwd`, the session belongs to the folder or area of *project*."""

    prompt: Words = Field(min_length=1, validation_alias=AliasChoices("prompt", "userPrompt", "user_prompt"))
    project: Name = ""
    cwd: PathText = ""


class ObservationAsked(SessionAsked):
    """A tool call: its input as the client's hooks report it, and its output."""

    tool_name: Name = Field(min_length=1)
    tool_input: dict[str, Any] = Field(default_factory=dict)
    tool_response: Any = Field(default="", validation_alias=AliasChoices("tool_response", "tool_output", "output"))
    exit_code: int | None = None
    cwd: PathText = ""


class SummaryAsked(SessionAsked):
    """The agent's summary of a session, or its last answer."""

    request: Words = Field(default="", description="The request; kept if no prompt of the session is known.")
    investigated: Words = ""
    learned: Words = ""
    completed: Words = ""
    next_steps: Words = ""
    last_assistant_message: Words = ""


@router.post(
    "/api/session/init",
    openapi_extra=example(_STATUS, asked={"session_id": "s-1", "prompt": "Use JWT.", "project": "shop"}),
)
def init(open_workspace: Opening, asked: InitAsked) -> JSONResponse:
    """Begin or continue a session: keep a prompt."""
    work = open_workspace(folder_of(open_workspace(None), asked.project, asked.cwd))
    record_event(work, "SessionStart", asked.session_id)
    kept = record_event(work, "UserPromptSubmit", asked.session_id, prompt=asked.prompt)
    return _answer(work, asked.session_id, kept=kept, status=200)


@router.post(
    "/api/session/observation",
    status_code=202,
    openapi_extra=example(
        _STATUS, asked={"session_id": "s-1", "tool_name": "Edit", "tool_input": {"file_path": "/src/a.ts"}}, status=202
    ),
)
def observation(open_workspace: Opening, asked: ObservationAsked) -> JSONResponse:
    """Keep a tool call."""
    work = _continued(open_workspace, asked, asked.cwd)
    fields = asked.model_dump(exclude={"session_id", "cwd"}, exclude_none=True)
    fields["tool_response"] = _text(asked.tool_response)
    return _answer(work, asked.session_id, kept=record_event(work, "PostToolUse", asked.session_id, **fields))


@router.post(
    "/api/session/summarize",
    status_code=202,
    openapi_extra=example(_STATUS, asked={"session_id": "s-1", "completed": "Login by JWT."}, status=202),
)
def summarize(open_workspace: Opening, asked: SummaryAsked) -> JSONResponse:
    """Keep a summary of the session, and queue it for its note."""
    work = _continued(open_workspace, asked)
    steps = f"Next steps: {asked.next_steps}" if asked.next_steps else ""
    parts = (asked.last_assistant_message, asked.completed, asked.learned, asked.investigated, steps)
    message = "\n\n".join(filter(None, parts))
    if not message:
        raise UsageError(
            "the summary is empty", hint=f"Send one of {', '.join(SUMMARY_PARTS)}, last_assistant_message."
        )
    if asked.request and not status_of(work, asked.session_id)["prompts"]:
        record_event(work, "UserPromptSubmit", asked.session_id, prompt=asked.request)
    record_summary(work, asked.session_id, asked.model_dump(include=set(SUMMARY_PARTS)))
    kept = record_event(work, "Stop", asked.session_id, last_assistant_message=message)
    return _answer(work, asked.session_id, kept=kept)


@router.post(
    "/api/session/complete", status_code=202, openapi_extra=example(_STATUS, asked={"session_id": "s-1"}, status=202)
)
def complete(open_workspace: Opening, asked: SessionAsked) -> JSONResponse:
    """End a session, and queue it for its note."""
    work = _continued(open_workspace, asked)
    return _answer(work, asked.session_id, kept=record_event(work, "SessionEnd", asked.session_id))


@router.get("/api/session/status", openapi_extra=example(_STATUS))
def status(work: Work, session_id: Annotated[Name, Query(min_length=1)]) -> dict[str, Any]:
    """Return the progress of a session, and the length of the queue."""
    return status_of(work, session_id)


@turns_router.get("/api/session/turns", openapi_extra=example(_TURNS))
def turns(
    work: Work, session_id: Annotated[Name, Query(min_length=1)], turn: Annotated[int, Query(ge=0, le=1_000_000)] = 0
) -> dict[str, Any]:
    """List the turns of a kept session; with `turn`, return that one in full."""
    found = read_turns(work, session_id, turn)
    rows = [row._asdict() | {"at": row.at.isoformat() if row.at else ""} for row in found.rows]
    return found._asdict() | {"rows": rows[turn - 1 : turn] if turn else rows, "turns": len(rows)}


def _continued(open_workspace: OpenWorkspace, asked: SessionAsked, cwd: str = "") -> Workspace:
    """Return the workspace of the folder in which a session goes on: *cwd*, else that in which it began."""
    work = open_workspace(None)
    return open_workspace(folder_of(work, "", cwd) if cwd else last_folder(work, asked.session_id))


def _answer(work: Workspace, session_id: str, *, kept: bool, status: int = 202) -> JSONResponse:
    if not kept:
        return JSONResponse({"session_id": session_id, "status": "skipped", "reason": "capturing is off here"})
    return JSONResponse(status_of(work, session_id), status)


def _text(output: object) -> str:
    """Return the output of a tool as text."""
    if isinstance(output, dict):
        parts = [output.get("stdout"), output.get("stderr")]
        return "\n".join(part for part in parts if isinstance(part, str))[:LONGEST_TEXT]
    return output[:LONGEST_TEXT] if isinstance(output, str) else ""
