"""The calls on what happened: a search, a timeline, observations by their ids; and a memory by hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import Field

from memtool.errors import UsageError
from memtool.index.engine import place_of, use_index
from memtool.recall.remembering.memory import FACT, Memory
from memtool.recall.timeline import timeline
from memtool.web.calls import LARGEST_PAGE, LONGEST_NAME, LONGEST_QUERY, Body, OpenWorkspace, example
from memtool.web.history_search import HistoryAsked, search_history
from memtool.web.memory_api import LONGEST_FACT, save_memory
from memtool.web.observations import find_observation, of_event

Name = Annotated[str, Query(max_length=LONGEST_NAME)]


class NoteAsked(Body):
    """A memory by hand. With a *title* it is a note."""

    text: str = Field(min_length=1, max_length=500_000)
    title: str = Field(default="", max_length=LONGEST_NAME)
    project: str = Field(default="", max_length=LONGEST_NAME)


def add_history_calls(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the calls to *app*."""
    _add_past(app, open_workspace)

    @app.post(
        "/api/memory/save",
        tags=["sessions"],
        summary="Remember something by hand",
        openapi_extra=example({"id": _FACT["id"], "stored": True}, asked={"text": "Deploys happen on Tuesdays."}),
    )
    def save(asked: NoteAsked) -> dict[str, Any]:
        work = open_workspace(None)
        is_note = bool(asked.title) or len(asked.text) > LONGEST_FACT
        text = f"# {asked.title}\n\n{asked.text}" if asked.title else asked.text
        return save_memory(work, Memory(text, kind="knowledge" if is_note else FACT, project=asked.project))


def _add_past(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get(
        "/api/search",
        tags=["sessions"],
        summary="Find observations, sessions and prompts; without a query the filters alone decide",
        openapi_extra=example({"observations": [_FACT], "sessions": [_SESSION], "prompts": [_PROMPT], "notices": []}),
    )
    def find(asked: Annotated[HistoryAsked, Query()]) -> dict[str, Any]:
        return search_history(open_workspace(None), asked)

    @app.get(
        "/api/timeline",
        tags=["sessions"],
        summary="Tell what happened around a time, an id, or what a query finds",
        openapi_extra=example({"observations": [_FACT], "anchor": 0, "earlier": True, "later": False}),
    )
    def around(
        anchor: Name = "",
        query: Annotated[str, Query(max_length=LONGEST_QUERY)] = "",
        depth_before: Annotated[int, Query(ge=0, le=LARGEST_PAGE)] = 10,
        depth_after: Annotated[int, Query(ge=0, le=LARGEST_PAGE)] = 10,
        project: Name = "",
    ) -> dict[str, Any]:
        if anchor and query:
            raise UsageError(
                "an anchor and a query exclude each other", hint="Leave one out; without both: the newest."
            )
        work = open_workspace(None)
        projects = (project, "") if project else ()  # what belongs to none is everybody's, a day's note for one
        found = use_index(
            place_of(work),
            lambda index: timeline(
                work, index, anchor or query, projects=projects, before=depth_before, after=depth_after
            ),
        )
        told = [of_event(work, event).fields() for event in found.events]
        return {"observations": told, "anchor": found.anchor, "earlier": found.earlier, "later": found.later}

    @app.get(
        "/api/observations",
        tags=["sessions"],
        summary="Read many observations by their ids",
        openapi_extra=example({"observations": [{**_FACT, "narrative": "Deploys happen on Tuesdays."}], "missing": []}),
    )
    def observations(ids: Annotated[str, Query(min_length=1, max_length=LONGEST_QUERY)]) -> dict[str, Any]:
        wanted = [each.strip() for each in ids.split(",") if each.strip()]
        if len(wanted) > LARGEST_PAGE:
            raise UsageError(f"{len(wanted)} ids at once are too many", hint=f"Ask for {LARGEST_PAGE} at most.")
        work = open_workspace(None)
        found = {each: find_observation(work, each) for each in wanted}
        return {
            "observations": [one.fields() for one in found.values() if one],
            "missing": [each for each, one in found.items() if one is None],
        }


_FACT: dict[str, Any] = {
    "id": "fact-20260210-9f3a1c04be", "type": "fact", "title": "Deploys happen on Tuesdays.",
    "narrative": "Deploys happen on Tuesdays.", "project": "shop", "date": "2026-02-10", "time": "14:30",
    "created_at": "2026-02-10T14:30", "author": "user", "status": "", "session": "", "facts": [], "concepts": [],
    "files_read": [], "files_modified": [], "discovery_tokens": None, "path": "areas/projects/shop/facts.json",
    "line": 3,
}  # fmt: skip
_SESSION = {
    "id": "sessions/3f2a9c.md", "session": "3f2a9c", "project": "shop", "created_at": "2026-02-10T14:30",
    "request": "Use JWT.", "investigated": [], "learned": ["Access tokens live 24 hours."],
    "completed": ["login and refresh routes, with tests"], "next_steps": ["rate limiting"],
    "files_read": ["auth.ts"], "files_modified": ["jwt.ts"], "discovery_tokens": 48210,
}  # fmt: skip
_PROMPT = {"session": "3f2a9c", "prompt": "Use JWT.", "project": "shop", "created_at": "2026-02-10T14:21:07+08:00"}
