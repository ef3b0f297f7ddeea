"""The application: its routes, its errors as problem details, and its start and end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from enum import Enum
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

from anyio import to_thread
from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route

from memtool import __version__
from memtool.errors import MemtoolError
from memtool.index.engine import Unbuilt
from memtool.web import embeddings_api, history_api, memory_api, overview, page, sessions_api, state_api
from memtool.web.agent_server import MakeAgentApp, agent_servers
from memtool.web.calls import example
from memtool.web.figures import totals
from memtool.web.gate import ENTRANCE, HEALTH, Access
from memtool.web.hub import Hub
from memtool.web.life import READY, STARTING, Life
from memtool.web.problems import MEDIA_TYPE, problem, problem_of, problem_of_fields
from memtool.workspace import OpenWorkspace

_DESCRIPTION = (
    "The memory of a coding agent. Every request except `/health` sends the token of the service, as"
    " `Authorization: Bearer TOKEN`. Errors are problem details (RFC 9457)."
)


def make_app(
    open_workspace: OpenWorkspace, access: Access, life: Life, make_agent_app: MakeAgentApp | None = None
) -> FastAPI:
    """Return the application of a vault's service; with *make_agent_app*, it also serves tools to agents."""
    hub = Hub(open_workspace, life)
    agents = agent_servers(make_agent_app, open_workspace) if make_agent_app else {}

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        # More requests at the same time are no faster, and each needs memory of its own.
        to_thread.current_default_thread_limiter().total_tokens = 2
        # It also brings the index up to date, which may take minutes the first time; no request waits for that.
        following = asyncio.create_task(hub.follow())
        life.state = READY if life.state == STARTING else life.state
        yield
        life.ending.set()
        await asyncio.gather(*(agent.end() for agent in agents.values()))
        await asyncio.wait([following], timeout=2.0)

    app = FastAPI(
        title="memtool",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # it would come from another machine
        redoc_url=None,
        responses={"default": {"description": "Problem details", "content": {MEDIA_TYPE: {"example": _EXAMPLE}}}},
        separate_input_output_schemas=False,
    )
    add_errors(app)
    app.state.open_workspace, app.state.find = open_workspace, partial(memory_api.found_in_vault, open_workspace)
    app.state.jobs, app.state.models = state_api.Jobs(), embeddings_api.Models()
    _add_service_calls(app, access, life, hub)
    for room in (memory_api, embeddings_api, history_api, sessions_api, state_api, page, overview):
        app.include_router(room.router)
    app.include_router(sessions_api.turns_router)
    for path, agent in agents.items():
        app.router.routes.append(Route(path, agent))
    return app


def add_errors(app: FastAPI) -> None:
    """Let *app* answer each error with problem details."""
    for kind in (MemtoolError, RequestValidationError, HTTPException, OSError, Exception):
        app.add_exception_handler(kind, _on_error)


async def _on_error(request: Request, error: Exception) -> Response:
    headers = getattr(error, "headers", None)
    match error:
        case RequestValidationError():
            fields = problem_of_fields(error.errors())
        case HTTPException(status_code=404):
            fields = problem(404, f"there is nothing at '{request.url.path[:200]}'.")
        case HTTPException(status_code=405):
            fields = problem(405, f"{request.method} is not allowed here.")
        case HTTPException():
            fields = problem(error.status_code, "the request cannot be read as JSON.")
        case _:
            fields = problem_of(error)
            headers = {"retry-after": "1"} if fields["status"] == HTTPStatus.SERVICE_UNAVAILABLE else None
    return JSONResponse(fields, fields["status"], headers=headers, media_type=MEDIA_TYPE)


def _add_service_calls(app: FastAPI, access: Access, life: Life, hub: Hub) -> None:
    tags: list[str | Enum] = ["service"]

    @app.get(HEALTH, tags=tags, openapi_extra=example(_HEALTHY))
    async def health(request: Request) -> JSONResponse:
        """Return the state of the service; with the token also its contents."""
        fields: dict[str, Any] = {"state": life.state, "version": __version__}
        if life.state == READY and "authorization" in request.headers and access.knows(request.headers):
            work = app.state.open_workspace(None)
            model = work.settings.embeddings
            fields["model"] = model.model or model.provider
            with contextlib.suppress(Unbuilt):  # a check of its health does not wait for the first index
                fields["counts"] = await to_thread.run_sync(totals, work)
        return JSONResponse(fields)

    @app.post("/service/stop", tags=tags, openapi_extra=example({"state": "stopping"}))
    async def stop() -> JSONResponse:
        """End the service."""
        life.stop()
        return JSONResponse({"state": life.state})

    @app.post("/service/link", tags=tags, openapi_extra=example({"path": "/open/Zk1rPZ0wq8"}))
    async def link() -> JSONResponse:
        """Make a link that opens the page once, within a minute."""
        return JSONResponse({"path": access.make_link()})

    @app.get(f"{ENTRANCE}{{code}}", include_in_schema=False)
    async def enter(code: str) -> Response:
        return RedirectResponse("/", status_code=303, headers={"set-cookie": access.use_link(code)})

    @app.get(
        "/stream",
        tags=["events"],
        response_class=StreamingResponse,
        openapi_extra={"responses": {"200": {"content": {"text/event-stream": {"example": _EVENT}}}}},
    )
    async def stream(last_event_id: Annotated[int | None, Header()] = None) -> StreamingResponse:
        """Send each new entry as it is written: server-sent events.

        Each event has a number as its id. A reader that reconnects with `Last-Event-ID` misses nothing.
        """
        return StreamingResponse(hub.stream(last_event_id), media_type="text/event-stream")


_EVENT = (
    'id: 7\ndata: {"type": "new_observation", "at": "2026-02-10T14:30:00+08:00", "date": "2026-02-10",'
    ' "minute": "14:30", "kind": "fact", "project": "shop", "text": "Access tokens live 24 hours."}\n\n'
)
_HEALTHY = {
    "state": "ready", "version": __version__, "model": "none",
    "counts": {"session": 6, "decision": 5, "fact": 19, "note": 21, "project": 2},
}  # fmt: skip
_EXAMPLE = problem(404, "no note matches 'fact-20260210-9f3a1c04be'.", "Find it with `memtool search WORDS`.", code=20)
