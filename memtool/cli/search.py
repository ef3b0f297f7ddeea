"""`memtool search`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from memtool.beside import SharedQuestion, team_beside
from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import MemtoolError, UsageError
from memtool.index.engine import Index, Place, use_index
from memtool.index.filters import Filter, Transcripts, only_time, parse_day
from memtool.index.lookup import SearchResult, index_notices, once, projects_in, reach
from memtool.index.search import newest, search, snippet_of, unknown_names
from memtool.index.semantic import Chosen, VectorSource
from memtool.recall.uses import count_uses, read_uses
from memtool.text.lines import without_surrogates
from memtool.text.tokens import index_terms, term_spans
from memtool.vault.files import read_text
from memtool.vault.kinds import KINDS
from memtool.vault.layout import Vault
from memtool.vault.memory import Found, Memory

if TYPE_CHECKING:
    from rich.text import Text

    from memtool.recall.answers.answer import MemoryAnswer

_DEFAULT_BATCH_LIMIT = 50
_LISTED = 20  # notes on a page of a list
_LONGEST_NEAREST, _MOST_LINES = 90, 9
_LIST = "list"  # the mode without words

_MANY = 200  # files to read, from which on a person wants to see progress


@click.command()
@click.argument("query", nargs=-1)
@click.option(
    "--mode", type=click.Choice(["hybrid", "bm25", "vector"]), help="Search by words, by meaning, or by both."
)
@click.option("--fusion", type=click.Choice(["adaptive", "rrf"]), help="How hybrid merges its two rankings.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="How many hits to show.")
@click.option("--page", type=click.IntRange(1, 1000), default=1, help="The hits after those: 2, 3 and so on.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only notes of this kind. Repeatable.")
@click.option("--project", "projects", multiple=True, help="Only this project. Repeatable.")
@click.option("--all-projects", is_flag=True, help="Every project, and not only the one at hand.")
@click.option("--category", "categories", multiple=True, help="Only this category. Repeatable.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag. Repeatable: all must be there.")
@click.option("--since", metavar="DATE", help="Not older than: 2026-02-10, 2026-02, 7d, yesterday, last month.")
@click.option("--until", metavar="DATE", help="Not younger than.")
@click.option("--at", metavar="DATE", help="As the vault stood then: 2026-02-10, 2026-02-10T14:30, 7d.")
@click.option("--archived", is_flag=True, help="Also in the archive.")
@click.option("--all", "everything", is_flag=True, help="Also superseded, archived and expired things.")
@click.option(
    "--transcripts",
    type=click.Choice(["only", "no"]),
    help="Search the kept turns of sessions alone, or not at all; without this, where no note answers.",
)
@click.option("--explain", is_flag=True, help="Say why each hit has its place.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--batch", is_flag=True, help='Read JSON lines {"id", "query"} from stdin, write one JSON line for each.')
@with_vault
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
    as_json: bool,
    batch: bool,
    **filters: Any,  # noqa: ANN401  (click hands over the options of `_filter`)
) -> None:
    """Find notes by words and by meaning, in any language.

    The query needs no quotes and has no syntax. Words are found by whole and by part. Without a query, everything that
    the filters leave is listed, newest first. In a project that the vault knows, only what belongs to it or to no
    project is found, unless other projects are named.
    """
    session.overrides |= {"search.mode": mode, "search.fusion": fusion, "search.limit": limit}
    session.go_back(at)
    wanted = _filter(session.work.now(), **filters)
    wanted = wanted._replace(transcripts="no") if at else wanted  # turns are not those of then
    here = "" if all_projects or wanted.projects else session.work.project()
    if batch and query:
        raise UsageError("--batch reads its questions from stdin, so it takes none here")
    if batch:
        _search_batch(session, wanted, here, limit or _DEFAULT_BATCH_LIMIT)
        return
    text = without_surrogates(" ".join(query))
    if query and not index_terms(text):
        raise UsageError("the query holds no word to search for", hint="Try `memtool search deploy key`.")
    text, wanted = only_time(text, wanted)
    started = time.perf_counter()
    team = _ask_team(session, text, here) if text else None
    with output.progress_bar("Reading notes", least=_MANY) as progress:
        place = session.place(progress=progress)
        look = _found if as_json else _answered
        looked = use_index(place, lambda index: look(session, index, text, wanted, here, page))
    took = time.perf_counter() - started
    chosen, found = looked.chosen, looked.found
    found = found._replace(hits=_with_doubts(found.hits))
    if explain:
        found = found._replace(hits=_with_uses(place, found.hits))
    elif text:
        shown = found.hits if as_json else found.hits[: len(looked.answers)]
        count_uses(place.folder, (hit.memory.key for hit in shown))
    if as_json:
        notices = [*session.settings.notices, *chosen.notices, *found.notices]
        hits = [_fields(hit) for hit in found.hits]
        answer = {"query": text, "mode": found.mode, "hits": hits, "took_ms": round(took * 1000, 1), "notices": notices}
        output.emit_json(answer | _of_team(team) if team else answer)
    else:
        lasting = [*session.settings.notices, *chosen.lasting]
        output.say(*once(place.folder, lasting), *chosen.passing, *found.notices)
        _print(session, looked._replace(found=found), explain=explain, where=" in your own vault" if team else "")
        if team:
            _print_team(team)


def _ask_team(session: Session, text: str, here: str) -> SharedQuestion | None:
    team = team_beside(session.work)
    limit = session.settings.search.limit
    return team.ask_for_memories(session.work, session.work.redact(text), project=here, limit=limit) if team else None


def _of_team(team: SharedQuestion) -> dict[str, Any]:
    memories, notice = team.answer()
    return {"team": [memory._asdict() for memory in memories], "team_notice": notice}


def _print_team(team: SharedQuestion) -> None:
    memories, notice = team.answer()
    for memory in memories:
        click.echo(output.shortened(output.printable(memory.said), output.width()))
        click.echo(output.printable(f"  {memory.source}"))
        click.echo()
    output.say(*filter(None, [notice]))


class _Looked(NamedTuple):
    """What was searched with, the hits, and for a person an answer to each; there are none where nothing fits."""

    chosen: Chosen
    found: SearchResult
    answers: Sequence[MemoryAnswer] = ()


def _found(session: Session, index: Index, text: str, wanted: Filter, here: str, page: int) -> _Looked:
    """Return page number *page* of what *text* finds, or of what there is, and with what was searched."""
    if not text:
        return _listed(session, index, wanted, here, page)
    limit = session.settings.search.limit
    looked = _searched(session, index, text, wanted, here, limit * page)
    return looked._replace(found=looked.found._replace(hits=looked.found.hits[limit * (page - 1) :]))


def _answered(session: Session, index: Index, text: str, wanted: Filter, here: str, page: int) -> _Looked:
    """Return the same for a person: each memory once, with the statements of it that answer."""
    from memtool.recall.answers.answer import LISTED, PRINTED  # JSON does without
    from memtool.recall.answers.found import CHUNKS, answers_of, memories

    if not text:
        looked = _listed(session, index, wanted, here, page)
        return looked._replace(answers=answers_of(index.db, "", looked.found.hits, LISTED))
    limit = session.settings.search.limit
    looked = _searched(session, index, text, wanted, here, limit * page * CHUNKS)
    every = memories(looked.found.hits)
    shown = every[limit * (page - 1) : limit * page]
    answers = answers_of(index.db, text, shown, PRINTED, best=every[0].score if every else 0.0, is_first=page == 1)
    return looked._replace(found=looked.found._replace(hits=tuple(shown)), answers=answers)


def _searched(session: Session, index: Index, text: str, wanted: Filter, here: str, limit: int) -> _Looked:
    kept, narrowed = _kept_to(here, index, wanted)
    chosen, found = _search(session, index, _source(session, index), text, kept, limit)
    return _Looked(chosen, found._replace(notices=(*found.notices, *unknown_names(index, wanted), *narrowed)))


def _listed(session: Session, index: Index, wanted: Filter, here: str, page: int) -> _Looked:
    kept, narrowed = _kept_to(here, index, wanted)
    limit = session.settings.search.limit if session.settings.origins["search.limit"] == "command line" else _LISTED
    listed = newest(index, kept, limit=limit, page=page)
    pages = -(-listed.total // limit)
    more = [f"page {page} of {pages}; `--page {page + 1}` shows the next"] if page < pages else []
    notices = (*index_notices(index), *more, *unknown_names(index, wanted), *narrowed)
    return _Looked(Chosen(_LIST), SearchResult(listed.hits, _LIST, notices))


def _kept_to(here: str, index: Index, wanted: Filter) -> tuple[Filter, list[str]]:
    """Return *wanted* for the project *here*, if the index knows it and others, and the notice that says so."""
    known = projects_in(index.db) if here else []
    if here not in known or len(known) < 2:
        return wanted, []
    notice = f"only what belongs to '{here}' or to no project was searched; --all-projects searches the others, too"
    return wanted._replace(projects=reach(index.db, here)), [notice]


def _source(session: Session, index: Index) -> VectorSource:
    return VectorSource(index, session.settings, session.work.cache)


def _search(
    session: Session, index: Index, source: VectorSource, text: str, wanted: Filter, limit: int
) -> tuple[Chosen, SearchResult]:
    chosen = source.choose(text, session.settings.search.mode)
    found = search(
        index,
        text,
        wanted,
        limit=limit,
        mode=chosen.mode,
        fusion=session.settings.search.fusion,
        vectors=chosen.vectors,
    )
    return chosen, SearchResult(found.hits, found.mode, (*index_notices(index), *found.notices))


def _search_batch(session: Session, wanted: Filter, here: str, limit: int) -> None:
    questions = list(_questions())
    notices = dict.fromkeys(session.settings.notices)

    def answers(index: Index) -> list[dict[str, Any]]:
        kept, narrowed = _kept_to(here, index, wanted)
        notices.update(dict.fromkeys(narrowed))
        return _answers(session, index, questions, kept, notices, limit)

    for answer in use_index(session.place(), answers):
        output.emit_json_line(answer)
    output.say(*notices)


def _answers(
    session: Session,
    index: Index,
    questions: list[tuple[Any, str]],
    wanted: Filter,
    notices: dict[str, None],
    limit: int,
) -> list[dict[str, Any]]:
    source = _source(session, index)
    answers = []
    for name, text in questions:
        chosen, found = _search(session, index, source, text, wanted, limit)
        notices |= dict.fromkeys(chosen.notices)
        answers.append({"id": name, "results": [_fields(hit) for hit in found.hits]})
    return answers


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
    **given: Any,  # noqa: ANN401
) -> Filter:
    today = now.date()
    return Filter(
        now,
        transcripts=transcripts or "auto",
        since=parse_day(since, today) if since is not None else "",
        until=parse_day(until, today, end=True) if until is not None else "",
        **given,
    )


def _with_uses(place: Place, hits: tuple[Found, ...]) -> tuple[Found, ...]:
    """Return *hits* with their authors and how often each was used. Neither has a part in the score of a search."""
    keys = [hit.memory.key for hit in hits]
    uses = read_uses(place.folder, keys)
    authors = [hit.memory.author or _authors(place.vault, hit.memory) for hit in hits]
    besides = ({"author": author, "uses": uses.get(key, 0)} for author, key in zip(authors, keys, strict=True))
    return tuple(hit._replace(why={**hit.why, **more}) for hit, more in zip(hits, besides, strict=True))


def _authors(vault: Vault, memory: Memory) -> str:
    """Return who said what the lines of a session's note hold that were found; empty for other notes."""
    if memory.kind != "session":
        return ""
    from memtool.vault.sessions import lines_of

    try:
        lines = lines_of(read_text(vault.path(memory.path))[0])
    except (MemtoolError, OSError, UnicodeDecodeError):
        return ""
    return ", ".join(
        sorted({line.author for line in lines if memory.place.start_line <= line.number <= memory.place.end_line})
    )


