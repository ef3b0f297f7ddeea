"""Searching for an agent, from an index that it never waits for: by pages at overview level, or in one ranking.

`search_memories` ranks facts, notes and the prompts that the user typed into the client:

relevance    of a fact or a note: its score as a share of the best one's, times the share of the query that it holds
of a prompt: the share of the query that it holds, by the same idf
weighed      by source: a fact was written down to be kept, a prompt was not
score        as for a prompt (`evidence.weighed`); `python -m benchmarks.memories` says what each part of it gains
"""

from __future__ import annotations

import datetime as dt
import heapq
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memtool.errors import MemtoolError
from memtool.index.engine import Index, Unbuilt, place_of, use_index
from memtool.index.filters import Filter, Transcripts, only_time
from memtool.index.lexical import inverse_frequencies, share_of
from memtool.index.ranking import SearchResult
from memtool.index.reach import reach
from memtool.index.search import ask, newest, snippet_of
from memtool.index.semantic import VectorSource
from memtool.memory.timeline import Timeline, timeline
from memtool.processes import start_command
from memtool.recall.answers.answer import LISTED, TO_AGENT, MemoryAnswer
from memtool.recall.answers.found import CHUNKS, answers_of, in_words, labelled, memories
from memtool.recall.framing import quoted
from memtool.recall.prompts.evidence import weighed
from memtool.recall.uses import read_uses
from memtool.service.starting import start_service
from memtool.text.lines import cut, one_line, without_surrogates
from memtool.text.near_duplicates import newer_rivals
from memtool.text.similarity import is_said, words
from memtool.text.tokens import fold, index_terms, query_terms
from memtool.vault.authors import USER
from memtool.vault.kinds import DECISION, FACT, KINDS, NOTE, PAGES
from memtool.vault.layout import DAILY
from memtool.vault.memory import Found
from memtool.vault.project_area import ProjectArea, remembered_folders
from memtool.workspace import Workspace

T = TypeVar("T")

AT_ONCE = 300  # new or changed files that are read before an answer; more take a second, and are left to others


HISTORY = "history"  # a prompt of the list that the client keeps

SOURCE = {FACT: 1.0, NOTE: 0.95, HISTORY: 0.6}

_CANDIDATES = 40  # facts and notes that are weighed
_MOST_PROMPTS = 10
_LEAST_COVERED = 0.34  # share of the query that a prompt must hold
_TAIL = 2 << 20  # bytes of the list of prompts that are read, from its end
_LONGEST_PROMPT = 600  # characters


class FoundMemory(NamedTuple):
    """A thing that was found. *relevance* is a share of the best one's; *content* is a quotation in Markdown.

    A fact that a newer one beside it contradicts is *contradicted* on the date of that. *likelihood* says in a word
    how likely it answers.
    """

    kind: str
    date: str
    project: str
    author: str
    title: str
    path: str
    lines: str
    relevance: float
    content: str
    fact_id: str = ""
    contradicted: str = ""
    likelihood: str = ""


class SearchPage(NamedTuple):
    """The page of an answer; *project* is where it looked (empty: everywhere), *more* whether there is a next page."""

    project: str
    found: tuple[FoundMemory, ...]
    page: int
    more: bool
    notices: tuple[str, ...]


