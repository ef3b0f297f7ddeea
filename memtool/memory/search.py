"""Searching for an agent, from an index that it never waits for: by pages, or all memories in one ranking.

`search_memories` ranks facts, notes and the prompts that the user typed into the client:

relevance    of a fact or a note: its score as a share of the best one's, times the share of the query that it holds
             of a prompt: the share of the query that it holds, by the same idf
weighed      by source: a fact was written down to be kept, a prompt was not
score        as for a prompt (`likelihood.weighed`); `python -m benchmarks.memories` says what each part of it gains
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

from memtool.capture.source import TurnRow, read_source, turn_rows, turn_text, without_forgotten
from memtool.errors import MemtoolError, SessionNotFound, UsageError
from memtool.index.engine import Index, Unbuilt, place_of, use_index
from memtool.index.filters import Filter, Transcripts, only_time
from memtool.index.lexical import inverse_frequencies, share_of
from memtool.index.lookup import find_session, forgotten_of
from memtool.index.ranking import SearchResult
from memtool.index.reach import reach
from memtool.index.search import ask, newest, snippet_of
from memtool.index.semantic import VectorSource
from memtool.memory import limits
from memtool.memory.timeline import Timeline, timeline
from memtool.processes import start_command
from memtool.recall.answers.found import CHUNKS, answers_of, in_words, labelled, memories
from memtool.recall.answers.likelihood import weighed
from memtool.recall.answers.statements import LISTED, TO_AGENT
from memtool.recall.framing import quoted
from memtool.recall.uses import read_uses
from memtool.service.starting import start_service
from memtool.text.lines import cut, one_line, without_surrogates
from memtool.text.near_duplicates import newer_rivals
from memtool.text.similarity import is_said, words
from memtool.text.tokens import fold, index_terms, query_terms
from memtool.vault.layout import DAILY
from memtool.vault.memory import DECISION, FACT, KINDS, NOTE, PAGES, USER, Found, Location, Memory
from memtool.vault.project_area import ProjectArea, remembered_folders
from memtool.vault.session_names import session_at
from memtool.workspace import Workspace

T = TypeVar("T")

HISTORY = "history"  # the kind of a prompt in the list that the client keeps
SOURCE = {FACT: 1.0, NOTE: 0.95, HISTORY: 0.6}

_LEAST_COVERED = 0.34  # share of the query that a prompt must hold


class SearchPage(NamedTuple):
    """One page of an answer, best first, with what the user should know.

    Args:
        found: what is *shown* of each is a quotation in Markdown; *why* has the `likelihood` in a word, and the date
            on which a newer fact `contradicted` it.
        project: where it looked; empty for everywhere.
        more: whether another page follows.
    """

    found: tuple[Found, ...]
    notices: tuple[str, ...]
    project: str = ""
    page: int = 1
    more: bool = False


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
    """
    project = "" if everywhere else work.area().name
    wanted = Filter(work.now(), transcripts=transcripts)
    if scope == "decisions":  # facts are decisions by their category
        wanted = wanted._replace(categories=(DECISION,))
    elif scope != "all":
        wanted = wanted._replace(kinds=tuple(name for name, kind in KINDS.items() if kind.scope == scope))
    text = without_surrogates(query)
    try:
        return use_ready(work, lambda index: _page(work, index, text, wanted, project, limit, page))
    except Unbuilt as error:
        return SearchPage((), (str(error),), project, page)


def _page(work: Workspace, index: Index, text: str, wanted: Filter, project: str, limit: int, page: int) -> SearchPage:
    """Return one page of what was found, without notes that have only a title; none where nothing fits."""
    text, wanted = only_time(text, _within_reach(index, project, text, wanted))
    if not index_terms(text):
        listed = newest(index, wanted, limit=limit, page=page)
        hits, best = tuple(filter(_says_more, listed.hits)), 1.0
        more, notices = listed.total > limit * page, tuple(index.notices())
        answers = answers_of(index.place.vault, index.db, "", hits, LISTED)
    else:
        found = _searched(work, index, text, wanted, limit=(limit * page + 1) * CHUNKS)
        every = memories(filter(_says_more, found.hits))
        hits, best = tuple(every[limit * (page - 1) : limit * page]), every[0].score if every else 1.0
        more, notices = len(every) > limit * page, found.notices
        answers = answers_of(
            index.place.vault, index.db, text, hits, TO_AGENT, is_first=page == 1, sources=wanted.transcripts != "no",
        )  # fmt: skip
    facts = [hit.memory for hit in answers if hit.memory.fact_id]
    dates = newer_rivals((fact.id, fact.text.partition("\n")[0], fact.date) for fact in facts)
    shown = tuple(_as_shown(hit, best, dates) for hit in answers)
    return SearchPage(shown, notices, project, page, more and bool(answers))


