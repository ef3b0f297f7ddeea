"""The calls on memories: find, save, list, read, change, forget, and take back."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from memtool.capture.captured import take_back
from memtool.errors import NoteChanged, UsageError
from memtool.history.changes import Change, find_change, read_changes
from memtool.index.engine import catch_up
from memtool.memory.forget import find_target, forget
from memtool.memory.limits import LONGEST_FACT
from memtool.memory.memories import (
    NEWEST,
    UPDATED,
    USES,
    archive_memory,
    change_memory,
    get_memory,
    list_memories,
    uses_of,
)
from memtool.memory.remember import AlreadyKnown, remember
from memtool.recall.uses import count_uses
from memtool.vault.memory import FACT, KNOWLEDGE, NewMemory
from memtool.web.calls import Body, Day, Limit, Name, Offset, Text, Words, Work, example
from memtool.web.problems import Refusal
from memtool.web.request_search import SearchAsked, filter_of, found_fields, hit_fields, search_vault
from memtool.workspace import OpenWorkspace, Workspace

Tags: TypeAlias = Annotated[list[Name], Field(max_length=50)]

router = APIRouter(tags=["memory"])

_HIT = {
    "id": "fact-20260210-9f3a1c04be", "kind": "fact", "title": "shop: facts", "summary": "Access tokens live 24 hours.",
    "category": "decision", "tags": ["auth"], "project": "shop", "author": "user", "created": "2026-02-10",
    "expires_at": "", "access_count": 3, "path": "areas/projects/shop/facts.json", "start_line": 3, "end_line": 9,
}  # fmt: skip
_FOUND = {
    "query": "why JWT?", "mode": "bm25", "memories": [{**_HIT, "similarity": 1.0, "score": 0.93}], "took_ms": 4.2,
    "notices": [],
}  # fmt: skip
_SAVED = {
    "id": "fact-20260210-9f3a1c04be", "stored": True, "kind": "fact", "path": "areas/projects/shop/facts.json",
    "start_line": 3, "project": "shop", "category": "general", "redacted": {}, "contradictions": [],
    "commit": "3f2a9c0", "notices": [],
}  # fmt: skip
_MEMORY = {
    "id": "fact-20260210-9f3a1c04be", "version": "c2a6b1f0", "kind": "fact",
    "content": "Access tokens live 24 hours.", "title": "Access tokens live 24 hours.", "summary": "",
    "category": "decision", "tags": ["auth"], "project": "shop", "author": "user", "status": "active",
    "created": "2026-02-10T14:30:00+08:00", "path": "areas/projects/shop/facts.json", "start_line": 3, "end_line": 9,
    "evidence": "", "supersedes": "", "superseded_by": "", "expires_at": "", "access_count": 3,
}  # fmt: skip
_CHANGE = {
    "number": 1, "commit": "3f2a9c01be", "at": "2026-02-10T14:30:00+08:00", "author": "memtool",
    "subject": "remember: shop: Access tokens live 24 hours.", "deed": "remember", "undoes": "", "undone_by": "",
}  # fmt: skip


class SaveAsked(Body):
    """A new memory. Without a *kind* it is a fact, or knowledge if it is too long for a fact."""

    content: Text
    tags: Tags = Field(default_factory=list)
    category: Name = ""
    summary: Name = Field(default="", description="A few words for lists; of a note its title, too.")
    expires_at: Day = Field(default="", description="The last day on which it holds, or the moment.")
    project: Name = Field(default="", description="Its project; empty for none.")
    kind: Name = Field(default="", description="fact, decision, change, knowledge or todo.")
    author: Literal["user", "agent", "tool", "imported"] = "agent"
    evidence: str = Field(default="", max_length=LONGEST_FACT)
    source: Name = ""
    supersedes: Name = Field(default="", description="The id of the fact that it replaces.")


class ChangeAsked(Body):
    """The new values of a memory's fields."""

    content: Text | None = None
    summary: Annotated[str, Field(max_length=500)] | None = None
    tags: Tags | None = None
    category: Name | None = None
    expires_at: Day | None = None
    author: Literal["user", "agent"] = "agent"


