"""The calls on memories: find, save, list, read, change, forget, and take back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Header, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from memtool.capture.captured import follow_undo
from memtool.errors import NoteChanged, UsageError
from memtool.history.changes import Change, find_change, read_changes
from memtool.history.undoing import undo
from memtool.index.engine import catch_up
from memtool.index.filters import Filter
from memtool.memory.forget import find_target, forget_for_good
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
from memtool.memory.new_memory import MemoryChange
from memtool.memory.remember import AlreadyKnown, remember
from memtool.recall.uses import count_uses
from memtool.vault.memory import FACT, KNOWLEDGE, NewMemory
from memtool.web import limits
from memtool.web.calls import Body, QuickerWriter, Refusal, example
from memtool.web.request_search import SearchAsked, filter_of, found_fields, hit_fields, search_vault
from memtool.workspace import OpenWorkspace, Workspace

Category = Annotated[str, Field(max_length=limits.NAME)]
Tags = Annotated[list[Annotated[str, Field(max_length=limits.NAME)]], Field(max_length=50)]


class SaveAsked(Body):
    """A new memory. Without a *kind* it is a fact, or knowledge if it is too long for a fact."""

    content: str = Field(min_length=1, max_length=limits.TEXT)
    tags: Tags = Field(default_factory=list)
    category: Category = ""
    summary: str = Field(
        default="", max_length=limits.NAME, description="A few words for lists; of a note its title, too."
    )
    expires_at: str = Field(default="", max_length=40, description="The last day on which it holds, or the moment.")
    project: str = Field(default="", max_length=limits.NAME, description="Its project; empty for none.")
    kind: str = Field(default="", max_length=20, description="fact, decision, change, knowledge or todo.")
    author: Literal["user", "agent", "tool", "imported"] = "agent"
    evidence: str = Field(default="", max_length=LONGEST_FACT)
    source: str = Field(default="", max_length=limits.NAME)
    supersedes: str = Field(default="", max_length=limits.NAME, description="The id of the fact that it replaces.")


class ChangeAsked(Body):
    """The new values of a memory's fields."""

    content: str | None = Field(default=None, min_length=1, max_length=limits.TEXT)
    summary: str | None = Field(default=None, max_length=500)
    tags: Tags | None = None
    category: Category | None = None
    expires_at: str | None = Field(default=None, max_length=40)
    author: Literal["user", "agent"] = "agent"


def add_memory_calls(
    app: FastAPI, open_workspace: OpenWorkspace, find: Callable[[SearchAsked], dict[str, Any]] | None = None
) -> None:
    """Add the calls to *app*; what *find* finds is searched in place of the vault."""
    _add_finding(app, open_workspace, find or partial(_found, open_workspace))
    _add_writing(app, open_workspace)
    _add_taking_back(app, open_workspace)


def _found(open_workspace: OpenWorkspace, asked: SearchAsked) -> dict[str, Any]:
    work = open_workspace(None)
    answer = search_vault(work, asked)
    count_uses(work.index_folder, (hit.memory.key for hit in answer.hits))
    return found_fields(work, asked, answer)