def _with_doubts(hits: tuple[Found, ...]) -> tuple[Found, ...]:
    """Return *hits*, those facts marked that a newer one of them contradicts."""
    facts = [
        (memory.fact_id, memory.text.partition("\n")[0], memory.date)
        for memory in (hit.memory for hit in hits)
        if memory.fact_id
    ]
    if len(facts) < 2:
        return hits
    from memtool.text.near_duplicates import newer_rivals

    dates = newer_rivals(facts)
    return tuple(
        hit._replace(why={**hit.why, "contradicted": dates[hit.memory.id]}) if hit.memory.id in dates else hit
        for hit in hits
    )


def _fields(hit: Found) -> dict[str, Any]:
    memory, place = hit.memory, hit.memory.place
    return {
        "path": place.path,
        "start_line": place.start_line,
        "end_line": place.end_line,
        "kind": memory.kind,
        "project": memory.project,
        "title": memory.title,
        "heading": memory.heading,
        "date": memory.date,
        "category": memory.category,
        "score": hit.score,
        "text": memory.text,
        "fact_id": memory.fact_id,
        "author": memory.author,
        "why": hit.why,
        **({"session": hit.session, "turn": hit.turn} if hit.turn else {}),
        "snippet": snippet_of(hit).line,
    }


def _print(session: Session, looked: _Looked, *, explain: bool, where: str = "") -> None:
    found, answers = looked.found, looked.answers
    if output.on_terminal():
        _show(session.vault.root, looked, explain=explain)
    else:
        for hit, answer in zip(found.hits, answers, strict=False):
            for line in _entry(hit, answer, explain=explain):
                click.echo(line)
    if found.hits and not answers:
        click.echo(f"Nothing fits{where}.", err=True)
        memory = found.hits[0].memory
        nearest = output.shortened(output.printable(memory.title), _LONGEST_NEAREST)
        output.say(f"The nearest is '{nearest}' ({memory.path}). Try other words, or --json to see all hits.")
    elif not found.hits:
        click.echo(f"Nothing found{where}.", err=True)
        wider = "Try fewer filters" if found.mode == _LIST else "Try fewer or other words"
        output.say(f"{wider}, or --all to look at archived and superseded notes too.")


