"""The calls on the history: a search, a timeline, observations by their ids; and saving a memory by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import FastAPI, Query
from pydantic import Field

from memtool.errors import UsageError
from memtool.index.engine import place_of, use_index
from memtool.index.filters import Filter
from memtool.memory.limits import LONGEST_FACT
from memtool.memory.timeline import EDIT, timeline
from memtool.text.lines import brief
from memtool.text.tokens import index_terms
from memtool.vault.memory import FACT, KNOWLEDGE, SESSION, Location, Memory, NewMemory
from memtool.web import limits
from memtool.web.calls import Body, example
from memtool.web.memory_api import save_memory
from memtool.web.observations import (
    OLD_TYPES,
    Observation,
    SessionSummary,
    find_hits,
    find_observation,
    observations_in,
    of_event,
    summaries_in,
)
from memtool.web.request_search import SearchAsked, filter_of
from memtool.web.sessions_api import PROMPT, Prompt, prompts
from memtool.workspace import OpenWorkspace, Workspace

T = TypeVar("T")
Name = Annotated[str, Query(max_length=limits.NAME)]
Id = Annotated[str, Field(min_length=1, max_length=limits.QUERY)]

_TYPES = ("observations", "sessions", "prompts")


class HistoryAsked(Body):
    """A query and its filters. Lists are separated by commas; an observation matches if it has one of the members."""

    query: str = Field(default="", max_length=limits.QUERY)
    type: Literal["", "observations", "sessions", "prompts"] = ""
    project: str = Field(default="", max_length=limits.NAME)
    since: str = Field(default="", max_length=40, alias="dateStart")
    until: str = Field(default="", max_length=40, alias="dateEnd")
    obs_type: str = Field(default="", max_length=limits.NAME)
    concepts: str = Field(default="", max_length=limits.NAME)
    files: str = Field(default="", max_length=1_000)
    limit: int = Field(default=20, ge=1, le=limits.PAGE)
    offset: int = Field(default=0, ge=0, le=limits.OFFSET)
    order: Literal["relevance", "date_desc", "date_asc"] = Field(default="relevance", alias="orderBy")


class NoteAsked(Body):
    """A memory by hand. With a *title* it is a note."""

    text: str = Field(min_length=1, max_length=limits.TEXT)
    title: str = Field(default="", max_length=limits.NAME)
    project: str = Field(default="", max_length=limits.NAME)


def add_history_calls(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    """Add the calls to *app*."""
    _add_past(app, open_workspace)

    @app.post(
        "/api/memory/save",
        tags=["sessions"],
        summary="Save a memory by hand",
        openapi_extra=example({"id": _FACT["id"], "stored": True}, asked={"text": "Deploys happen on Tuesdays."}),
    )
    def save(asked: NoteAsked) -> dict[str, Any]:
        work = open_workspace(None)
        is_note = bool(asked.title) or len(asked.text) > LONGEST_FACT
        text = f"# {asked.title}\n\n{asked.text}" if asked.title else asked.text
        return save_memory(work, NewMemory(text, kind=KNOWLEDGE if is_note else FACT, project=asked.project))


def _add_past(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get(
        "/api/search",
        tags=["sessions"],
        summary="Find observations, sessions and prompts; without a query, by the filters only",
        openapi_extra=example({"observations": [_FACT], "sessions": [_SESSION], "prompts": [_PROMPT], "notices": []}),
    )
    def find(asked: Annotated[HistoryAsked, Query()]) -> dict[str, Any]:
        return _search_history(open_workspace(None), asked)

    @app.get(
        "/api/timeline",
        tags=["sessions"],
        summary="List what happened around a time, an id, or the best hit of a query",
        openapi_extra=example({"observations": [_FACT], "anchor": 0, "earlier": True, "later": False}),
    )
    def around(
        anchor: Name = "",
        query: Annotated[str, Query(max_length=limits.QUERY)] = "",
        depth_before: Annotated[int, Query(ge=0, le=limits.PAGE)] = 10,
        depth_after: Annotated[int, Query(ge=0, le=limits.PAGE)] = 10,
        project: Name = "",
    ) -> dict[str, Any]:
        if anchor and query:
            raise UsageError(
                "`anchor` and `query` exclude each other", hint="Send one of them, or none for the newest events."
            )
        work = open_workspace(None)
        projects = (project, "") if project else ()  # what belongs to none is everybody's, a day's note for one
        found = use_index(
            place_of(work),
            lambda index: timeline(
                work, index, anchor or query, projects=projects, before=depth_before, after=depth_after
            ),
        )
        observations = [of_event(work, event).fields() for event in found.events]
        return {"observations": observations, "anchor": found.anchor, "earlier": found.earlier, "later": found.later}

    @app.get(
        "/api/observations",
        tags=["sessions"],
        summary="Read many observations by their ids: separated by commas, or one `ids` for each",
        openapi_extra=example({"observations": [{**_FACT, "narrative": "Deploys happen on Tuesdays."}], "missing": []}),
    )
    def observations(ids: Annotated[list[Id], Query(min_length=1, max_length=limits.PAGE)]) -> dict[str, Any]:
        work = open_workspace(None)
        found: dict[str, dict[str, Any] | None] = {}
        for given in ids:
            one = _find(work, given) if "," in given else None  # a path may hold commas
            wanted = [given] if one else [each.strip() for each in given.split(",") if each.strip()]
            if len(found) + len(wanted) > limits.PAGE:
                raise UsageError("there are too many ids", hint=f"Send at most {limits.PAGE}.")
            found |= {each: one or _find(work, each) for each in wanted}
        return {
            "observations": [one for one in found.values() if one],
            "missing": [each for each, one in found.items() if one is None],
        }


def _search_history(work: Workspace, asked: HistoryAsked) -> dict[str, Any]:
    """Return the part of what happened that *asked* names, as the answer to a request.

    Raises:
        MemtoolError: the vault or its index cannot be read, or a filter is none.
    """
    found: dict[str, Any] = {"notices": []}
    for kind in [asked.type] if asked.type else _TYPES:
        if kind == "prompts":
            found[kind] = [_prompt_fields(work, one) for one in _prompts(work, asked)]
            continue
        hits, notices = find_hits(work, asked.query, _filter(work, asked, "session" if kind == "sessions" else ""))
        if kind == "sessions":
            sums = (one for one, lines in summaries_in(work, hits) if _is_wanted_session(one, lines, asked))
            found[kind] = [one._asdict() for one in _page(asked, sums, lambda one: one.created_at)]
        else:
            of_type = observations_in(work, hits, asked.query, lambda one: _is_of_type(one, asked))
            kept = (one for one in of_type if _names_file(one, asked))
            page = _page(asked, kept, lambda one: one.memory.date[:16])
            found[kind] = [one.fields() for one in page]
        found["notices"] = list(dict.fromkeys([*found["notices"], *notices]))
    return found


def _filter(work: Workspace, asked: HistoryAsked, kind: str) -> Filter:
    """Return the filter for the index: as narrow as it can tell, the rest is left out afterwards."""
    searched = SearchAsked(project=asked.project or None, kind=kind, since=asked.since, until=asked.until)
    wanted = filter_of(work, searched)
    if asked.project and not kind:
        wanted = wanted._replace(projects=(*wanted.projects, ""))  # a day's note is of all projects
    types = _types(asked)
    if kind or not types:
        return wanted
    kinds = {*types, *(["daily"] if EDIT in types else []), *([] if types <= {EDIT, FACT} else ["session"])}
    return wanted._replace(kinds=tuple(kinds))


def _page(asked: HistoryAsked, found: Iterable[T], when: Callable[[T], str]) -> list[T]:
    """Return the page of *found* that is *asked* for: in its order, or by date."""
    if asked.order == "date_desc" and not asked.query:  # the newest days come first by themselves
        found = chain.from_iterable(
            sorted(day, key=when, reverse=True) for _, day in groupby(found, key=lambda one: when(one)[:10])
        )
    elif asked.order != "relevance":
        found = sorted(found, key=when, reverse=asked.order == "date_desc")
    return list(islice(found, asked.offset, asked.offset + asked.limit))


def _types(asked: HistoryAsked) -> set[str]:
    return {OLD_TYPES.get(name, name) for name in _listed(asked.obs_type)}


def _is_of_type(one: Observation, asked: HistoryAsked) -> bool:
    types, concepts, project = _types(asked), _listed(asked.concepts), asked.project.casefold()
    memory = one.memory
    return (
        (not types or memory.kind in types)
        and (not concepts or not concepts.isdisjoint(map(str.casefold, memory.tags)))
        and (not project or project == (memory.project.casefold() or "global"))
    )


def _names_file(one: Observation | SessionSummary, asked: HistoryAsked) -> bool:
    files = _listed(asked.files)
    touched = [file.casefold() for file in (*one.files_modified, *one.files_read)]
    return not files or any(wanted in file for wanted in files for file in touched)


def _is_wanted_session(one: SessionSummary, lines: Iterable[Observation], asked: HistoryAsked) -> bool:
    """Return whether a session is *asked* for: it names the file, and one statement has the type and the concept."""
    is_of_type = not (asked.obs_type or asked.concepts) or any(_is_of_type(line, asked) for line in lines)
    return (is_of_type or SESSION in _types(asked)) and _names_file(one, asked)


def _listed(text: str) -> set[str]:
    return {part.strip().casefold() for part in text.split(",") if part.strip()}


def _prompts(work: Workspace, asked: HistoryAsked) -> list[Prompt]:
    if asked.concepts or asked.files or (asked.obs_type and PROMPT not in _types(asked)):
        return []  # a prompt has none of them
    terms = set(index_terms(asked.query))
    wanted = filter_of(work, SearchAsked(since=asked.since, until=asked.until))
    until = wanted.until or "9999"
    in_time = (one for one in prompts(work) if wanted.since <= one.at[:10] <= until)
    kept = (one for one in in_time if terms <= set(index_terms(one.text)))
    of_project = _of_project(work, kept, asked.project) if asked.project else kept
    newest_first = sorted(of_project, key=lambda one: one.at, reverse=asked.order != "date_asc")
    return newest_first[asked.offset : asked.offset + asked.limit]


def _of_project(work: Workspace, found: Iterable[Prompt], project: str) -> Iterator[Prompt]:
    names: dict[str, str] = {}
    for one in found:
        if one.folder not in names:
            names[one.folder] = _project_of(work, one.folder)
        if names[one.folder].casefold() == project.casefold():
            yield one


def _project_of(work: Workspace, folder: str) -> str:
    return work.area(Path(folder)).name if folder else ""


def _prompt_fields(work: Workspace, one: Prompt) -> dict[str, str]:
    project, said = _project_of(work, one.folder), work.redact(one.text)
    return {
        "id": one.id,
        "session": one.session_id,
        "prompt": said,
        "project": project,
        "created_at": one.at,
    }


def _find(work: Workspace, wanted: str) -> dict[str, Any] | None:
    """Return the observation with the id *wanted*, a prompt's included, in full; None if there is none."""
    if not wanted.startswith(f"{PROMPT}-"):
        return find_observation(work, wanted)
    prompt = next((one for one in prompts(work) if one.id == wanted), None)
    if prompt is None:
        return None
    said, project = work.redact(prompt.text), _project_of(work, prompt.folder)
    memory = Memory(wanted, said, PROMPT, Location(""), project=project, date=prompt.at[:16])
    return Observation(memory, brief(said, limits.NAME), prompt.session_id).fields()


