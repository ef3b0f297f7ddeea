"""Reading the vaults of a team: the one that a request names, or all that its token may read, in one ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from memtool.index.engine import Index, place_of
from memtool.memory.memories import uses_of
from memtool.memory.search import search_memories, source_of
from memtool.recall.budget import MOST_TOKENS, BlockLine, BlockPart, fit
from memtool.recall.start.remembered import remembered
from memtool.recall.uses import count_uses
from memtool.team.postgres.shared import BESIDE, use_vaults
from memtool.team.service import TeamService, shown_memories
from memtool.vault.memory import Found
from memtool.web.calls import LARGEST_PAGE, LONGEST_NAME, LONGEST_QUERY, Body
from memtool.web.request_search import SearchAsked, Searched, answer_fields, memory_fields, search_vault
from memtool.workspace import Workspace

T = TypeVar("T")

_STANDING = ("rules", "decisions", "facts", "open")  # what holds now; the rest of a start is the own vault's


class RecallAsked(Body):
    """A question to all vaults of the token, or to the one that the address names."""

    query: str = Field(min_length=1, max_length=LONGEST_QUERY, description="Words, in any language, without syntax.")
    project: str = Field(default="", max_length=LONGEST_NAME, description="Where the asker works; empty: everywhere.")
    limit: int = Field(default=5, ge=1, le=LARGEST_PAGE)
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
    return answer_fields(asked, found, _told(service, found, hits))


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
    chosen = fit(parts, min(wanted.session_tokens, MOST_TOKENS))
    return [{**_fields_of(part), "lines": [_fields_of_line(line) for line in part.lines]} for part in chosen]


def _shown(work: Workspace, parts: Iterable[BlockPart]) -> Iterator[BlockPart]:
    """Give *parts* with the lines that the database shows to this token: files hold all projects."""
    parts = list(parts)
    shown = shown_memories(work, {_path_of(line) for part in parts for line in part.lines})
    for part in parts:
        lines = (line for line in part.lines if (_path_of(line), line.key.partition("#")[2]) in shown)
        if kept := tuple(lines):
            yield part._replace(levels=(kept,))


def _path_of(line: BlockLine) -> str:
    return line.ref.partition(":")[0]


def _fields_of(part: BlockPart) -> dict[str, Any]:
    return {"kind": part.kind, "title": part.title, "path": part.path}


def _fields_of_line(line: BlockLine) -> dict[str, Any]:
    return {"text": line.text, "said": line.said, "place": line.ref, "where": line.where}


def _apart(hit: Found) -> tuple[str, Found]:
    """Return the vault of a hit among several, and the hit as it is in there."""
    memory = hit.memory
    name, _, path = memory.path.partition(BESIDE)
    own = memory._replace(id=memory.fact_id or path, place=memory.place._replace(path=path))
    return name, hit._replace(memory=own)


def _ranked_fields(one: Found) -> dict[str, Any]:
    memory, place = one.memory, one.memory.place
    return {
        "score": one.score,
        "source": source_of(memory),
        "id": memory.id,
        "category": memory.category,
        "date": memory.date,
        "project": memory.project,
        "author": memory.author,
        "title": memory.title,
        "text": memory.text,
        "place": f"{place.path}:{place.start_line}-{place.end_line}" if place.start_line else place.path,
        "relevance": one.why["relevance"],
    }


def _told(service: TeamService, found: Searched, hits: Sequence[tuple[str, Found]]) -> list[dict[str, Any]]:
    """Return the *hits*, each with its vault, as they are told; each counts as used once more."""
    uses: dict[str, dict[str, int]] = {}
    for name in dict.fromkeys(name for name, _ in hits):
        work, own = service.workspace(name), [hit for vault, hit in hits if vault == name]
        uses[name] = uses_of(work, own)
        count_uses(work.index_folder, (hit.memory.key for hit in own))
    today = service.clock().date()
    pairs = zip(hits, found.similarity, strict=True)
    return [{"vault": name, **memory_fields(hit, like, uses[name], today)} for (name, hit), like in pairs]
