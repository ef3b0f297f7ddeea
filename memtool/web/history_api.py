"""The calls on the history: a search, a timeline, observations by their ids; and saving a memory by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from fastapi import APIRouter, Query
from pydantic import Field

from memtool.errors import UsageError
from memtool.index.engine import place_of, use_index
from memtool.index.filters import Filter
from memtool.memory.limits import LONGEST_FACT
from memtool.memory.timeline import EDIT, timeline
from memtool.text.lines import brief
from memtool.text.tokens import index_terms
from memtool.vault.memory import FACT, KNOWLEDGE, SESSION, Location, Memory, NewMemory
from memtool.web.calls import MOST_ITEMS, Body, Day, Limit, Name, Offset, PathText, Text, Words, Work, example
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
from memtool.workspace import Workspace

T = TypeVar("T")
Id: TypeAlias = Annotated[Words, Field(min_length=1)]

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
    "id": "prompt-9f3a1c04be21", "session": "3f2a9c", "prompt": "Use JWT.", "project": "shop",
    "created_at": "2026-02-10T14:21:07+08:00",
}  # fmt: skip

router = APIRouter(tags=["sessions"])


class HistoryAsked(Body):
    """A query and its filters. Lists are separated by commas; an observation matches if it has one of the members."""

    query: Words = ""
    type: Literal["", "observations", "sessions", "prompts"] = ""
    project: Name = ""
    since: Day = Field(default="", alias="dateStart")
    until: Day = Field(default="", alias="dateEnd")
    obs_type: Name = ""
    concepts: Name = ""
    files: PathText = ""
    limit: Limit = 20
    offset: Offset = 0
    order: Literal["relevance", "date_desc", "date_asc"] = Field(default="relevance", alias="orderBy")


class NoteAsked(Body):
    """A memory by hand. With a *title* it is a note."""

    text: Text
    title: Name = ""
    project: Name = ""


@router.post(
    "/api/memory/save",
    openapi_extra=example({"id": _FACT["id"], "stored": True}, asked={"text": "Deploys happen on Tuesdays."}),
)
def save(work: Work, asked: NoteAsked) -> dict[str, Any]:
    """Save a memory by hand."""
    is_note = bool(asked.title) or len(asked.text) > LONGEST_FACT
    text = f"# {asked.title}\n\n{asked.text}" if asked.title else asked.text
    return save_memory(work, NewMemory(text, kind=KNOWLEDGE if is_note else FACT, project=asked.project))


@router.get(
    "/api/search",
    openapi_extra=example({"observations": [_FACT], "sessions": [_SESSION], "prompts": [_PROMPT], "notices": []}),
)
def find(work: Work, asked: Annotated[HistoryAsked, Query()]) -> dict[str, Any]:
    """Find observations, sessions and prompts; without a query, by the filters only."""
    found: dict[str, Any] = {"notices": []}
    for kind in [asked.type] if asked.type else ("observations", "sessions", "prompts"):
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
            found[kind] = [one.fields() for one in _page(asked, kept, lambda one: one.memory.date[:16])]
        found["notices"] = list(dict.fromkeys([*found["notices"], *notices]))
    return found


@router.get(
    "/api/timeline", openapi_extra=example({"observations": [_FACT], "anchor": 0, "earlier": True, "later": False})
)
def around(
    work: Work,
    anchor: Name = "",
    query: Words = "",
    depth_before: Annotated[int, Query(ge=0, le=MOST_ITEMS)] = 10,
    depth_after: Annotated[int, Query(ge=0, le=MOST_ITEMS)] = 10,
    project: Name = "",
) -> dict[str, Any]:
    """List what happened around a time, an id, or the best hit of a query."""
    if anchor and query:
        raise UsageError(
            "`anchor` and `query` exclude each other", hint="Send one of them, or none for the newest events."
        )
    projects = (project, "") if project else ()  # what belongs to none is everybody's, a day's note for one
    found = use_index(
        place_of(work),
        lambda index: timeline(work, index, anchor or query, projects=projects, before=depth_before, after=depth_after),
    )
    observations = [of_event(work, event).fields() for event in found.events]
    return {"observations": observations, "anchor": found.anchor, "earlier": found.earlier, "later": found.later}


@router.get(
    "/api/observations",
    openapi_extra=example({"observations": [{**_FACT, "narrative": "Deploys happen on Tuesdays."}], "missing": []}),
)
def observations(work: Work, ids: Annotated[list[Id], Query(min_length=1, max_length=MOST_ITEMS)]) -> dict[str, Any]:
    """Read many observations by their ids: separated by commas, or one `ids` for each."""
    found: dict[str, dict[str, Any] | None] = {}
    for given in ids:
        one = _find(work, given) if "," in given else None  # a path may hold commas
        wanted = [given] if one else [each.strip() for each in given.split(",") if each.strip()]
        if len(found) + len(wanted) > MOST_ITEMS:
            raise UsageError("there are too many ids", hint=f"Send at most {MOST_ITEMS}.")
        found |= {each: one or _find(work, each) for each in wanted}
    return {
        "observations": [one for one in found.values() if one],
        "missing": [each for each, one in found.items() if one is None],
    }


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
    project_of, project = cache(partial(_project_of, work)), asked.project.casefold()
    of_project = (one for one in kept if not project or project_of(one.folder).casefold() == project)
    newest_first = sorted(of_project, key=lambda one: one.at, reverse=asked.order != "date_asc")
    return newest_first[asked.offset : asked.offset + asked.limit]


def _project_of(work: Workspace, folder: str) -> str:
    return work.area(Path(folder)).name if folder else ""


def _prompt_fields(work: Workspace, one: Prompt) -> dict[str, str]:
    fields = {"id": one.id, "session": one.session_id, "prompt": work.redact(one.text)}
    return {**fields, "project": _project_of(work, one.folder), "created_at": one.at}


def _find(work: Workspace, wanted: str) -> dict[str, Any] | None:
    """Return the observation with the id *wanted*, a prompt's included, in full; None if there is none."""
    if not wanted.startswith(f"{PROMPT}-"):
        return find_observation(work, wanted)
    prompt = next((one for one in prompts(work) if one.id == wanted), None)
    if prompt is None:
        return None
    text, project = work.redact(prompt.text), _project_of(work, prompt.folder)
    memory = Memory(wanted, text, PROMPT, Location(""), project=project, date=prompt.at[:16])
    return Observation(memory, brief(text, 200), prompt.session_id).fields()
