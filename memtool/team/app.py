"""The application of a team's service: the calls on memories and the tools for agents, for the vaults of a token."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from anyio import to_thread
from fastapi import FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field
from starlette.routing import Route

from memtool import __version__
from memtool.cli.serve import make_agent_app
from memtool.index.engine import Index, place_of
from memtool.memory.memories import uses_of
from memtool.memory.search import search_memories, source_of
from memtool.recall.budget import MOST_TOKENS, BlockLine, BlockPart, fit
from memtool.recall.start.remembered import remembered
from memtool.recall.uses import count_uses
from memtool.team.gate import METRICS_PATH
from memtool.team.limits import MOST_AT_ONCE
from memtool.team.postgres.engine import use_vaults
from memtool.team.postgres.tables import BESIDE
from memtool.team.service import TeamService, metrics_text, shown_memories
from memtool.vault.memory import Found
from memtool.vault.project_area import area_name
from memtool.web import memory_api, sessions_api
from memtool.web.agent_server import agent_servers
from memtool.web.app import add_errors
from memtool.web.calls import Body, Limit, Name, Words, example
from memtool.web.gate import HEALTH
from memtool.web.life import READY, STARTING, Life
from memtool.web.request_search import SearchAsked, answer_fields, memory_fields, search_vault
from memtool.workspace import Workspace

_DESCRIPTION = (
    "The memory of a team. Every request brings its token, as `Authorization: Bearer TOKEN`. A call on one vault begins"
    " with `/vaults/NAME`; without that it is for the only vault of the token. Errors are problem details (RFC 9457)."
)
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
_STANDING = ("rules", "decisions", "facts", "open")  # what holds now; the rest of a start is the own vault's


def make_team_app(service: TeamService, life: Life) -> FastAPI:
    """Return the application of *service*; `TeamGate` is in front of it."""
    agents = agent_servers(make_agent_app, service.open_workspace)

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
    _add_memory_calls(app, service)
    app.state.open_workspace, app.state.find = service.open_workspace, partial(found_in_all, service)
    app.include_router(sessions_api.turns_router)
    app.include_router(memory_api.router)
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
        kept = {name: service.keeper.kept[name] for name in service.vaults_of(service.asking.token)}
        return {
            "vaults": [
                {"name": name, "synced_at": round(one.synced_at), "waiting": one.waiting, "problem": one.problem}
                for name, one in kept.items()
            ]
        }


def _add_memory_calls(app: FastAPI, service: TeamService) -> None:
    @app.post(
        "/recall",
        tags=["memory"],
        summary="Find what is remembered of a question, in all vaults of the token",
        openapi_extra=example({"memories": [_MEMORY], "notices": []}, asked={"query": "why JWT?", "project": "shop"}),
    )
    def recall(asked: RecallAsked) -> dict[str, Any]:
        return recalled(service, asked)

    @app.get(
        "/context",
        tags=["memory"],
        summary="Give the standing rules, decisions, facts and open items of a project, from each vault of the token",
        openapi_extra=example({"blocks": [{"vault": "shop", "parts": [_PART]}]}),
    )
    def context(project: Name = "") -> dict[str, Any]:
        name = area_name(project)
        found = ((vault, standing_parts(service, vault, name)) for vault in service.asked_vaults)
        return {"blocks": [{"vault": vault, "parts": parts} for vault, parts in found if parts]}


T = TypeVar("T")


class RecallAsked(Body):
    """A question to all vaults of the token, or to the one that the address names."""

    query: Words = Field(min_length=1, description="Words, in any language, without syntax.")
    project: Name = Field(default="", description="Where the asker works; empty: everywhere.")
    limit: Limit = 5
    floor: float = Field(default=0.0, ge=0, le=1, description="The least relevance of what is given.")


class _AllVaults:
    """The indexes of the vaults called *names*, to be used as one; *notices* say which of them are not there yet."""

    def __init__(self, service: TeamService, names: Sequence[str]) -> None:
        self._service = service
        self._names = names
        self.notices: tuple[str, ...] = ()

    def use(self, look: Callable[[Index], T]) -> T:
        """Return what *look* makes of them."""
        place = place_of(self._service.workspace(self._names[0]))
        found, unbuilt = use_vaults(place, self._service.dsn, self._names, look)
        self.notices = tuple(f"{name}: it is not indexed yet" for name in unbuilt)
        return found


def found_in_all(service: TeamService, asked: SearchAsked) -> dict[str, Any]:
    """Return the answer to a search in the vault that the request names, or in all of its token's."""
    names = service.asked_vaults
    if len(names) == 1:
        found = search_vault(service.workspace(names[0]), asked)
        hits = [(names[0], hit) for hit in found.hits]
    else:
        several = _AllVaults(service, names)
        asked = asked.model_copy(update={"transcripts": "no"})  # turns are found in a vault of their own
        found = search_vault(service.common_workspace(names), asked, several.use)
        found = found._replace(notices=(*found.notices, *several.notices))
        hits = [_apart(hit) for hit in found.hits]
    return answer_fields(asked, found, _counted(service, hits))


