"""The calls of sessions that come by HTTP: they begin, tell what was done and found out, and end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import JSONResponse
from pydantic import AliasChoices, Field

from memtool.capture.queue import Queue
from memtool.errors import UsageError
from memtool.vault.sessions import TOLD
from memtool.web.calls import LONGEST_NAME, LONGEST_QUERY, Body, example
from memtool.web.http_sessions import folder_of, last_folder, status_of, tell, tell_summary
from memtool.workspace import OpenWorkspace, Workspace

_LONGEST_OUTPUT = 500_000  # characters

SessionId = Annotated[
    str,
    Field(
        min_length=1, max_length=LONGEST_NAME,
        validation_alias=AliasChoices("session_id", "contentSessionId", "claudeSessionId", "sessionId"),
    ),
]  # fmt: skip
Said = Annotated[str, Field(max_length=LONGEST_QUERY)]


class SessionAsked(Body):
    """A session."""

    session_id: SessionId


class InitAsked(SessionAsked):
    """A prompt. Without a folder the *project* says where the session works."""

    prompt: Said = Field(min_length=1, validation_alias=AliasChoices("prompt", "userPrompt", "user_prompt"))
    project: str = Field(default="", max_length=LONGEST_NAME)
    cwd: str = Field(default="", max_length=4_096)


class ObservationAsked(SessionAsked):
    """What a tool did: its input as the client's hooks give it, and its output."""

    tool_name: str = Field(min_length=1, max_length=LONGEST_NAME)
    tool_input: dict[str, Any] = Field(default_factory=dict)
    tool_response: Any = Field(default="", validation_alias=AliasChoices("tool_response", "tool_output", "output"))
    exit_code: int | None = None
    cwd: str = Field(default="", max_length=4_096)


class SummaryAsked(SessionAsked):
    """What a session came to, in the words of whoever worked; or the last answer."""

    request: Said = Field(default="", description="What was asked; kept where no prompt of the session is known.")
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
        return JSONResponse(status_of(work, session_id)._asdict() | {"queue_depth": _depth(work)}, status)

    @app.post(
        "/api/session/init",
        tags=["sessions"],
        summary="Begin a session, or go on with it: keep a prompt",
        openapi_extra=example(_STATUS, asked={"session_id": "s-1", "prompt": "Use JWT.", "project": "shop"}),
    )
    def init(asked: InitAsked) -> JSONResponse:
        work = open_workspace(None)
        work = open_workspace(folder_of(work, asked.project, str(_absolute(asked.cwd)) if asked.cwd else ""))
        tell(work, "SessionStart", asked.session_id)
        kept = tell(work, "UserPromptSubmit", asked.session_id, prompt=asked.prompt)
        return answer(work, asked.session_id, kept=kept, status=200)

    @app.post(
        "/api/session/observation",
        status_code=202,
        tags=["sessions"],
        summary="Tell what a tool did",
        openapi_extra=example(
            _STATUS,
            asked={"session_id": "s-1", "tool_name": "Edit", "tool_input": {"file_path": "/src/a.ts"}},
            status=202,
        ),
    )
    def observation(asked: ObservationAsked) -> JSONResponse:
        work = goes_on(asked, asked.cwd)
        told = asked.model_dump(exclude={"session_id", "cwd"}, exclude_none=True)
        told["tool_response"] = _text(asked.tool_response)
        return answer(work, asked.session_id, kept=tell(work, "PostToolUse", asked.session_id, **told))

    @app.post(
        "/api/session/summarize",
        status_code=202,
        tags=["sessions"],
        summary="Say what the session came to, and let its note be written",
        openapi_extra=example(_STATUS, asked={"session_id": "s-1", "completed": "Login by JWT."}, status=202),
    )
    def summarize(asked: SummaryAsked) -> JSONResponse:
        work = goes_on(asked)
        said = _told(asked)
        if not said:
            raise UsageError("nothing is said", hint=f"Give one of {', '.join(TOLD)}, last_assistant_message.")
        _keep_parts(work, asked)
        kept = tell(work, "Stop", asked.session_id, last_assistant_message=said)
        return answer(work, asked.session_id, kept=kept)

    @app.post(
        "/api/session/complete",
        status_code=202,
        tags=["sessions"],
        summary="End a session, and let its note be written",
        openapi_extra=example(_STATUS, asked={"session_id": "s-1"}, status=202),
    )
    def complete(asked: SessionAsked) -> JSONResponse:
        work = goes_on(asked)
        return answer(work, asked.session_id, kept=tell(work, "SessionEnd", asked.session_id))

    @app.get(
        "/api/session/status",
        tags=["sessions"],
        summary="Say how far a session has come, and how much waits to be captured",
        openapi_extra=example(_STATUS),
    )
    def status(session_id: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)]) -> dict[str, Any]:
        work = open_workspace(None)
        return status_of(work, session_id)._asdict() | {"queue_depth": _depth(work)}


def _keep_parts(work: Workspace, asked: SummaryAsked) -> None:
    """Keep the parts of a summary; what was asked for is the prompt of a session of which none is known."""
    if asked.request and not status_of(work, asked.session_id).prompts:
        tell(work, "UserPromptSubmit", asked.session_id, prompt=asked.request)
    parts = {name: text for name, text in asked.model_dump(include=set(TOLD)).items() if text}
    if parts:
        tell_summary(work, asked.session_id, parts)


def _depth(work: Workspace) -> int:
    return len(Queue(work.vault).waiting())


def _absolute(cwd: str) -> Path:
    if not Path(cwd).is_absolute():
        raise UsageError("the folder of a session is named by its whole path")
    return Path(cwd)


def _text(output: object) -> str:
    """Return the output of a tool as text."""
    if isinstance(output, dict):
        parts = [output.get("stdout"), output.get("stderr")]
        return "\n".join(part for part in parts if isinstance(part, str))[:_LONGEST_OUTPUT]
    return output[:_LONGEST_OUTPUT] if isinstance(output, str) else ""


def _told(asked: SummaryAsked) -> str:
    """Return a summary as the last answer of an agent."""
    steps = f"Next steps: {asked.next_steps}" if asked.next_steps else ""
    parts = (asked.last_assistant_message, asked.completed, asked.learned, asked.investigated, steps)
    return "\n\n".join(filter(None, parts))


_STATUS = {
    "session_id": "s-1", "status": "active", "prompts": 1, "started_at": "2026-02-10T14:30:00+08:00",
    "completed_at": "", "queue": "pending", "queue_depth": 1,
}  # fmt: skip
