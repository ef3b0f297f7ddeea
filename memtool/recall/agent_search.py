"""Searching for an agent: what a project remembers, at overview level, from an index that nobody waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from memtool.errors import MemtoolError
from memtool.index.engine import Index, Unbuilt, place_of, use_index
from memtool.index.filters import Filter
from memtool.index.reach import reach
from memtool.index.search import Found, Hit, newest, search
from memtool.index.semantic import VectorSource
from memtool.index.status import index_notices
from memtool.recall.framing import quoted
from memtool.recall.prompts.warm_helper import start_helper
from memtool.recall.timeline import Timeline, timeline
from memtool.text.lines import cut
from memtool.text.tokens import index_terms
from memtool.vault.layout import DAILY, KINDS
from memtool.vault.processes import start_command
from memtool.vault.reading import OVERVIEW, Ref, read_note
from memtool.vault.scan import is_outside
from memtool.workspace import Workspace

T = TypeVar("T")

AT_ONCE = 300  # new or changed files that are read before an answer; more take a second, and are left to others

_SCOPES: Mapping[str, Mapping[str, Any]] = {
    "all": {},
    "sessions": {"kinds": ("session", "daily")},
    "decisions": {"categories": ("decision",)},
    "changes": {"kinds": ("change",)},
    "knowledge": {"kinds": ("knowledge", "fact", "pattern", "tool", "project", "rules", "memory", "schema", "note")},
}
_WITH_OVERVIEW = ("decision", "change", "knowledge", "project", "pattern", "tool", "note")
_OVERVIEWS = ("project", "pattern", "tool", "rules", "memory")
_LONGEST = 1_200  # characters of what is shown of a note; few chunks have more
_TOLD_BY = 80  # letters by which a passage is found again


class Remembered(NamedTuple):
    """A thing that was found. *relevance* is a share of the best one's; *content* is a quotation in Markdown."""

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


class Answer(NamedTuple):
    """The page of an answer; *project* is where it looked (empty: everywhere), *more* whether there is a next page."""

    project: str
    found: tuple[Remembered, ...]
    page: int
    more: bool
    notices: tuple[str, ...]


def search_memory(
    work: Workspace, query: str, *, scope: str = "all", limit: int = 5, page: int = 1, everywhere: bool = False
) -> Answer:
    """Return page number *page* of what answers *query* within reach of the project at hand.

    Without a word in *query*, the newest. Where many files are not in the index yet, it is brought up to date in the
    background, and the answer says so.

    Raises:
        MemtoolError: the vault or its index cannot be read.
    """
    project = "" if everywhere else work.area().name
    wanted = Filter(work.now().date(), **_SCOPES[scope])
    text = query.encode("utf-8", "replace").decode("utf-8")
    try:
        hits, more, notices = use_ready(work, lambda index: _found(work, index, text, wanted, project, limit, page))
    except Unbuilt as error:
        return Answer(project, (), page, more=False, notices=(str(error),))
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return Answer(project, tuple(_remembered(work, hit, best) for hit in hits), page, more, notices)


def _found(
    work: Workspace, index: Index, text: str, wanted: Filter, project: str, limit: int, page: int
) -> tuple[tuple[Hit, ...], bool, tuple[str, ...]]:
    """Return the hits of one page but those that say nothing, whether there are more, and notices."""
    wanted = within_reach(index, project, text, wanted)
    if not index_terms(text):
        listed = newest(index, wanted, limit=limit, page=page)
        told = tuple(filter(_says_more, listed.hits))
        return told, listed.total > limit * page, tuple(index_notices(index))
    found = searched(work, index, text, wanted, limit=limit * page + 1)
    told = tuple(filter(_says_more, found.hits))[limit * (page - 1) :]
    return told[:limit], len(told) > limit, (*index_notices(index), *found.notices)


def _says_more(hit: Hit) -> bool:
    """Return whether *hit* says something: of a decision the title may be all, of an overview it is its name."""
    return hit.kind not in _OVERVIEWS or _plain(hit.text) != _plain(hit.title)


def within_reach(index: Index, here: str, text: str, wanted: Filter) -> Filter:
    """Return *wanted* for somebody in the project *here* who says *text*.

    Daily notes tell of all projects at once, so they surface only where everything may.
    """
    projects = reach(index.db, here, text)
    kinds = wanted.kinds or KINDS
    return wanted._replace(projects=projects, kinds=tuple(set(kinds) - {DAILY})) if projects else wanted


def searched(work: Workspace, index: Index, text: str, wanted: Filter, *, limit: int) -> Found:
    """Return what a search finds; by meaning, too, where the warm helper holds the model: no model is loaded here."""
    with suppress(MemtoolError, OSError):
        start_helper(work)
    settings = work.settings.search
    chosen = VectorSource(index, work.settings, work.cache, only_warm=True).choose(text, settings.mode)
    return search(index, text, wanted, limit=limit, mode=chosen.mode, fusion=settings.fusion, vectors=chosen.vectors)


def timeline_around(work: Workspace, asked: str, *, before: int, after: int) -> Timeline:
    """Return the events around what *asked* names, within reach of the project at hand.

    Raises:
        NoteNotFound: nothing with a date is meant.
        MemtoolError: the vault or its index cannot be read, or the index is being built.
    """
    text, here = asked.encode("utf-8", "replace").decode("utf-8"), work.area().name

    def look(index: Index) -> Timeline:
        return timeline(work, index, text, projects=reach(index.db, here, text), before=before, after=after)

    return use_ready(work, look)


def use_ready(work: Workspace, use: Callable[[Index], T]) -> T:
    """Return what *use* makes of the index. What takes long to read is indexed in the background.

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


def _remembered(work: Workspace, hit: Hit, best: float) -> Remembered:
    relevance = round(hit.score / best, 2) if hit.score else 0.0
    return Remembered(
        hit.kind,
        hit.date,
        hit.project,
        hit.author,
        hit.title,
        hit.path,
        f"{hit.start_line}-{hit.end_line}",
        relevance,
        _content(work, hit),
        hit.fact_id,
    )


def _content(work: Workspace, hit: Hit) -> str:
    """Return the overview of the note, if what was found stands in it; else the passage that was found."""
    said = hit.text.partition("\n")[0] if hit.fact_id else hit.told or hit.text  # of a fact, evidence follows
    if hit.kind in _WITH_OVERVIEW and not is_outside(hit.path):
        with suppress(MemtoolError, OSError):
            overview = read_note(work.vault, Ref(hit.path), level=OVERVIEW, max_bytes=work.max_bytes).text
            if _plain(said)[:_TOLD_BY] in _plain(overview):
                said = overview
    return quoted(cut(said, _LONGEST))


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))
