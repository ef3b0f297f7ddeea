"""The calls on what happened: a timeline, observations one by one, everything at once, the settings, and the log."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import Response
from pydantic import Field

from memtool.capture.log import read_log
from memtool.consolidate.memories import get_memory
from memtool.errors import NoteNotFound, UsageError
from memtool.index.engine import Index, catch_up, place_of, use_index
from memtool.index.lookup import find_fact, find_note
from memtool.integrations.exchange.documents import JSON
from memtool.integrations.exchange.exporting import export
from memtool.recall.remembering.memory import FACT, Memory
from memtool.recall.remembering.remember import AlreadyKnown, remember
from memtool.recall.timeline import EDIT, SESSION, Event, events_of, timeline
from memtool.settings.sections import ABOUT
from memtool.vault.reading import parse_ref
from memtool.web.calls import LARGEST_PAGE, LONGEST_NAME, LONGEST_QUERY, Asked, OpenWorkspace, example
from memtool.workspace import Workspace

_MOST_DAYS = 30  # of the log
_LONGEST_FACT = 2_000  # characters

Name = Annotated[str, Query(max_length=LONGEST_NAME)]


class NoteAsked(Asked):
    """A memory by hand. With a *title* it is a note."""

    text: str = Field(min_length=1, max_length=500_000)
    title: str = Field(default="", max_length=LONGEST_NAME)
    project: str = Field(default="", max_length=LONGEST_NAME)


def add_history_calls(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the calls to *app*."""
    _add_past(app, open_workspace)
    _add_state(app, open_workspace)

    @app.post(
        "/api/memory/save",
        tags=["sessions"],
        summary="Remember something by hand",
        openapi_extra=example({"id": _FACT["id"], "stored": True}, asked={"text": "Deploys happen on Tuesdays."}),
    )
    def save(asked: NoteAsked) -> dict[str, Any]:
        work = open_workspace(None)
        is_note = bool(asked.title) or len(asked.text) > _LONGEST_FACT
        text = f"# {asked.title}\n\n{asked.text}" if asked.title else asked.text
        try:
            done = remember(work, Memory(text, kind="knowledge" if is_note else FACT, project=asked.project))
        except AlreadyKnown as known:
            return {"id": known.standing.name, "stored": False, "reason": str(known)}
        catch_up(work)
        return {"id": done.id, "stored": True}


def _add_past(app: FastAPI, open_workspace: OpenWorkspace) -> None:
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
        told = [_observation(event) for event in found.events]
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
        found = {each: _in_full(work, each) for each in wanted}
        return {
            "observations": [one for one in found.values() if one],
            "missing": [each for each, one in found.items() if one is None],
        }


def _add_state(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get(
        "/api/data/export",
        tags=["sessions"],
        summary="Give all facts and notes as one JSON document, which `memtool import memtool` takes",
        openapi_extra=example({"format": 1, "facts": [], "notes": []}),
    )
    def everything(project: Name = "") -> Response:
        return Response(export(open_workspace(None).vault, JSON, project).content, media_type="application/json")

    @app.get(
        "/api/settings",
        tags=["service"],
        summary="Tell the settings in force, and where each comes from",
        openapi_extra=example({"settings": [{"key": "search.limit", "value": 6, "origin": "default", "help": ""}]}),
    )
    def settings() -> dict[str, Any]:
        known = open_workspace(None).settings
        return {
            "settings": [
                {"key": key, "value": _value(known, key), "origin": known.origins.get(key, ""), "help": about.help}
                for key, about in ABOUT.items()
            ]
        }

    @app.get(
        "/api/logs",
        tags=["service"],
        summary="Give the latest lines of the log, the newest first",
        openapi_extra=example({"entries": [{"at": "2026-02-10T14:30:00+08:00", "level": "error", "message": "…"}]}),
    )
    def logs(limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50) -> dict[str, Any]:
        work = open_workspace(None)
        entries = read_log([work.vault.state_path, work.index_folder], work.now() - timedelta(days=_MOST_DAYS))
        return {"entries": [each._asdict() for each in entries[: -limit - 1 : -1]]}


def _value(known: Any, key: str) -> Any:  # noqa: ANN401
    section, _, name = key.rpartition(".")
    return getattr(getattr(known, section or "general"), name)


def _observation(event: Event) -> dict[str, Any]:
    """Return an event as an observation; what the vault does not know of it is empty."""
    return {
        "id": event.id,
        "type": event.kind,
        "title": event.text,
        "project": event.project,
        "date": event.date,
        "time": event.minute,
        "author": event.author,
        "status": event.status,
        "session": Path(event.path).stem if event.path.startswith(("sessions/", "archive/sessions/")) else "",
        "files_modified": event.text.split(", ") if event.kind == EDIT else [],
        "path": event.path,
        "line": event.line,
    }


def _in_full(work: Workspace, wanted: str) -> dict[str, Any] | None:
    """Return the observation with the id *wanted*, its text and its tags; None if there is none."""

    def look(index: Index) -> Event | None:
        fact = find_fact(index.db, wanted)
        ref = fact.path if fact else find_note(index.db, parse_ref(wanted).name)
        found = events_of(work, index, ref)
        return next((event for event in found if event.id == wanted), None) or next(
            (event for event in found if event.path == ref and event.kind not in (EDIT, "fact")), None
        )

    try:
        event = use_index(place_of(work), look)
        if event is None:
            return None
        whole = get_memory(work, event.id if event.kind == "fact" else event.path)
    except (NoteNotFound, UsageError):
        return None
    is_whole = event.kind in ("fact", SESSION) or event.id == event.path
    text, tags = (whole.content, list(whole.tags)) if is_whole else (event.text, [])
    return {**_observation(event), "narrative": text, "concepts": tags}


_FACT = {
    "id": "fact-20260210-9f3a1c04be", "type": "fact", "title": "Deploys happen on Tuesdays.", "project": "shop",
    "date": "2026-02-10", "time": "14:30", "author": "user", "status": "", "session": "", "files_modified": [],
    "path": "areas/projects/shop/facts.json", "line": 3,
}  # fmt: skip