def _add_finding(app: FastAPI, open_workspace: OpenWorkspace, find: Callable[[SearchAsked], dict[str, Any]]) -> None:
    @app.post(
        "/search",
        tags=["memory"],
        summary="Find memories by words and by meaning",
        openapi_extra=example(_FOUND, asked={"query": "why JWT?", "limit": 5, "project": "shop"}),
    )
    def search(asked: SearchAsked) -> dict[str, Any]:
        return find(asked)

    @app.get(
        "/memories",
        tags=["memory"],
        summary="List memories",
        openapi_extra=example({"memories": [_HIT], "total": 1, "limit": 20, "offset": 0}),
    )
    def memories(
        category: Annotated[str, Query(max_length=limits.NAME)] = "",
        project: Annotated[str | None, Query(max_length=limits.NAME)] = None,
        kind: Annotated[str, Query(max_length=limits.NAME)] = "",
        status: Literal["active", "superseded", "archived", "all"] = "active",
        limit: Annotated[int, Query(ge=1, le=limits.PAGE)] = 20,
        offset: Annotated[int, Query(ge=0, le=limits.OFFSET)] = 0,
        sort: Literal["newest", "created", "updated", "use", "access_count", "importance", "relevance"] = "newest",
        query: Annotated[str, Query(max_length=limits.QUERY)] = "",
    ) -> dict[str, Any]:
        work = open_workspace(None)
        asked = SearchAsked(
            query=query,
            limit=limit,
            category=category,
            project=project,
            kind=kind,
            status=status,
            transcripts="no",
        )
        if sort == "relevance":
            if not query:
                raise UsageError("there is no relevance without a query", hint="Add `query`, or sort by newest.")
            found = search_vault(work, asked.model_copy(update={"limit": offset + limit})).hits[offset:]
            total = offset + len(found)
        else:
            wanted: Filter = filter_of(work, asked)
            order = UPDATED if sort == "updated" else USES if sort in ("use", "access_count", "importance") else NEWEST
            listing = list_memories(work, wanted, limit=limit, offset=offset, order=order)
            found, total = listing.hits, listing.total
        uses = uses_of(work, found)
        fields = [hit_fields(hit, uses) for hit in found]
        return {"memories": fields, "total": total, "limit": limit, "offset": offset}

    @app.get(
        "/memory/{memory_id:path}", tags=["memory"], summary="Read a memory in full", openapi_extra=example(_MEMORY)
    )
    def memory(memory_id: str) -> JSONResponse:
        return _in_full(open_workspace, memory_id)


