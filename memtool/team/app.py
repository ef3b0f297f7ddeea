"""The application of a team's service: the calls on memories and the tools for agents, for the vaults of a token."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from fastapi import FastAPI, Query
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from memtool import __version__
from memtool.team.gate import METRICS_PATH
from memtool.team.search import RecallAsked, found_in_all, recalled, standing_parts
from memtool.team.service import MOST_AT_ONCE, TeamService, metrics_text
from memtool.vault.project_area import area_name
from memtool.web.agent_server import PATHS, AgentServer
from memtool.web.app import add_errors
from memtool.web.calls import LONGEST_NAME, example
from memtool.web.gate import HEALTH
from memtool.web.life import READY, STARTING, Life
from memtool.web.memory_api import add_memory_calls
from memtool.web.turns_api import add_turn_calls

_DESCRIPTION = (
    "The memory of a team. Every request brings its token, as `Authorization: Bearer TOKEN`. A call on one vault begins"
    " with `/vaults/NAME`; without that it is for the only vault of the token. Errors are problem details (RFC 9457)."
)


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
    add_turn_calls(app, service.open_workspace)
    add_memory_calls(app, service.open_workspace, partial(found_in_all, service))
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
        summary="Give the standing rules, decisions, facts and open items of a project, from each vault of the token",
        openapi_extra=example({"blocks": [{"vault": "shop", "parts": [_PART]}]}),
    )
    def context(project: Annotated[str, Query(max_length=LONGEST_NAME)] = "") -> dict[str, Any]:
        name = area_name(project)
        found = ((vault, standing_parts(service, vault, name)) for vault in service.asked_vaults)
        return {"blocks": [{"vault": vault, "parts": parts} for vault, parts in found if parts]}


def _add_recall(app: FastAPI, service: TeamService) -> None:
    @app.post(
        "/recall",
        tags=["memory"],
        summary="Find what is remembered of a question, in all vaults of the token",
        openapi_extra=example({"memories": [_MEMORY], "notices": []}, asked={"query": "why JWT?", "project": "shop"}),
    )
    def recall(asked: RecallAsked) -> dict[str, Any]:
        return recalled(service, asked)


_PART = {
    "kind": "facts", "title": "Facts of login", "path": "areas/projects/login/facts.json",
    "lines": [{
        "text": "- Access tokens live 24 hours. (decision, by the user, 2026-02-10)",
        "said": "Access tokens live 24 hours.", "place": "areas/projects/login/facts.json:3-9", "where": "lines 3-9",
    }],
}  # fmt: skip
_MEMORY = {
    "vault": "shop", "score": 0.71, "source": "fact", "id": "fact-20260210-9f3a1c04be", "category": "decision",
    "date": "2026-02-10", "project": "shop", "author": "user", "title": "", "text": "Access tokens live 24 hours.",
    "place": "areas/projects/shop/facts.json:3-9", "relevance": 0.62,
}  # fmt: skip
