"""Searching for a request: the filter that it asks for, what it finds, and the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic import Field

from memtool.errors import UsageError
from memtool.index.engine import Index
from memtool.index.filters import Filter, Transcripts, parse_day
from memtool.index.search import ask, snippet_of
from memtool.index.semantic import VectorSource
from memtool.memory.memories import uses_of
from memtool.memory.search import use_ready
from memtool.recall.answers.found import CHUNKS, answers_of, labelled, memories
from memtool.recall.answers.likelihood import weighed
from memtool.recall.answers.statements import IN_FIELDS
from memtool.text.lines import without_surrogates
from memtool.text.tokens import index_terms
from memtool.vault.memory import Found
from memtool.web.calls import Body, Day, Limit, Name, Words
from memtool.workspace import Workspace


class SearchAsked(Body):
    """A query and its filters."""

    query: Words = Field(default="", description="Words, in any language, without syntax.")
    limit: Limit = 5
    min_similarity: float = Field(default=0.0, ge=0, le=1)
    category: Name = ""
    project: Name | None = Field(default=None, description="`global` for those of no project.")
    kind: Name = ""
    status: Literal["active", "superseded", "archived", "all"] = "active"
    since: Day = Field(default="", description="2026-02-10, 2026-02, 7d, 2w, yesterday.")
    until: Day = ""
    mode: Literal["", "hybrid", "bm25", "vector"] = ""
    transcripts: Transcripts = Field(default="auto", description="Turns of sessions; `auto`: where no note answers.")


class Searched(NamedTuple):
    """The hits of a search, best first; the `similarity` of each to the query, from 0 to 1, is in its `why`."""

    hits: tuple[Found, ...]
    mode: str
    notices: tuple[str, ...]
    took: float


UseIndex: TypeAlias = Callable[[Callable[[Index], Searched]], Searched]


def filter_of(work: Workspace, asked: SearchAsked) -> Filter:
    """Return the filter that *asked* names.

    Raises:
        UsageError: a date is none.
    """
    today = work.now().date()
    return Filter(
        work.now(),
        kinds=(asked.kind,) if asked.kind else (),
        projects=() if asked.project is None else ("" if asked.project == "global" else asked.project,),
        categories=(asked.category,) if asked.category else (),
        since=parse_day(asked.since, today) if asked.since else "",
        until=parse_day(asked.until, today, end=True) if asked.until else "",
        everything=asked.status == "all",
        transcripts=asked.transcripts,
        status=asked.status if asked.status in ("superseded", "archived") else "",
    )


def search_vault(
    work: Workspace,
    asked: SearchAsked,
    use: UseIndex | None = None,
    *,
    wanted: Filter | None = None,
    each_once: bool = True,
) -> Searched:
    """Return the hits for *asked*, from a fresh index or from the one that *use* opens.

    The filter is *wanted*, else that of *asked*. With *each_once*, a note is one hit, shown by its
    statements that answer.

    Raises:
        UsageError: there is no word to look for.
        Unbuilt: there is no index yet; it is built in the background.
        MemtoolError: the vault or its index cannot be read.
    """
    text = without_surrogates(asked.query)
    if not index_terms(text):
        raise UsageError("the query holds no word to search for", hint="GET /memories lists without words.")
    wanted, started = wanted or filter_of(work, asked), time.perf_counter()

    def look(index: Index) -> Searched:
        source = VectorSource(index, work.settings, work.cache, only_warm=True)
        found = ask(source, text, wanted, limit=asked.limit * (CHUNKS if each_once else 1), mode=asked.mode)
        hits = found.hits
        if each_once:
            some, sources = memories(hits)[: asked.limit], wanted.transcripts != "no"
            answers = answers_of(index.place.vault, index.db, text, some, IN_FIELDS, is_first=False, sources=sources)
            hits = tuple(hit._replace(shown="\n".join(labelled(hit.statements))) for hit in answers)
        best = max((hit.score for hit in hits), default=0.0) or 1.0
        like = (hit._replace(why={**hit.why, "similarity": _similarity(hit, best)}) for hit in hits)
        kept = tuple(hit for hit in like if hit.why["similarity"] >= asked.min_similarity)
        return Searched(kept, found.mode, found.all_notices, 0.0)

    found = use(look) if use else use_ready(work, look)
    return found._replace(took=time.perf_counter() - started)


def found_fields(work: Workspace, asked: SearchAsked, found: Searched) -> dict[str, Any]:
    """Return the hits as the answer to a request."""
    uses, today = uses_of(work, found.hits), work.now().date()
    return answer_fields(asked, found, [memory_fields(hit, uses, today) for hit in found.hits])


def answer_fields(asked: SearchAsked, found: Searched, memories: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer to a request with *memories*."""
    took = round(found.took * 1000, 1)
    fields = {"query": asked.query, "mode": found.mode, "memories": memories}
    return {**fields, "took_ms": took, "notices": list(found.notices)}


def memory_fields(hit: Found, uses: Mapping[str, int], today: date) -> dict[str, Any]:
    """Return a hit of `search_vault` as a result."""
    memory, similarity = hit.memory, hit.why["similarity"]
    age = (today - date.fromisoformat(memory.date)).days if memory.date else None
    score = weighed(similarity, memory.category, age_days=age, uses=uses.get(memory.id, 0))
    return hit_fields(hit, uses) | {"similarity": round(similarity, 4), "score": round(score, 4)}


def hit_fields(hit: Found, uses: Mapping[str, int]) -> dict[str, Any]:
    """Return a hit as an item of a list."""
    memory = hit.memory
    return {
        "id": memory.id, "kind": memory.kind, "title": memory.title,
        "summary": (memory.fact_id and memory.heading) or snippet_of(hit).line, "category": memory.category,
        "tags": list(memory.tags), "project": memory.project, "author": memory.author, "created": memory.date,
        "expires_at": memory.expires, "access_count": uses.get(memory.id, 0), **memory.place._asdict(),
        **({"session": hit.session, "turn": hit.turn} if hit.turn else {}),
    }  # fmt: skip


def _similarity(hit: Found, best: float) -> float:
    """Return the cosine of the vector of *hit*; without a vector, its share of the *best* score."""
    cosine = hit.why.get("vector", {}).get("score")
    return min(1.0, max(0.0, hit.score / best if cosine is None else cosine))