def _says_more(hit: Found) -> bool:
    """Return whether *hit* says something: of a decision the title may be all, of a page it is its name."""
    memory = hit.memory
    return memory.kind not in PAGES or _plain(memory.text) != _plain(memory.title)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _as_shown(hit: Found, best: float, contradicted: Mapping[str, str]) -> Found:
    memory = hit.memory
    numbers = [line.number for line in hit.statements if line.number and not memory.fact_id]
    lines = (min(numbers), max(numbers)) if numbers else memory.place[1:]
    likelihood = in_words(hit.likelihood) if hit.likelihood < 1 else ""
    return hit._replace(
        memory=memory._replace(place=Location(memory.path, *lines)),
        score=round(hit.score / (best or 1.0), 2),
        why={"contradicted": contradicted.get(memory.fact_id, ""), "likelihood": likelihood},
        shown=quoted("\n".join(labelled(hit.statements))),
    )


def _within_reach(index: Index, here: str, text: str, wanted: Filter) -> Filter:
    """Return *wanted*, limited to what may be found from the project *here* by *text*.

    Daily notes are about all projects at once, so they are found only where everything may be.
    """
    projects = reach(index.db, here, text)
    kinds = wanted.kinds or tuple(KINDS)
    return wanted._replace(projects=projects, kinds=tuple(set(kinds) - {DAILY})) if projects else wanted


def _searched(work: Workspace, index: Index, text: str, wanted: Filter, *, limit: int) -> SearchResult:
    """Return the hits of a search; by meaning, too, where a process holds the model: none is loaded here."""
    with suppress(MemtoolError, OSError):
        start_service(work)
    return ask(VectorSource(index, work.settings, work.cache, only_warm=True), text, wanted, limit=limit)


def timeline_around(work: Workspace, asked: str, *, before: int, after: int) -> Timeline:
    """Return the events around what *asked* names, within reach of the project at hand.

    Raises:
        NoteNotFound: nothing with a date is meant.
    """
    text, here = without_surrogates(asked), work.area().name

    def look(index: Index) -> Timeline:
        return timeline(work, index, text, projects=reach(index.db, here, text), before=before, after=after)

    return use_ready(work, look)


def use_ready(work: Workspace, use: Callable[[Index], T]) -> T:
    """Return the result of *use* on the index. Files that take long to read are indexed in the background.

    Raises:
        Unbuilt: there is no index yet.
    """

    def used(index: Index) -> T:
        if index.waiting:
            _index_in_background(work)
        return use(index)

    try:
        return use_index(place_of(work)._replace(at_once=limits.FILES_AT_ONCE), used)
    except Unbuilt:
        _index_in_background(work)
        raise


def _index_in_background(work: Workspace) -> None:
    with suppress(MemtoolError, OSError):  # another call will try again
        with place_of(work, patience=0.0).lock():  # no other process writes it
            pass
        start_command(work.vault.root, work.environ, "index", "--status", yielding=True)


class KeptTurns(NamedTuple):
    """A session, the *rows* of its turns, and the *text* of the one that was asked for.

    *path*, *title*, *date* and *project* are those of its note.
    """

    session: str
    path: str
    title: str
    date: str
    project: str
    rows: tuple[TurnRow, ...]
    text: str = ""


def read_turns(work: Workspace, session: str, number: int = 0, *, here: str = "") -> KeptTurns:
    """Return the turns of *session*, which its id or the path of its note names, and turn *number* as a whole.

    Args:
        work: where we work.
        session: of the project *here* or of none; without a project, any that may be read.
        number: from 1; 0 for none.
        here: see above.

    Raises:
        SessionNotFound: there is none, its turns are not kept, or it was forgotten.
        UsageError: it has no turn of that number.
    """
    name = without_surrogates(session).strip()
    name = session_at(work.vault, name) if name.endswith(".md") else name

    def look(index: Index) -> KeptTurns:
        place = find_session(index, name, Filter(work.now(), projects=reach(index.db, here), archived=True))
        source = read_source(work.vault, name) if place and place.status != "archived" else None
        if place is None or source is None:
            raise SessionNotFound(f"no turns of '{session}' are kept", hint="Name a session as a search does.")
        if number > len(source.turns):
            raise UsageError(f"the session has {len(source.turns)} turns, and no turn {number}")
        shown = without_forgotten(source, forgotten_of(index, place, source.note))
        text = turn_text(shown.turns[number - 1], number) if number else ""
        return KeptTurns(source.session_id, *place[:4], tuple(turn_rows(shown)), text)

    return use_ready(work, look)