def found_in_vault(open_workspace: OpenWorkspace, asked: SearchAsked) -> dict[str, Any]:
    """Return the memories that a search finds, and count each as used once more."""
    work = open_workspace(None)
    answer = search_vault(work, asked)
    count_uses(work.index_folder, (hit.memory.key for hit in answer.hits))
    return found_fields(work, asked, answer)


@router.post("/search", openapi_extra=example(_FOUND, asked={"query": "why JWT?", "limit": 5, "project": "shop"}))
def search(request: Request, asked: SearchAsked) -> dict[str, Any]:
    """Find memories by words and by meaning."""
    answer: dict[str, Any] = request.app.state.find(asked)  # a team's service searches several vaults
    return answer


@router.get("/memories", openapi_extra=example({"memories": [_HIT], "total": 1, "limit": 20, "offset": 0}))
def memories(
    work: Work,
    category: Name = "",
    project: Name | None = None,
    kind: Name = "",
    status: Literal["active", "superseded", "archived", "all"] = "active",
    limit: Limit = 20,
    offset: Offset = 0,
    sort: Literal["newest", "created", "updated", "use", "access_count", "importance", "relevance"] = "newest",
    query: Words = "",
) -> dict[str, Any]:
    """List memories."""
    asked = SearchAsked(
        query=query, limit=limit, category=category, project=project, kind=kind, status=status, transcripts="no"
    )
    if sort == "relevance":
        if not query:
            raise UsageError("there is no relevance without a query", hint="Add `query`, or sort by newest.")
        found = search_vault(work, asked.model_copy(update={"limit": offset + limit})).hits[offset:]
        total = offset + len(found)
    else:
        order = UPDATED if sort == "updated" else USES if sort in ("use", "access_count", "importance") else NEWEST
        listing = list_memories(work, filter_of(work, asked), limit=limit, offset=offset, order=order)
        found, total = listing.hits, listing.total
    uses = uses_of(work, found)
    fields = [hit_fields(hit, uses) for hit in found]
    return {"memories": fields, "total": total, "limit": limit, "offset": offset}


@router.get("/memory/{memory_id:path}", openapi_extra=example(_MEMORY))
def memory(work: Work, memory_id: str) -> JSONResponse:
    """Read a memory in full."""
    return _in_full(work, memory_id)


@router.post(
    "/save", openapi_extra=example(_SAVED, asked={"content": "Access tokens live 24 hours.", "tags": ["auth"]})
)
def save(work: Work, asked: SaveAsked) -> dict[str, Any]:
    """Remember something."""
    kind = asked.kind or (FACT if len(asked.content) <= LONGEST_FACT else KNOWLEDGE)
    text = asked.content if kind == FACT or not asked.summary else f"# {asked.summary}\n\n{asked.content}"
    same = asked.model_dump(exclude={"content", "kind", "tags", "expires_at"})
    expires = _expiry(work, asked.expires_at)
    return save_memory(work, NewMemory(text, kind=kind, tags=tuple(asked.tags), expires=expires, **same))


@router.put(
    "/memory/{memory_id:path}", openapi_extra=example(_MEMORY, asked={"category": "decision", "tags": ["auth"]})
)
def change(
    work: Work, memory_id: str, asked: ChangeAsked, if_match: Annotated[str, Header(max_length=200)] = ""
) -> JSONResponse:
    """Change fields of a memory; a new statement supersedes a fact."""
    values = asked.model_dump(exclude_none=True, exclude={"author"})
    if not values:
        raise UsageError("there is nothing to change", hint="Give one of content, summary, tags, category, expires_at.")
    if "expires_at" in values:
        values["expires"] = _expiry(work, values.pop("expires_at"))
    version = "" if if_match == "*" else if_match.removeprefix("W/").strip('"')
    try:
        done = change_memory(work, get_memory(work, memory_id).memory, values, version=version, author=asked.author)
    except NoteChanged:
        raise Refusal(412, f"'{memory_id}' was changed since you read it", "Read it again and repeat.") from None
    return _in_full(work, done.memory.id)


