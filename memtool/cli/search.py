"""`memtool search`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from memtool.beside import team_beside
from memtool.cli import output
from memtool.cli.options import ALL_PROJECTS, AT, PAGE, PROJECTS, with_json
from memtool.cli.session import Session
from memtool.errors import MemtoolError, UsageError
from memtool.index.engine import Index, once, use_index
from memtool.index.filters import Filter, Transcripts, only_time, parse_day
from memtool.index.ranking import SearchResult
from memtool.index.reach import projects_in, reach
from memtool.index.search import ask, newest, snippet_of, unknown_names
from memtool.index.semantic import VectorSource
from memtool.recall.uses import count_uses, read_uses
from memtool.text.lines import without_surrogates
from memtool.text.tokens import index_terms, term_spans
from memtool.vault.files import read_text
from memtool.vault.layout import Vault
from memtool.vault.memory import KINDS, Found, Memory

if TYPE_CHECKING:
    from rich.text import Text

_LIST = "list"  # the mode without words


@click.command()
@click.argument("query", nargs=-1)
@click.option(
    "--mode", type=click.Choice(["hybrid", "bm25", "vector"]), help="Search by words, by meaning, or by both."
)
@click.option("--fusion", type=click.Choice(["adaptive", "rrf"]), help="How hybrid merges its two rankings.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="How many hits to show.")
@PAGE
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only notes of this kind. Repeatable.")
@PROJECTS
@ALL_PROJECTS
@click.option("--category", "categories", multiple=True, help="Only this category. Repeatable.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag. Repeatable; all tags must match.")
@click.option("--since", metavar="DATE", help="Not older than: 2026-02-10, 2026-02, 7d, yesterday, last month.")
@click.option("--until", metavar="DATE", help="Not newer than.")
@AT
@click.option("--archived", is_flag=True, help="Include the archive.")
@click.option("--all", "everything", is_flag=True, help="Include superseded, archived and expired memories.")
@click.option(
    "--transcripts",
    type=click.Choice(["only", "no"]),
    help="Search only the kept turns of sessions, or never; by default, they are searched where no note answers.",
)
@click.option("--explain", is_flag=True, help="Explain the rank of each hit.")
@click.option("--batch", is_flag=True, help='Read JSON lines {"id", "query"} from stdin, write one JSON line for each.')
@with_json
def command(
    session: Session,
    query: tuple[str, ...],
    *,
    mode: str | None,
    fusion: str | None,
    limit: int | None,
    page: int,
    at: str | None,
    all_projects: bool,
    explain: bool,
    batch: bool,
    **filters: Any,  # noqa: ANN401  (click hands over the options of `_filter`)
) -> None:
    """Find notes by words and by meaning, in any language.

    The query needs no quotes and has no syntax. Whole words and parts of words match. Without a query, everything that
    passes the filters is listed, newest first. In a project that the vault knows, only that project and what belongs to
    no project are searched, unless you name other projects.
    """
    session.overrides |= {"search.mode": mode, "search.fusion": fusion, "search.limit": limit}
    session.go_back(at)
    wanted = _filter(session.work.now(), **filters)
    wanted = wanted._replace(transcripts="no") if at else wanted  # kept turns have no history
    here = "" if all_projects or wanted.projects else session.work.project()
    if batch and query:
        raise UsageError("--batch reads its queries from stdin, so it takes no QUERY")
    if batch:
        _search_batch(session, wanted, here, limit or 50)
        return
    text = without_surrogates(" ".join(query))
    if query and not index_terms(text):
        raise UsageError("the query holds no word to search for", hint="Try `memtool search deploy key`.")
    text, wanted = only_time(text, wanted)
    started = time.perf_counter()
    work, limit = session.work, session.settings.search.limit
    beside = team_beside(work) if text else None
    team = beside.ask_for_memories(work, work.redact(text), project=here, limit=limit) if beside else None
    with output.progress_bar("Reading notes", least=200) as progress:
        place = session.place(progress=progress)
        looked = use_index(place, lambda index: _look(session, index, text, wanted, here, page))
    took = time.perf_counter() - started
    found = looked.found._replace(hits=_with_contradictions(looked.found.hits))
    if explain:
        uses = read_uses(place.folder, [hit.memory.key for hit in found.hits])
        found = found._replace(hits=tuple(_with_use(place.vault, hit, uses) for hit in found.hits))
    elif text:
        count_uses(place.folder, (hit.memory.key for hit in found.hits))
    if session.as_json:
        notices = [*session.settings.notices, *found.all_notices]
        hits = [_fields(hit) for hit in found.hits]
        answer = {"query": text, "mode": found.mode, "hits": hits, "took_ms": round(took * 1000, 1), "notices": notices}
        if team:
            shared, notice = team.answer()
            answer |= {"team": [_team_fields(found) for found in shared], "team_notice": notice}
        output.emit_json(answer)
        return
    lasting = [*session.settings.notices, *found.lasting]
    output.say(*once(place.folder, lasting), *found.passing, *found.notices)
    _print(session, looked._replace(found=found), explain=explain, where=" in your own vault" if team else "")
    if team:
        shared, notice = team.answer()
        for one in shared:
            click.echo(output.shortened(output.printable(one.shown), output.width()))
            click.echo(f"  {output.printable(one.why['source'])}\n")
        output.say(notice)


def _team_fields(found: Found) -> dict[str, Any]:
    memory = found.memory
    return {
        "vault": found.why["vault"], "id": memory.id, "text": memory.text, "title": memory.title,
        "category": memory.category, "date": memory.date, "project": memory.project, "author": memory.author,
        "place": memory.path, "relevance": found.score,
    }  # fmt: skip


class _Looked(NamedTuple):
    """What was found; where nothing of it fits, no hits, and the *nearest*."""

    found: SearchResult
    nearest: Found | None = None


def _look(session: Session, index: Index, text: str, wanted: Filter, here: str, page: int) -> _Looked:
    """Return page number *page* of the hits for *text*, or of all notes; for a person, each memory once."""
    kept, narrowed = _kept_to(here, index, wanted)
    limit, vault = session.settings.search.limit, index.place.vault
    if not text:
        limit = limit if session.settings.origins["search.limit"] == "command line" else 20
        listed = newest(index, kept, limit=limit, page=page)
        pages = -(-listed.total // limit)
        more = [f"page {page} of {pages}; `--page {page + 1}` shows the next"] if page < pages else []
        notices = (*index.notices(), *more, *unknown_names(index, wanted), *narrowed)
        if session.as_json:
            return _Looked(SearchResult(listed.hits, _LIST, notices))
        from memtool.recall.answers.found import answers_of
        from memtool.recall.answers.statements import LISTED

        return _Looked(SearchResult(tuple(answers_of(vault, index.db, "", listed.hits, LISTED)), _LIST, notices))
    source = VectorSource(index, session.settings, session.work.cache)
    if session.as_json:
        found = ask(source, text, kept, limit=limit * page)
        return _Looked(found._replace(hits=found.hits[limit * (page - 1) :], notices=(*found.notices, *narrowed)))
    from memtool.recall.answers.found import CHUNKS, answers_of, memories
    from memtool.recall.answers.statements import PRINTED

    found = ask(source, text, kept, limit=limit * page * CHUNKS)
    every = memories(found.hits)
    shown = every[limit * (page - 1) : limit * page]
    sources = wanted.transcripts != "no"
    answers = answers_of(vault, index.db, text, shown, PRINTED, is_first=page == 1, sources=sources)
    found = found._replace(hits=tuple(answers), notices=(*found.notices, *narrowed))
    return _Looked(found, shown[0] if shown and not answers else None)


def _kept_to(here: str, index: Index, wanted: Filter) -> tuple[Filter, list[str]]:
    """Return *wanted* for the project *here*, if the index knows it and others, and the notice that says so."""
    known = projects_in(index.db) if here else []
    if here not in known or len(known) < 2:
        return wanted, []
    notice = f"searched '{here}' and what belongs to no project; --all-projects searches every project"
    return wanted._replace(projects=reach(index.db, here)), [notice]


def _search_batch(session: Session, wanted: Filter, here: str, limit: int) -> None:
    questions = list(_questions())
    notices = dict.fromkeys(session.settings.notices)

    def answers(index: Index) -> list[dict[str, Any]]:
        kept, narrowed = _kept_to(here, index, wanted)
        notices.update(dict.fromkeys(narrowed))
        source, found = VectorSource(index, session.settings, session.work.cache), []
        for name, text in questions:
            one = ask(source, text, kept, limit=limit)
            notices.update(dict.fromkeys((*one.lasting, *one.passing)))
            found.append({"id": name, "results": [_fields(hit) for hit in one.hits]})
        return found

    for answer in use_index(session.place(), answers):
        click.echo(output.as_json(answer))
    output.say(*notices)


def _questions() -> Iterator[tuple[Any, str]]:
    import json

    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        try:
            question = json.loads(line.removeprefix("\ufeff"))
            yield question["id"], without_surrogates(question["query"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            hint = 'One JSON object a line: {"id": 1, "query": "deploy key"}'
            raise UsageError(f"line {number} of the batch is not a question", hint=hint) from None


def _filter(
    now: datetime,
    *,
    since: str | None,
    until: str | None,
    transcripts: Transcripts | None,
    **others: Any,  # noqa: ANN401
) -> Filter:
    today = now.date()
    return Filter(
        now,
        transcripts=transcripts or "auto",
        since=parse_day(since, today) if since is not None else "",
        until=parse_day(until, today, end=True) if until is not None else "",
        **others,
    )


def _with_use(vault: Vault, hit: Found, uses: Mapping[str, int]) -> Found:
    """Return *hit* with its authors and its *uses*, which have no part in the score of a search."""
    more = {"author": hit.memory.author or _authors(vault, hit.memory), "uses": uses.get(hit.memory.key, 0)}
    return hit._replace(why={**hit.why, **more})


def _authors(vault: Vault, memory: Memory) -> str:
    """Return the authors of the lines that were found in a session note; empty for other notes."""
    if memory.kind != "session":
        return ""
    from memtool.vault.sessions import lines_of

    try:
        lines = lines_of(read_text(vault.path(memory.path))[0])
    except (MemtoolError, OSError, UnicodeDecodeError):
        return ""
    first, last = memory.place.start_line, memory.place.end_line
    return ", ".join(sorted({line.author for line in lines if first <= line.number <= last}))


def _with_contradictions(hits: tuple[Found, ...]) -> tuple[Found, ...]:
    """Return *hits*, those facts marked that a newer one of them contradicts."""
    memories = [hit.memory for hit in hits if hit.memory.fact_id]
    facts = [(memory.fact_id, memory.text.partition("\n")[0], memory.date) for memory in memories]
    if len(facts) < 2:
        return hits
    from memtool.text.near_duplicates import newer_rivals

    dates = newer_rivals(facts)
    return tuple(
        hit._replace(why={**hit.why, "contradicted": dates[hit.memory.id]}) if hit.memory.id in dates else hit
        for hit in hits
    )


def _fields(hit: Found) -> dict[str, Any]:
    memory = hit.memory
    names = ("kind", "project", "title", "heading", "date", "category", "text", "fact_id", "author")
    return {
        **memory.place._asdict(),
        **{name: getattr(memory, name) for name in names},
        "score": hit.score,
        "why": hit.why,
        **({"session": hit.session, "turn": hit.turn} if hit.turn else {}),
        "snippet": snippet_of(hit).line,
    }


def _print(session: Session, looked: _Looked, *, explain: bool, where: str) -> None:
    found, nearest = looked
    if output.on_terminal():
        _draw(session.vault.root, found, explain=explain)
    else:
        for hit in found.hits:
            click.echo("\n".join(_entry(hit, explain=explain)))
    if nearest:
        click.echo(f"Nothing fits{where}.", err=True)
        title = output.shortened(output.printable(nearest.memory.title), 90)
        output.say(f"The nearest is '{title}' ({nearest.memory.path}). Try other words, or --json to see all hits.")
    elif not found.hits:
        click.echo(f"Nothing found{where}.", err=True)
        wider = "Try fewer filters" if found.mode == _LIST else "Try fewer or other words"
        output.say(f"{wider}, or --all to include archived and superseded notes.")


def _draw(root: Path, found: SearchResult, *, explain: bool) -> None:
    """Draw a list as a table, and hits with the statements that answer."""
    from memtool.cli import screen

    def link(hit: Found, shown: str) -> Text:
        return screen.text(shown, "cyan", uri=(root / hit.memory.path).as_uri())

    if found.mode == _LIST and found.hits:
        rows = []
        for hit in found.hits:
            memory = hit.memory
            note = screen.lines(screen.text(memory.title, "bold"), link(hit, memory.path))
            rows.append((memory.date, memory.kind, memory.project, note))
        screen.show(screen.table(("Date", "Kind", "Project", "Note"), rows))
        return
    for hit in found.hits:
        title, place, *rest = _entry(hit, explain=explain)
        where, gap, about = place.strip().partition("  ")
        marked = [screen.marked(line, term_spans(line, hit.terms)) for line in rest]
        screen.show(
            screen.title(title), screen.joined(screen.text("  "), link(hit, where), screen.text(gap + about)), *marked
        )


def _entry(hit: Found, *, explain: bool) -> Iterator[str]:
    """Give the lines of one hit, an empty one last."""
    from memtool.cli.hits import place_of, reasons, statement_lines, title_of
    from memtool.recall.answers.found import labelled

    room = output.width() - 2
    yield "".join(title_of(hit, room + 2))
    yield from (f"  {line}" for line in place_of(hit, room))
    for statement in labelled(hit.statements):
        yield from (f"  {line}" for line in statement_lines(statement, room))
    for sentence in reasons(hit) if explain else ():
        yield from (f"  {line}" for line in output.wrapped(sentence, room, 9))
    yield ""
