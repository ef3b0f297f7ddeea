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
from typing import Annotated, Any, NamedTuple

from fastapi import FastAPI, Query
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
from memtool.web import limits
from memtool.web.calls import Body, example
from memtool.workspace import OpenWorkspace, Workspace

PROMPT = "prompt"
ACTIVE, COMPLETED = "active", "completed"
PENDING, PROCESSING, FAILED = "pending", "processing", "failed"

SessionId = Annotated[
    str,
    Field(
        min_length=1, max_length=limits.NAME,
        validation_alias=AliasChoices("session_id", "contentSessionId", "claudeSessionId", "sessionId"),
    ),
]  # fmt: skip
Said = Annotated[str, Field(max_length=limits.QUERY)]


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
        keep_record(happened, {"type": "system", "subtype": COMPLETED})
    return True


def record_summary(work: Workspace, session_id: str, parts: Mapping[str, str]) -> None:
    """Keep the *parts* of a summary, redacted; the note of the session holds them."""
    given = {"session_id": session_id, "cwd": str(work.folder)}
    happened = ClientEvent("Stop", given, work, HTTP)
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


def status_of(work: Workspace, session_id: str) -> dict[str, Any]:
    """Return the progress of the session as the answer to a request.

    Its `queue` is the state of its capture, empty if it is not in the queue; `queue_depth` is the length of the queue.

    Raises:
        SessionNotFound: it is unknown.
    """
    records = list(_records(heard_path(work.vault, session_id)))
    if not records:
        raise SessionNotFound(session_id)
    ends = [record.get("timestamp", "") for record in records if record.get("subtype") == COMPLETED]
    is_over = records[-1].get("subtype") == COMPLETED
    return {
        "session_id": session_id,
        "status": COMPLETED if is_over else ACTIVE,
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
            if said := _typed(record):
                session, at, folder = (str(record.get(name, "")) for name in ("sessionId", "timestamp", "cwd"))
                yield Prompt(session, at, folder, said)
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
        return FAILED
    job = next((job for job in queue.waiting() if job.session_id == session_id), None)
    if job is None:
        return ""
    return PROCESSING if job.tries and not job.reason and job.due_at > time.time() else PENDING


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

    prompt: Said = Field(min_length=1, validation_alias=AliasChoices("prompt", "userPrompt", "user_prompt"))
    project: str = Field(default="", max_length=limits.NAME)
    cwd: str = Field(default="", max_length=4_096)


class ObservationAsked(SessionAsked):
    """A tool call: its input as the client's hooks report it, and its output."""

    tool_name: str = Field(min_length=1, max_length=limits.NAME)
    tool_input: dict[str, Any] = Field(default_factory=dict)
    tool_response: Any = Field(default="", validation_alias=AliasChoices("tool_response", "tool_output", "output"))
    exit_code: int | None = None
    cwd: str = Field(default="", max_length=4_096)


class SummaryAsked(SessionAsked):
    """The agent's summary of a session, or its last answer."""

    request: Said = Field(default="", description="The request; kept if no prompt of the session is known.")
    investigated: Said = ""
    learned: Said = ""
    completed: Said = ""
    next_steps: Said = ""
    last_assistant_message: Said = ""


def add_session_calls(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the calls to *app*."""

    def goes_on(asked: SessionAsked, cwd: str = "") -> Workspace:
        work = open_workspace(None)
        return open_workspace(_absolute(cwd) if cwd else last_folder(work, asked.session_id))

    def answer(work: Workspace, session_id: str, *, kept: bool, status: int = 202) -> JSONResponse:
        if not kept:
            return JSONResponse({"session_id": session_id, "status": "skipped", "reason": "capturing is off here"})
        return JSONResponse(status_of(work, session_id), status)

    @app.post(
        "/api/session/init",
        tags=["sessions"],
        summary="Begin or continue a session: keep a prompt",
        openapi_extra=example(_STATUS, asked={"session_id": "s-1", "prompt": "Use JWT.", "project": "shop"}),
    )
    def init(asked: InitAsked) -> JSONResponse:
        work = open_workspace(None)
        work = open_workspace(folder_of(work, asked.project, str(_absolute(asked.cwd)) if asked.cwd else ""))
        record_event(work, "SessionStart", asked.session_id)
        kept = record_event(work, "UserPromptSubmit", asked.session_id, prompt=asked.prompt)
        return answer(work, asked.session_id, kept=kept, status=200)

    @app.post(
        "/api/session/observation",
        status_code=202,
        tags=["sessions"],
        summary="Keep a tool call",
        openapi_extra=example(
            _STATUS,
            asked={"session_id": "s-1", "tool_name": "Edit", "tool_input": {"file_path": "/src/a.ts"}},
            status=202,
        ),
    )
    def observation(asked: ObservationAsked) -> JSONResponse:
        work = goes_on(asked, asked.cwd)
        fields = asked.model_dump(exclude={"session_id", "cwd"}, exclude_none=True)
        fields["tool_response"] = _text(asked.tool_response)
        return answer(work, asked.session_id, kept=record_event(work, "PostToolUse", asked.session_id, **fields))

    @app.post(
        "/api/session/summarize",
        status_code=202,
        tags=["sessions"],
        summary="Keep a summary of the session, and queue it for its note",
        openapi_extra=example(_STATUS, asked={"session_id": "s-1", "completed": "Login by JWT."}, status=202),
    )
    def summarize(asked: SummaryAsked) -> JSONResponse:
        work = goes_on(asked)
        said = _as_answer(asked)
        if not said:
            raise UsageError(
                "the summary is empty", hint=f"Send one of {', '.join(SUMMARY_PARTS)}, last_assistant_message."
            )
        _keep_parts(work, asked)
        kept = record_event(work, "Stop", asked.session_id, last_assistant_message=said)
        return answer(work, asked.session_id, kept=kept)

    @app.post(
        "/api/session/complete",
        status_code=202,
        tags=["sessions"],
        summary="End a session, and queue it for its note",
        openapi_extra=example(_STATUS, asked={"session_id": "s-1"}, status=202),
    )
    def complete(asked: SessionAsked) -> JSONResponse:
        work = goes_on(asked)
        return answer(work, asked.session_id, kept=record_event(work, "SessionEnd", asked.session_id))

    @app.get(
        "/api/session/status",
        tags=["sessions"],
        summary="Return the progress of a session, and the length of the queue",
        openapi_extra=example(_STATUS),
    )
    def status(session_id: Annotated[str, Query(min_length=1, max_length=limits.NAME)]) -> dict[str, Any]:
        return status_of(open_workspace(None), session_id)


def _keep_parts(work: Workspace, asked: SummaryAsked) -> None:
    """Keep the parts of a summary; its request becomes the prompt of a session without prompts."""
    if asked.request and not status_of(work, asked.session_id)["prompts"]:
        record_event(work, "UserPromptSubmit", asked.session_id, prompt=asked.request)
    parts = {name: text for name, text in asked.model_dump(include=set(SUMMARY_PARTS)).items() if text}
    if parts:
        record_summary(work, asked.session_id, parts)


def _absolute(cwd: str) -> Path:
    if not Path(cwd).is_absolute():
        raise UsageError("`cwd` must be an absolute path")
    return Path(cwd)


def _text(output: object) -> str:
    """Return the output of a tool as text."""
    if isinstance(output, dict):
        parts = [output.get("stdout"), output.get("stderr")]
        return "\n".join(part for part in parts if isinstance(part, str))[: limits.TEXT]
    return output[: limits.TEXT] if isinstance(output, str) else ""


def _as_answer(asked: SummaryAsked) -> str:
    """Return a summary as the last answer of an agent."""
    steps = f"Next steps: {asked.next_steps}" if asked.next_steps else ""
    parts = (asked.last_assistant_message, asked.completed, asked.learned, asked.investigated, steps)
    return "\n\n".join(filter(None, parts))


def add_turn_calls(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the call that reads the turns of a kept session to *app*."""

    @app.get(
        "/api/session/turns",
        tags=["sessions"],
        summary="List the turns of a kept session; with `turn`, return that one in full",
        openapi_extra=example(_TURNS),
    )
    def turns(
        session_id: Annotated[str, Query(min_length=1, max_length=limits.NAME)],
        turn: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    ) -> dict[str, Any]:
        found = read_turns(open_workspace(None), session_id, turn)
        rows = [row._asdict() | {"at": row.at.isoformat() if row.at else ""} for row in found.rows]
        listed = rows[turn - 1 : turn] if turn else rows
        return found._asdict() | {"rows": listed, "turns": len(rows)}


_STATUS = {
    "session_id": "s-1", "status": "active", "prompts": 1, "started_at": "2026-02-10T14:30:00+08:00",
    "completed_at": "", "queue": "pending", "queue_depth": 1,
}  # fmt: skip
_TURNS = {
    "session": "s-1", "path": "sessions/2026-02-10-login.md", "title": "Login uses JWT", "date": "2026-02-10",
    "project": "shop", "turns": 1, "text": "TURN 1\nUSER: Use JWT.",
    "rows": [{"number": 1, "at": "2026-02-10T14:30:00+08:00", "typed": "Use JWT.", "ended": "Done.", "size": 21}],
}  # fmt: skip