def _add_writing(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.post(
        "/save",
        tags=["memory"],
        summary="Remember something",
        openapi_extra=example(_SAVED, asked={"content": "Access tokens live 24 hours.", "tags": ["auth"]}),
    )
    def save(asked: SaveAsked) -> dict[str, Any]:
        work = open_workspace(None)
        return save_memory(work, _memory(asked)._replace(expires=_expiry(work, asked.expires_at)))

    @app.put(
        "/memory/{memory_id:path}",
        tags=["memory"],
        summary="Change fields of a memory; a new statement supersedes a fact",
        openapi_extra=example(_MEMORY, asked={"category": "decision", "tags": ["auth"]}),
    )
    def change(
        memory_id: str, asked: ChangeAsked, if_match: Annotated[str, Header(max_length=limits.NAME)] = ""
    ) -> JSONResponse:
        values = asked.model_dump(exclude_none=True, exclude={"author"})
        if not values:
            raise UsageError(
                "there is nothing to change", hint="Give one of content, summary, tags, category, expires_at."
            )
        if "expires_at" in values:
            values["expires"] = _expiry(open_workspace(None), values.pop("expires_at"))
        version = "" if if_match == "*" else if_match.removeprefix("W/").strip('"')
        work = open_workspace(None)
        try:
            memory = get_memory(work, memory_id).memory
            done = change_memory(work, memory, values, version=version, author=asked.author)
        except NoteChanged:
            raise QuickerWriter(memory_id) from None
        return _in_full(open_workspace, done.memory.id)

    @app.delete(
        "/memory/{memory_id:path}",
        tags=["memory"],
        summary="Archive a memory; with `purge` and a confirmation, remove it for good",
        openapi_extra=example(
            {"id": "fact-20260210-9f3a1c04be", "changed": True, "purged": False, "commit": "3f2a9c0"}
        ),
    )
    def delete(
        memory_id: str, *, purge: bool = False, x_confirm_purge: Annotated[str, Header(max_length=limits.NAME)] = ""
    ) -> dict[str, Any]:
        if purge and x_confirm_purge != memory_id:
            raise Refusal(428, "a removal for good needs a confirmation", f"Add X-Confirm-Purge: {memory_id}")
        work = open_workspace(None)
        target = find_target(work, memory_id)
        done = forget_for_good(work, target) if purge else archive_memory(work, target)
        catch_up(work)
        return {"id": target.id, "changed": done.changed, "purged": purge, "commit": done.kept.commit}


def _add_taking_back(app: FastAPI, open_workspace: OpenWorkspace) -> None:
    @app.get(
        "/changes",
        tags=["memory"],
        summary="List the changes of the memory, newest first",
        openapi_extra=example({"changes": [_CHANGE], "total": 1}),
    )
    def changes(
        limit: Annotated[int, Query(ge=1, le=limits.PAGE)] = 20,
        offset: Annotated[int, Query(ge=0)] = 0,
    ) -> dict[str, Any]:
        found = read_changes(open_workspace(None).vault)
        return {"changes": [_change_fields(each) for each in found[offset : offset + limit]], "total": len(found)}

    @app.post(
        "/changes/{commit}/undo",
        tags=["memory"],
        summary="Revert a change, in one more change",
        openapi_extra=example({"commit": "77ab12f0c3", "undoes": "3f2a9c01be", "files": ["MEMORY.md"]}),
    )
    def take_back(commit: str) -> dict[str, Any]:
        work = open_workspace(None)
        change = find_change(work.vault, commit)
        done = undo(work.vault, change)
        follow_undo(work.vault, change)
        catch_up(work)
        return {"commit": done.commit[:10], "undoes": change.short, "files": done.refs}


def save_memory(work: Workspace, memory: NewMemory) -> dict[str, Any]:
    """Save *memory*, and return the answer; a known memory that says the same counts as used once more.

    Raises:
        MemtoolError: it is no valid memory, or the vault cannot be written.
    """
    try:
        done = remember(work, memory)
    except AlreadyKnown as known:
        known_memory = known.memory
        count_uses(work.index_folder, [known_memory.key])
        return {"id": known_memory.id, "stored": False, "reason": str(known), "path": known_memory.path}
    catch_up(work, [done.memory.path])
    return _saved(done)


def _memory(asked: SaveAsked) -> NewMemory:
    kind = asked.kind or (FACT if len(asked.content) <= LONGEST_FACT else KNOWLEDGE)
    text = asked.content if kind == FACT or not asked.summary else f"# {asked.summary}\n\n{asked.content}"
    same = {"category", "project", "summary", "evidence", "source", "author", "supersedes"}
    return NewMemory(text, kind=kind, tags=tuple(asked.tags), **asked.model_dump(include=same))


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


def _saved(done: MemoryChange) -> dict[str, Any]:
    return {
        "id": done.memory.id,
        "stored": True,
        "kind": done.memory.kind,
        "path": done.memory.path,
        "start_line": done.memory.place.start_line,
        "project": done.memory.project,
        "category": done.memory.category,
        "redacted": dict(done.redacted),
        "contradictions": [{"id": one.id, "content": one.text} for one in done.contradictions],
        "commit": done.kept.commit,
        "notices": list(done.notices),
    }


def _in_full(open_workspace: OpenWorkspace, memory_id: str) -> JSONResponse:
    stored = get_memory(open_workspace(None), memory_id)
    memory, place = stored.memory, stored.memory.place
    fields = {
        "id": memory.id,
        "version": memory.version,
        "kind": memory.kind,
        "content": memory.text,
        "title": memory.title,
        "summary": stored.summary,
        "category": memory.category,
        "tags": list(memory.tags),
        "project": memory.project,
        "author": memory.author,
        "status": memory.status or "active",
        "created": memory.date,
        "path": place.path,
        "start_line": place.start_line,
        "end_line": place.end_line,
        "evidence": stored.evidence,
        "supersedes": stored.supersedes,
        "superseded_by": stored.superseded_by,
        "expires_at": memory.expires,
        "access_count": stored.uses,
    }
    return JSONResponse(fields, headers={"etag": f'"{memory.version}"'})


def _change_fields(change: Change) -> dict[str, Any]:
    return {
        "number": change.number,
        "commit": change.short,
        "at": change.at.isoformat(),
        "author": change.author,
        "subject": change.subject,
        "deed": change.deed,
        "undoes": change.undoes[:10],
        "undone_by": change.undone_by[:10],
    }


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
