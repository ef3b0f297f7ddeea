"""The application of a team's service: the calls on memories and the tools for agents, for the vaults of a token."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import FastAPI, Query
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field
from starlette.routing import Route

from memtool import __version__
from memtool.errors import MemtoolError
from memtool.recall.agent_search import RankedMemory, search_memories
from memtool.recall.start.session_start import session_context
from memtool.team.service import MOST_AT_ONCE, TeamService, metrics_text
from memtool.web.agent_server import PATHS, AgentServer
from memtool.web.app import add_errors
from memtool.web.calls import LARGEST_PAGE, LONGEST_NAME, LONGEST_QUERY, Body, example
from memtool.web.gate import HEALTH
from memtool.web.life import READY, STARTING, Life
from memtool.web.memory_api import add_memory_calls
from memtool.web.team_gate import METRICS_PATH

_DESCRIPTION = (
    "The memory of a team. Every request brings its token, as `Authorization: Bearer TOKEN`. A call on one vault begins"
    " with `/vaults/NAME`; without that it is for the only vault of the token. Errors are problem details (RFC 9457)."
)


class RecallAsked(Body):
    """A question to all vaults of the token, or to the one that the address names."""

    query: str = Field(min_length=1, max_length=LONGEST_QUERY, description="Words, in any language, without syntax.")
    project: str = Field(default="", max_length=LONGEST_NAME, description="Where the asker works; empty: everywhere.")
    limit: int = Field(default=5, ge=1, le=LARGEST_PAGE)
    floor: float = Field(default=0.0, ge=0, le=1, description="The least relevance of what is given.")


def make_team_app(service: TeamService, life: Life) -> FastAPI:
    """Return the application of *service*; `TeamGate` stands in front of it."""
    agents = {path: AgentServer(service.open_workspace, path, profile) for path, profile in PATHS.items()}

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = MOST_AT_ONCE
        service.start()
        life.state = READY if life.state == STARTING else life.state
        yield
        life.ending.set()
        await asyncio.gather(*(agent.end() for agent in agents.values()))
        await asyncio.to_thread(service.end)

    app = FastAPI(
        title="memtool team",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    add_errors(app)
    _add_service_calls(app, service, life)
    _add_recall(app, service)
    _add_context(app, service)
    add_memory_calls(app, service.open_workspace)
    for path, agent in agents.items():
        app.router.routes.append(Route(path, agent))
    return app


def _add_service_calls(app: FastAPI, service: TeamService, life: Life) -> None:
    @app.get(HEALTH, tags=["service"], summary="Say whether the service is ready")
    async def health() -> JSONResponse:
        return JSONResponse({"state": life.state, "version": __version__})

    @app.get(METRICS_PATH, tags=["service"], summary="Tell what the service has counted, for Prometheus")
    async def metrics() -> PlainTextResponse:
        return PlainTextResponse(metrics_text(service), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get(
        "/vaults",
        tags=["service"],
        summary="List the vaults of the token",
        openapi_extra=example({"vaults": [{"name": "shop", "synced_at": 1_763_900_000, "waiting": 0, "problem": ""}]}),
    )
    def vaults() -> dict[str, Any]:
        kept = [service.keeper.kept[name] for name in service.vaults_of(service.asking.token)]
        return {
            "vaults": [
                {
                    "name": each.clone.name,
                    "synced_at": round(each.synced_at),
                    "waiting": each.waiting,
                    "problem": each.problem,
                }
                for each in kept
            ]
        }


def _add_context(app: FastAPI, service: TeamService) -> None:
    @app.get(
        "/context",
        tags=["memory"],
        summary="Give what an agent is told of a project when a session begins, from each vault of the token",
        openapi_extra=example({"blocks": [{"vault": "shop", "text": "## Decisions\n- …"}]}),
    )
    def context(project: Annotated[str, Query(max_length=LONGEST_NAME)] = "") -> dict[str, Any]:
        asking, blocks = service.asking, []
        for name in [asking.vault] if asking.vault else service.vaults_of(asking.token):
            text = session_context(service.workspace(name), project).text
            blocks += [{"vault": name, "text": text}] if text else []
        return {"blocks": blocks}


def _add_recall(app: FastAPI, service: TeamService) -> None:
    @app.post(
        "/recall",
        tags=["memory"],
        summary="Find what is remembered of a question, in all vaults of the token",
        openapi_extra=example({"memories": [_MEMORY], "notices": []}, asked={"query": "why JWT?", "project": "shop"}),
    )
    def recall(asked: RecallAsked) -> dict[str, Any]:
        asking, found, notices = service.asking, list[tuple[str, RankedMemory]](), list[str]()
        names = [asking.vault] if asking.vault else service.vaults_of(asking.token)
        for name in names:
            try:
                memories, said = _of_one(service, name, asked)
            except MemtoolError as error:
                if len(names) == 1:
                    raise
                memories, said = [], [str(error)]
            found += [(name, memory) for memory in memories]
            notices += [f"{name}: {sentence}" for sentence in said]
        best = sorted(found, key=lambda pair: -pair[1].score)[: asked.limit]
        return {"memories": [{"vault": name, **memory._asdict()} for name, memory in best], "notices": notices}


def _of_one(service: TeamService, name: str, asked: RecallAsked) -> tuple[list[RankedMemory], list[str]]:
    """Return what one vault holds of the question, within the token's projects and above the floor."""
    work = service.workspace(name, Path(asked.project) if asked.project else None)
    found = search_memories(work, asked.query, limit=asked.limit, projects=service.asking.token.projects)
    return [one for one in found.memories if one.relevance >= asked.floor], list(found.notices)


_MEMORY = {
    "vault": "shop", "score": 0.71, "source": "fact", "id": "fact-20260210-9f3a1c04be", "category": "decision",
    "date": "2026-02-10", "project": "shop", "author": "user", "title": "", "text": "Access tokens live 24 hours.",
    "place": "areas/projects/shop/facts.json:3-9", "relevance": 0.62,
}  # fmt: skip