def search_memory(
    work: Workspace,
    query: str,
    *,
    scope: str = "all",
    limit: int = 5,
    page: int = 1,
    everywhere: bool = False,
    transcripts: Transcripts = "auto",
) -> SearchPage:
    """Return page number *page* of what answers *query* within reach of the project at hand.

    Without a word in *query*, the newest. Where many files are not in the index yet, it is brought up to date in the
    background, and the answer says so.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    project = "" if everywhere else work.area().name
    wanted = _of_scope(scope, Filter(work.now(), transcripts=transcripts))
    text = without_surrogates(query)
    try:
        return use_ready(work, lambda index: _page(work, index, text, wanted, project, limit, page))
    except Unbuilt as error:
        return SearchPage(project, (), page, more=False, notices=(str(error),))


def _of_scope(scope: str, wanted: Filter) -> Filter:
    if scope == "all":
        return wanted
    if scope == "decisions":  # facts are decisions by their category
        return wanted._replace(categories=(DECISION,))
    return wanted._replace(kinds=tuple(name for name, kind in KINDS.items() if kind.scope == scope))


def _page(work: Workspace, index: Index, text: str, wanted: Filter, project: str, limit: int, page: int) -> SearchPage:
    """Return one page of what was found but what says nothing; none where nothing fits."""
    text, wanted = only_time(text, within_reach(index, project, text, wanted))
    if not index_terms(text):
        listed = newest(index, wanted, limit=limit, page=page)
        hits, best = tuple(filter(_says_more, listed.hits)), 1.0
        more, notices = listed.total > limit * page, tuple(index.notices())
        answers = answers_of(index.db, "", hits, LISTED)
    else:
        found = searched(work, index, text, wanted, limit=(limit * page + 1) * CHUNKS)
        every = memories(filter(_says_more, found.hits))
        hits, best = tuple(every[limit * (page - 1) : limit * page]), every[0].score if every else 1.0
        more, notices = len(every) > limit * page, found.notices
        answers = answers_of(index.db, text, hits, TO_AGENT, best=best, is_first=page == 1)
    facts = [hit.memory for hit in hits if hit.memory.fact_id]
    dates = newer_rivals((fact.id, fact.text.partition("\n")[0], fact.date) for fact in facts)
    told = (_remembered(hit, answer, best, dates) for hit, answer in zip(hits, answers, strict=False))
    return SearchPage(project, tuple(told), page, more and bool(answers), notices)


def _says_more(hit: Found) -> bool:
    """Return whether *hit* says something: of a decision the title may be all, of an overview it is its name."""
    memory = hit.memory
    return memory.kind not in PAGES or _plain(memory.text) != _plain(memory.title)


def within_reach(index: Index, here: str, text: str, wanted: Filter) -> Filter:
    """Return *wanted* for somebody in the project *here* who says *text*.

    Daily notes tell of all projects at once, so they surface only where everything may.
    """
    projects = reach(index.db, here, text)
    kinds = wanted.kinds or tuple(KINDS)
    return wanted._replace(projects=projects, kinds=tuple(set(kinds) - {DAILY})) if projects else wanted


def searched(work: Workspace, index: Index, text: str, wanted: Filter, *, limit: int) -> SearchResult:
    """Return the hits of a search; by meaning, too, where a process holds the model: none is loaded here."""
    with suppress(MemtoolError, OSError):
        start_service(work)
    return ask(VectorSource(index, work.settings, work.cache, only_warm=True), text, wanted, limit=limit)


def timeline_around(work: Workspace, asked: str, *, before: int, after: int) -> Timeline:
    """Return the events around what *asked* names, within reach of the project at hand.

    Raises:
        NoteNotFound: nothing with a date is meant.
        MemtoolError: the vault or its index cannot be read, or the index is being built.
    """
    text, here = without_surrogates(asked), work.area().name

    def look(index: Index) -> Timeline:
        return timeline(work, index, text, projects=reach(index.db, here, text), before=before, after=after)

    return use_ready(work, look)


def use_ready(work: Workspace, use: Callable[[Index], T]) -> T:
    """Return the result of *use* on the index. Files that take long to read are indexed in the background.

    Raises:
        Unbuilt: there is no index yet.
        MemtoolError: it cannot be read.
    """

    def used(index: Index) -> T:
        if index.waiting:
            _index_in_background(work)
        return use(index)

    try:
        return use_index(place_of(work)._replace(at_once=AT_ONCE), used)
    except Unbuilt:
        _index_in_background(work)
        raise


def _index_in_background(work: Workspace) -> None:
    with suppress(MemtoolError, OSError):  # another call will try again
        with place_of(work, patience=0.0).lock():  # nobody is at it
            pass
        start_command(work.vault.root, work.environ, "index", "--status", yielding=True)


def _remembered(hit: Found, answer: MemoryAnswer, best: float, contradicted: Mapping[str, str]) -> FoundMemory:
    memory = hit.memory
    numbers = [line.number for line in answer.statements if line.number and not memory.fact_id]
    lines = (min(numbers), max(numbers)) if numbers else memory.place[1:]
    return FoundMemory(
        memory.kind,
        memory.date,
        memory.project,
        memory.author,
        memory.title,
        memory.path,
        f"turn {hit.turn}" if hit.turn else f"{lines[0]}-{lines[1]}",
        round(hit.score / (best or 1.0), 2),
        quoted("\n".join(labelled(answer.statements))),
        memory.fact_id,
        contradicted.get(memory.fact_id, ""),
        in_words(answer.likelihood) if answer.likelihood < 1 else "",
    )


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))


class RankedMemory(NamedTuple):
    """A thing that was found.

    *id* is what `memory_forget` takes; a prompt has none. *relevance* is the part of the score that the query has.
    """

    score: float
    source: str
    id: str
    category: str
    date: str
    project: str
    author: str
    title: str
    text: str
    place: str
    relevance: float = 0.0


class RankedMemories(NamedTuple):
    """The best memories, best first, and what is to be known of the search."""

    memories: tuple[RankedMemory, ...]
    notices: tuple[str, ...]


def search_memories(
    work: Workspace,
    query: str,
    *,
    limit: int,
    projects: tuple[str, ...] = (),
    use: Callable[[Callable[[Index], Any]], Any] | None = None,
) -> RankedMemories:
    """Return the best memories for *query* within reach of the project at hand, or of *projects* only.

    Where *use* opens an index, it is searched in place of that of the vault at hand.

    Raises:
        MemtoolError: the vault or its index cannot be read, or the index is being built.
    """
    text = without_surrogates(query)
    here = work.area()

    def look(index: Index) -> tuple[list[Found], dict[str, float], tuple[str, ...]]:
        wanted = Filter(work.now(), projects=projects)
        wanted = wanted if projects else within_reach(index, here.name, text, wanted)
        found = searched(work, index, text, wanted, limit=_CANDIDATES)
        idf = inverse_frequencies(index.db, query_terms(text))
        return list(found.hits), idf, found.notices

    hits, idf, notices = use(look) if use else use_ready(work, look)
    found = [*_written(work, hits, idf), *_typed(work, here, hits, idf)]
    best = sorted(found, key=lambda memory: memory.score, reverse=True)
    return RankedMemories(tuple(best[:limit]), notices)


def _written(work: Workspace, hits: Sequence[Found], idf: Mapping[str, float]) -> Iterator[RankedMemory]:
    """Give the facts and notes among *hits*, each note once, at its best place."""
    best = hits[0].score if hits else 1.0
    covered = (
        share_of(idf, index_terms(f"{hits[0].memory.title} {hits[0].memory.heading} {hits[0].memory.text}"))
        if hits
        else 0.0
    )
    uses = read_uses(work.index_folder, [hit.memory.key for hit in hits])
    seen = set()
    for hit in hits:
        memory, place = hit.memory, hit.memory.place
        if memory.id in seen:
            continue
        seen.add(memory.id)
        source = FACT if memory.fact_id else NOTE
        relevance = covered * hit.score / (best or 1.0) * SOURCE[source]
        yield RankedMemory(
            _score(relevance, memory.category, memory.date, work.now().date(), uses.get(memory.key, 0)),
            source,
            memory.id,
            memory.category,
            memory.date,
            memory.project,
            memory.author,
            "" if memory.fact_id else memory.title,
            memory.text.partition("\n")[0] if memory.fact_id else snippet_of(hit).line,
            f"{place.path}:{place.start_line}-{place.end_line}",
            round(relevance, 4),
        )


def _typed(
    work: Workspace, here: ProjectArea, hits: Iterable[Found], idf: Mapping[str, float]
) -> Iterator[RankedMemory]:
    """Give the prompts that hold much of the query and that no note tells of."""
    told = [words(hit.memory.text) for hit in hits]
    beginnings = [term[: max(3, len(term) - 1)] for term in idf]  # of a stem, whose last letter may not be the word's
    best: dict[str, tuple[float, _Prompt]] = {}
    for prompt in _prompts(work.client_folder / "history.jsonl", work.now().tzinfo):
        folded = fold(prompt.text)
        if any(term in folded for term in beginnings) and _is_within_reach(work, here, prompt.folder):
            covered = share_of(idf, index_terms(prompt.text))
            if covered >= _LEAST_COVERED and not is_said(words(prompt.text), told):
                best[folded] = covered, prompt  # the last one of those that say the same
    for covered, prompt in heapq.nlargest(_MOST_PROMPTS, best.values()):
        score = _score(covered * SOURCE[HISTORY], "conversation", prompt.day, work.now().date())
        said = work.redact(prompt.text)
        yield RankedMemory(score, HISTORY, "", "conversation", prompt.day, here.name, USER, "", said, prompt.folder)


def _score(relevance: float, category: str, day: str, today: dt.date, uses: int = 0) -> float:
    age = None
    with suppress(ValueError):
        age = (today - dt.date.fromisoformat(day[:10])).days
    return round(weighed(relevance, category, age_days=age, uses=uses), 4)


class _Prompt(NamedTuple):
    text: str
    day: str
    folder: str


def _prompts(path: Path, zone: dt.tzinfo | None) -> Iterator[_Prompt]:
    """Give the last prompts in the client's list at *path*, without slash commands; none if there is no list."""
    if not path.is_file():  # a pipe would keep us waiting
        return
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        for line in file.read(_TAIL).splitlines():
            with suppress(ValueError, RecursionError, TypeError, KeyError, OverflowError, AttributeError):
                entry = json.loads(line)
                text, at = one_line(entry["display"]), entry["timestamp"]
                if text and text[0] not in "/!":
                    day = dt.datetime.fromtimestamp(at / 1000, zone).date().isoformat()
                    yield _Prompt(cut(text, _LONGEST_PROMPT), day, str(entry.get("project") or ""))


def _is_within_reach(work: Workspace, here: ProjectArea, folder: str) -> bool:
    """Return whether a prompt that was typed in *folder* belongs to the project *here*; without one, all do."""
    if not here.name or (folder and Path(folder).is_relative_to(here.root)):
        return True
    known = remembered_folders(work.vault).get(folder)
    return isinstance(known, list) and known[:1] == [here.name]
