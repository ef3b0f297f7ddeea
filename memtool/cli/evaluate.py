"""`memtool eval`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from memtool.cli import output
from memtool.cli.session import Session, with_vault
from memtool.errors import MemtoolError
from memtool.index import evaluation
from memtool.index.engine import Index, use_index
from memtool.index.evaluation import HitSpan, KnownQuestion
from memtool.index.filters import Filter
from memtool.index.lookup import note_refs
from memtool.index.search import search
from memtool.index.semantic import VectorSource
from memtool.text.lines import counted


class Way(NamedTuple):
    """A way to search that is compared with the others."""

    name: str
    mode: str
    fusion: str = "adaptive"


_WAYS = (
    Way("bm25", "bm25"),
    Way("vector", "vector"),
    Way("hybrid (adaptive)", "hybrid"),
    Way("hybrid (rrf)", "hybrid", "rrf"),
)


@click.command()
@click.argument("questions", type=click.File("r", encoding="utf-8-sig"), metavar="QUERIES.jsonl")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(["bm25", "vector", "hybrid"]),
    help="Only this mode. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, questions: Any, *, modes: tuple[str, ...], as_json: bool) -> None:  # noqa: ANN401
    """Measure the search with your own questions on your own vault.

    QUERIES.jsonl holds one JSON object a line: {"query": "…", "relevant": ["path/of/note.md"]}. A relevant note may
    name its lines: {"path": "…", "lines": [3, 9]}. Shown are hit@1 (the first note is relevant), recall (the share of
    the relevant notes among the first k), MRR (1 / rank of the first relevant note) and the share of the relevant
    lines in the first six hits.
    """
    try:
        asked = evaluation.parse_questions(questions)
    except UnicodeDecodeError:
        raise click.UsageError("the file is not UTF-8") from None
    ways = [way for way in _WAYS if not modes or way.mode in modes]
    answer = use_index(session.place(), lambda index: _compare(session, index, asked, ways))
    if as_json:
        output.emit_json(answer)
    else:
        _print(answer)


def _compare(session: Session, index: Index, asked: Sequence[KnownQuestion], ways: Sequence[Way]) -> dict[str, Any]:
    known = set(note_refs(index.db))
    missing = sorted({evidence.path for question in asked for evidence in question.relevant} - known)
    notices = [f"no note is at '{path}'" for path in missing[:5]]
    results: dict[str, dict[str, float]] = {}
    reasons: dict[str, list[str]] = {}
    source = VectorSource(index, session.settings, session.work.cache)
    wanted = Filter(session.work.now().date())
    for way in ways:
        try:
            results[way.name] = evaluation.evaluate(
                asked, [_places(index, source, wanted, question, way) for question in asked]
            )
        except MemtoolError as error:
            if len(ways) == 1:
                raise
            reasons.setdefault(f"{error}. {error.hint}".strip(), []).append(way.name)
    notices += [f"left out: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return {"questions": len(asked), "results": results, "notices": notices}


def _places(index: Index, source: VectorSource, wanted: Filter, question: KnownQuestion, way: Way) -> list[HitSpan]:
    chosen = source.choose(question.query, way.mode)
    if way.mode != "bm25":  # without vectors the row would only repeat that of bm25: this says why there are none
        source.choose(question.query, "vector")
    found = search(
        index,
        question.query,
        wanted,
        limit=evaluation.DEPTH,
        mode=chosen.mode,
        fusion=way.fusion,
        vectors=chosen.vectors,
    )
    return [HitSpan(hit.path, hit.start_line, hit.end_line) for hit in found.hits]


def _print(answer: dict[str, Any]) -> None:
    head = ("", *next(iter(answer["results"].values()), ()))
    rows = [(name, *(f"{value:.3f}" for value in metrics.values())) for name, metrics in answer["results"].items()]
    if output.on_terminal():
        from memtool.cli import screen

        screen.show(screen.title(counted(answer["questions"], "question")), screen.table(head, rows, right=head[1:]))
    else:
        click.echo(counted(answer["questions"], "question"))
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        for name, *values in (head, *rows):
            cells = (f"{value:>{width}}" for value, width in zip(values, widths[1:], strict=True))
            click.echo("  ".join([f"{name:<{widths[0]}}", *cells]).rstrip())
    output.say(*answer["notices"])