def _show(root: Path, looked: _Looked, *, explain: bool) -> None:
    """Draw a list as a table, and what was searched for with the statements that answer."""
    from memtool.cli import screen

    if looked.found.mode == _LIST and looked.found.hits:
        rows = [
            (
                hit.memory.date,
                hit.memory.kind,
                hit.memory.project,
                screen.lines(screen.text(hit.memory.title, "bold"), _link(root, hit, hit.memory.path)),
            )
            for hit in looked.found.hits
        ]
        screen.show(screen.table(("Date", "Kind", "Project", "Note"), rows))
        return
    for hit, answer in zip(looked.found.hits, looked.answers, strict=False):
        title, place, *rest = _entry(hit, answer, explain=explain)
        where, gap, about = place.strip().partition("  ")
        marked = [screen.marked(line, term_spans(line, hit.terms)) for line in rest]
        screen.show(
            screen.title(title),
            screen.joined(screen.text("  "), _link(root, hit, where), screen.text(gap + about)),
            *marked,
        )


def _link(root: Path, hit: Found, shown: str) -> Text:
    from memtool.cli import screen

    return screen.text(shown, "cyan", uri=(root / hit.memory.path).as_uri())


def _entry(hit: Found, answer: MemoryAnswer, *, explain: bool) -> Iterator[str]:
    """Give the lines of one hit, an empty one last."""
    from memtool.cli.hits import place_of, reasons, statement_lines, title_of
    from memtool.recall.answers.found import labelled

    room = output.width() - 2
    yield "".join(title_of(answer, room + 2))
    yield from (f"  {line}" for line in place_of(hit, answer, room))
    for said in labelled(answer.statements):
        yield from (f"  {line}" for line in statement_lines(said, room))
    for sentence in reasons(hit, answer) if explain else ():
        yield from (f"  {line}" for line in output.wrapped(sentence, room, _MOST_LINES))
    yield ""