def recalled(service: TeamService, asked: RecallAsked) -> dict[str, Any]:
    """Return what is remembered of a question in the vault that the request names, or in all of its token's."""
    names, projects = service.asked_vaults, service.asking.token.projects
    folder = Path(asked.project) if asked.project else None
    if len(names) == 1:
        work = service.workspace(names[0], folder)
        page = search_memories(work, asked.query, limit=asked.limit, projects=projects)
        found, notices = [(names[0], one) for one in page.found], page.notices
    else:
        several, work = _AllVaults(service, names), service.common_workspace(names, folder)
        page = search_memories(work, asked.query, limit=asked.limit, projects=projects, use=several.use)
        found, notices = [_apart(one) for one in page.found], (*page.notices, *several.notices)
    fields = [{"vault": name, **_ranked_fields(one)} for name, one in found if one.why["relevance"] >= asked.floor]
    return {"memories": fields, "notices": list(notices)}


def standing_parts(service: TeamService, vault: str, project: str) -> list[dict[str, Any]]:
    """Return the rules, decisions, facts and open items of *project* that stand in *vault*: what a start is given.

    Of a project that the token is not for there is nothing, as of one that is not there.
    """
    token = service.asking.token
    if not project or not token.covers(project):
        return []
    work = service.workspace(vault)
    wanted = work.settings.recall
    kinds = tuple(kind for kind in wanted.kinds if kind in _STANDING)
    parts = remembered(work, project, wanted._replace(kinds=kinds), with_memory=False)
    if token.projects:
        parts = list(_shown(work, parts))
    found = []
    for part in fit(parts, min(wanted.session_tokens, MOST_TOKENS)):
        lines = [{"text": line.text, "said": line.said, "place": line.ref, "where": line.where} for line in part.lines]
        found.append({"kind": part.kind, "title": part.title, "path": part.path, "lines": lines})
    return found


def _shown(work: Workspace, parts: Sequence[BlockPart]) -> Iterator[BlockPart]:
    """Give *parts* with the lines that the database shows to this token: files hold all projects."""

    def path_of(line: BlockLine) -> str:
        return line.ref.partition(":")[0]

    shown = shown_memories(work, {path_of(line) for part in parts for line in part.lines})
    for part in parts:
        lines = (line for line in part.lines if (path_of(line), line.key.partition("#")[2]) in shown)
        if kept := tuple(lines):
            yield part._replace(levels=(kept,))


def _apart(hit: Found) -> tuple[str, Found]:
    """Return the vault of a hit among several, and the hit as it is in there."""
    memory = hit.memory
    name, _, path = memory.path.partition(BESIDE)
    own = memory._replace(id=memory.fact_id or path, place=memory.place._replace(path=path))
    return name, hit._replace(memory=own)


def _ranked_fields(one: Found) -> dict[str, Any]:
    memory, place = one.memory, one.memory.place
    return {
        "score": one.score, "source": source_of(memory), "id": memory.id, "category": memory.category,
        "date": memory.date, "project": memory.project, "author": memory.author, "title": memory.title,
        "text": memory.text,
        "place": f"{place.path}:{place.start_line}-{place.end_line}" if place.start_line else place.path,
        "relevance": one.why["relevance"],
    }  # fmt: skip


def _counted(service: TeamService, hits: Sequence[tuple[str, Found]]) -> list[dict[str, Any]]:
    """Return the fields of *hits*, each with its vault, and count each as used once more."""
    uses: dict[str, dict[str, int]] = {}
    for name in dict.fromkeys(name for name, _ in hits):
        work, own = service.workspace(name), [hit for vault, hit in hits if vault == name]
        uses[name] = uses_of(work, own)
        count_uses(work.index_folder, (hit.memory.key for hit in own))
    today = service.clock().date()
    return [{"vault": name, **memory_fields(hit, uses[name], today)} for name, hit in hits]