@router.delete(
    "/memory/{memory_id:path}",
    openapi_extra=example({"id": "fact-20260210-9f3a1c04be", "changed": True, "purged": False, "commit": "3f2a9c0"}),
)
def delete(
    work: Work, memory_id: str, *, purge: bool = False, x_confirm_purge: Annotated[str, Header(max_length=200)] = ""
) -> dict[str, Any]:
    """Archive a memory; with `purge` and a confirmation, remove it for good."""
    if purge and x_confirm_purge != memory_id:
        raise Refusal(428, "a removal for good needs a confirmation", f"Add X-Confirm-Purge: {memory_id}")
    target = find_target(work, memory_id)
    done = forget(work, target, for_good=True) if purge else archive_memory(work, target)
    catch_up(work)
    return {"id": target.id, "changed": done.changed, "purged": purge, "commit": done.kept.commit}


@router.get("/changes", openapi_extra=example({"changes": [_CHANGE], "total": 1}))
def changes(work: Work, limit: Limit = 20, offset: Annotated[int, Query(ge=0)] = 0) -> dict[str, Any]:
    """List the changes of the memory, newest first."""
    found = read_changes(work.vault)
    return {"changes": [_change_fields(each) for each in found[offset : offset + limit]], "total": len(found)}


@router.post(
    "/changes/{commit}/undo",
    openapi_extra=example({"commit": "77ab12f0c3", "undoes": "3f2a9c01be", "files": ["MEMORY.md"]}),
)
def undo(work: Work, commit: str) -> dict[str, Any]:
    """Revert a change, in one more change."""
    done = take_back(work, find_change(work.vault, commit))
    return {"commit": done.commit[:10], "undoes": done.change.short, "files": done.refs}


def save_memory(work: Workspace, new: NewMemory) -> dict[str, Any]:
    """Save a memory, and return the answer; a known memory that says the same counts as used once more.

    Raises:
        MemtoolError: it is no valid memory, or the vault cannot be written.
    """
    try:
        done = remember(work, new)
    except AlreadyKnown as known:
        memory = known.memory
        count_uses(work.index_folder, [memory.key])
        return {"id": memory.id, "stored": False, "reason": str(known), "path": memory.path}
    memory = done.memory
    catch_up(work, [memory.path])
    return {
        "id": memory.id, "stored": True, "kind": memory.kind, "path": memory.path,
        "start_line": memory.place.start_line, "project": memory.project, "category": memory.category,
        "redacted": dict(done.redacted),
        "contradictions": [{"id": one.id, "content": one.text} for one in done.contradictions],
        "commit": done.kept.commit, "notices": list(done.notices),
    }  # fmt: skip


def _expiry(work: Workspace, text: str) -> str:
    """Return *text*; a time without an offset gets the local one."""
    with suppress(ValueError):
        moment = dt.datetime.fromisoformat(text) if ":" in text else None
        if moment:
            moment = moment if moment.tzinfo else moment.replace(tzinfo=work.now().tzinfo)
            if moment <= work.now():
                raise UsageError(f"'{text}' is over, so it would be forgotten at once", hint="Name a time to come.")
            return moment.isoformat(timespec="seconds")
    return text


def _in_full(work: Workspace, memory_id: str) -> JSONResponse:
    stored = get_memory(work, memory_id)
    memory, place = stored.memory, stored.memory.place
    fields = {
        "id": memory.id, "version": memory.version, "kind": memory.kind, "content": memory.text,
        "title": memory.title, "summary": stored.summary, "category": memory.category, "tags": list(memory.tags),
        "project": memory.project, "author": memory.author, "status": memory.status or "active",
        "created": memory.date, "path": place.path, "start_line": place.start_line, "end_line": place.end_line,
        "evidence": stored.evidence, "supersedes": stored.supersedes, "superseded_by": stored.superseded_by,
        "expires_at": memory.expires, "access_count": stored.uses,
    }  # fmt: skip
    return JSONResponse(fields, headers={"etag": f'"{memory.version}"'})


def _change_fields(change: Change) -> dict[str, Any]:
    return {
        "number": change.number, "commit": change.short, "at": change.at.isoformat(), "author": change.author,
        "subject": change.subject, "deed": change.deed, "undoes": change.undoes[:10],
        "undone_by": change.undone_by[:10],
    }  # fmt: skip
