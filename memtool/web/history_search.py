"""The search of what happened: observations, sessions and prompts, by words and by filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field

from memtool.index.filters import Filter
from memtool.text.tokens import index_terms
from memtool.vault.project_area import find_area
from memtool.web.calls import LARGEST_PAGE, LAST_OFFSET, LONGEST_NAME, LONGEST_QUERY, Body
from memtool.web.http_sessions import Prompt, prompts
from memtool.web.observations import OLD_TYPES, Observation, find_hits, observations_in, summaries_in
from memtool.web.request_search import SearchAsked, filter_of
from memtool.workspace import Workspace

T = TypeVar("T")

_NOTES_FOR_ONE = 4  # notes and facts that are looked at for each observation, because filters leave some out
_TYPES = ("observations", "sessions", "prompts")


class HistoryAsked(Body):
    """What is looked for. Lists are separated by commas; one of their members is enough."""

    query: str = Field(default="", max_length=LONGEST_QUERY)
    type: Literal["", "observations", "sessions", "prompts"] = ""
    project: str = Field(default="", max_length=LONGEST_NAME)
    since: str = Field(default="", max_length=40, alias="dateStart")
    until: str = Field(default="", max_length=40, alias="dateEnd")
    obs_type: str = Field(default="", max_length=LONGEST_NAME)
    concepts: str = Field(default="", max_length=LONGEST_NAME)
    files: str = Field(default="", max_length=1_000)
    limit: int = Field(default=20, ge=1, le=LARGEST_PAGE)
    offset: int = Field(default=0, ge=0, le=LAST_OFFSET)
    order: Literal["relevance", "date_desc", "date_asc"] = Field(default="relevance", alias="orderBy")


def search_history(work: Workspace, asked: HistoryAsked) -> dict[str, Any]:
    """Return the part of what happened that *asked* names, as the answer to a request.

    Raises:
        MemtoolError: the vault or its index cannot be read, or a filter is none.
    """
    found: dict[str, Any] = {"notices": []}
    for kind in [asked.type] if asked.type else _TYPES:
        if kind == "prompts":
            found[kind] = [_prompt_fields(work, one) for one in _prompts(work, asked)]
            continue
        searched = SearchAsked(
            query=asked.query, project=asked.project or None, kind="session" if kind == "sessions" else "",
            since=asked.since, until=asked.until,
        )  # fmt: skip
        hits, notices = find_hits(work, searched, (asked.offset + asked.limit) * _NOTES_FOR_ONE)
        if kind == "sessions":
            sums = _page(asked, summaries_in(work, hits), lambda one: one.created_at)
            found[kind] = [one._asdict() for one in sums]
        else:
            kept = (one for one in observations_in(work, hits, asked.query) if _is_wanted(one, asked))
            page = _page(asked, kept, lambda one: f"{one.date} {one.time}")
            found[kind] = [one.fields() for one in page]
        found["notices"] = list(dict.fromkeys([*found["notices"], *notices]))
    return found


def _page(asked: HistoryAsked, found: Iterable[T], when: Callable[[T], str]) -> list[T]:
    """Return the page of *found* that is *asked* for: in its order, or by date."""
    if asked.order != "relevance":
        found = sorted(found, key=when, reverse=asked.order == "date_desc")
    return list(islice(found, asked.offset, asked.offset + asked.limit))


def _is_wanted(one: Observation, asked: HistoryAsked) -> bool:
    types = {OLD_TYPES.get(name, name) for name in _listed(asked.obs_type)}
    concepts, files = _listed(asked.concepts), _listed(asked.files)
    touched = [file.casefold() for file in (*one.files_modified, *one.files_read)]
    return (
        (not types or one.type in types)
        and (not concepts or not concepts.isdisjoint(map(str.casefold, one.concepts)))
        and (not files or any(wanted in file for wanted in files for file in touched))
    )


def _listed(text: str) -> set[str]:
    return {part.strip().casefold() for part in text.split(",") if part.strip()}


def _prompts(work: Workspace, asked: HistoryAsked) -> list[Prompt]:
    terms = set(index_terms(asked.query))
    wanted = filter_of(work, SearchAsked(since=asked.since, until=asked.until))
    kept = (one for one in prompts(work) if _is_in(one.at, wanted) and terms <= set(index_terms(one.text)))
    of_project = _of_project(work, kept, asked.project) if asked.project else kept
    newest_first = sorted(of_project, key=lambda one: one.at, reverse=asked.order != "date_asc")
    return newest_first[asked.offset : asked.offset + asked.limit]


def _is_in(at: str, wanted: Filter) -> bool:
    return wanted.since <= at[:10] and (not wanted.until or at[:10] <= wanted.until)


def _of_project(work: Workspace, found: Iterable[Prompt], project: str) -> Iterator[Prompt]:
    names: dict[str, str] = {}
    for one in found:
        if one.folder not in names:
            names[one.folder] = _project_of(work, one.folder)
        if names[one.folder].casefold() == project.casefold():
            yield one


def _project_of(work: Workspace, folder: str) -> str:
    return find_area(work.vault, Path(folder), work.home, work.now().timestamp()).name if folder else ""


def _prompt_fields(work: Workspace, one: Prompt) -> dict[str, str]:
    project = _project_of(work, one.folder)
    return {"session": one.session_id, "prompt": work.redact(one.text), "project": project, "created_at": one.at}