_FACT: dict[str, Any] = {
    "id": "fact-20260210-9f3a1c04be", "type": "fact", "title": "Deploys happen on Tuesdays.",
    "narrative": "Deploys happen on Tuesdays.", "project": "shop", "date": "2026-02-10", "time": "14:30",
    "created_at": "2026-02-10T14:30", "author": "user", "status": "", "session": "", "facts": [], "concepts": [],
    "files_read": [], "files_modified": [], "discovery_tokens": None, "path": "areas/projects/shop/facts.json",
    "line": 3,
}  # fmt: skip
_SESSION = {
    "id": "sessions/3f2a9c.md", "session": "3f2a9c", "project": "shop", "created_at": "2026-02-10T14:30",
    "outcome": "Login by JWT.", "request": "Use JWT.", "investigated": [], "learned": ["Access tokens live 24 hours."],
    "completed": ["login and refresh routes, with tests"], "next_steps": ["rate limiting"],
    "files_read": ["auth.ts"], "files_modified": ["jwt.ts"], "discovery_tokens": 48210,
}  # fmt: skip
_PROMPT = {
    "id": "prompt-9f3a1c04be21",
    "session": "3f2a9c",
    "prompt": "Use JWT.",
    "project": "shop",
    "created_at": "2026-02-10T14:21:07+08:00",
}