def search_memories(
    work: Workspace,
    query: str,
    *,
    limit: int,
    projects: tuple[str, ...] = (),
    use: Callable[[Callable[[Index], Any]], Any] | None = None,
) -> SearchPage:
    """Return the best memories for *query* within reach of the project at hand, or of *projects* only.

    The `relevance` of each is the part of its score that it has by the query. A prompt has no id. Where *use* opens an
    index, that one is searched in place of the index of the vault at hand.
    """
    text = without_surrogates(query)
    here = work.area()

    def look(index: Index) -> tuple[list[Found], dict[str, float], tuple[str, ...]]:
        wanted = Filter(work.now(), projects=projects)
        wanted = wanted if projects else _within_reach(index, here.name, text, wanted)
        found = _searched(work, index, text, wanted, limit=40)
        idf = inverse_frequencies(index.db, query_terms(text))
        return list(found.hits), idf, found.notices

    hits, idf, notices = use(look) if use else use_ready(work, look)
    ranked = [*_written(work, hits, idf), *_typed(work, here, hits, idf)]
    best = sorted(ranked, key=lambda one: one.score, reverse=True)
    return SearchPage(tuple(best[:limit]), notices)


def source_of(memory: Memory) -> str:
    """Return where *memory* comes from: a `fact`, a `note`, or the `history` of the prompts."""
    return HISTORY if memory.kind == HISTORY else FACT if memory.fact_id else NOTE


def _written(work: Workspace, hits: Sequence[Found], idf: Mapping[str, float]) -> Iterator[Found]:
    """Give the facts and notes among *hits*, each note once, at its best place."""
    if not hits:
        return
    first = hits[0].memory
    covered = share_of(idf, index_terms(f"{first.title} {first.heading} {first.text}"))
    uses = read_uses(work.index_folder, [hit.memory.key for hit in hits])
    for hit in memories(hits):
        memory = hit.memory
        text = memory.text.partition("\n")[0] if memory.fact_id else snippet_of(hit).line
        title = "" if memory.fact_id else memory.title
        relevance = covered * hit.score / (hits[0].score or 1.0)
        yield _ranked(work, memory._replace(text=text, title=title), relevance, uses.get(memory.key, 0))


def _typed(work: Workspace, here: ProjectArea, hits: Iterable[Found], idf: Mapping[str, float]) -> Iterator[Found]:
    """Give the prompts that hold much of the query, and that no note repeats."""
    known = [words(hit.memory.text) for hit in hits]
    beginnings = [term[: max(3, len(term) - 1)] for term in idf]  # of a stem, whose last letter may not be the word's
    best: dict[str, tuple[float, Memory]] = {}
    for prompt in _prompts(work.claude_folder / "history.jsonl", work.now().tzinfo):
        folded = fold(prompt.text)
        if any(term in folded for term in beginnings) and _is_within_reach(work, here, prompt.path):
            covered = share_of(idf, index_terms(prompt.text))
            if covered >= _LEAST_COVERED and not is_said(words(prompt.text), known):
                best[folded] = covered, prompt  # the last one of those that say the same
    for covered, prompt in heapq.nlargest(10, best.values()):
        yield _ranked(work, prompt._replace(text=work.redact(prompt.text), project=here.name), covered)


def _ranked(work: Workspace, memory: Memory, covered: float, uses: int = 0) -> Found:
    relevance, age = covered * SOURCE[source_of(memory)], None
    with suppress(ValueError):
        age = (work.now().date() - dt.date.fromisoformat(memory.date[:10])).days
    score = weighed(relevance, memory.category, age_days=age, uses=uses)
    return Found(memory, round(score, 4), {"relevance": round(relevance, 4)})


def _prompts(path: Path, zone: dt.tzinfo | None) -> Iterator[Memory]:
    """Give the last prompts in the client's list at *path*, without slash commands; the place of each is its folder."""
    if not path.is_file():  # a pipe would keep us waiting
        return
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - (2 << 20)))  # the end of a long list
        for line in file.read(2 << 20).splitlines():
            with suppress(ValueError, RecursionError, TypeError, KeyError, OverflowError, AttributeError):
                entry = json.loads(line)
                text, at = one_line(entry["display"]), entry["timestamp"]
                if text and text[0] not in "/!":
                    day = dt.datetime.fromtimestamp(at / 1000, zone).date().isoformat()
                    place = Location(str(entry.get("project") or ""))
                    yield Memory("", cut(text, 600), HISTORY, place, author=USER, category="conversation", date=day)


def _is_within_reach(work: Workspace, here: ProjectArea, folder: str) -> bool:
    """Return whether a prompt that was typed in *folder* belongs to the project *here*; without one, all do."""
    if not here.name or (folder and Path(folder).is_relative_to(here.root)):
        return True
    known = remembered_folders(work.vault).get(folder)
    return isinstance(known, list) and known[:1] == [here.name]
