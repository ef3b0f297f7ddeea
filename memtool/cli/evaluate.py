"""`memtool eval`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from memtool.cli import output
from memtool.cli.index import make_vectors
from memtool.cli.session import Session, with_vault
from memtool.errors import MemtoolError
from memtool.index import evaluation
from memtool.index.engine import Index, Place, use_index
from memtool.index.evaluation import KnownQuestion, Suite, read_suites
from memtool.index.filters import Filter
from memtool.index.lookup import note_refs
from memtool.index.search import search
from memtool.index.semantic import VectorSource
from memtool.text.lines import counted
from memtool.vault.layout import open_vault
from memtool.vault.memory import Location


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
@click.argument("questions", type=click.File("r", encoding="utf-8-sig"), metavar="[QUERIES.jsonl]", required=False)
@click.option(
    "--suite",
    type=click.Path(exists=True, path_type=Path),
    help="Instead: public questions, in SQuAD's JSON or in folders, with notes of their own.",
)
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(["bm25", "vector", "hybrid"]),
    help="Only this mode. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_vault
def command(session: Session, questions: Any, suite: Path | None, modes: tuple[str, ...], as_json: bool) -> None:  # noqa: ANN401
    """Measure the search with your own questions on your own vault, or with a suite of public ones.

    QUERIES.jsonl holds one JSON object a line: {"query": "…", "relevant": ["path/of/note.md"]}. A relevant note may
    name its lines: {"path": "…", "lines": [3, 9]}. Shown are hit@1 (the first note is relevant), recall (the share of
    the relevant notes among the first k), MRR (1 / rank of the first relevant note) and the share of the relevant
    lines in the first six hits.

    A --suite says what the model in use is worth on this machine before you trust it: a file in SQuAD's JSON (XQuAD in
    eleven languages, CMRC 2018, DRCD, JSQuAD, KorQuAD), a folder with vault/ and queries.jsonl, or a folder of these.
    Its notes are indexed in a temporary folder; your vault stays as it is.
    """
    ways = [way for way in _WAYS if not modes or way.mode in modes]
    if (suite is None) == (questions is None):
        raise click.UsageError("name a file of questions or a --suite")
    if suite:
        answers = dict(_of_suites(session, suite, ways))
        if as_json:
            output.emit_json({"suites": answers})
        for name, answer in answers.items() if not as_json else ():
            click.echo(f"{name}: ", nl=False)
            _print(answer)
        return
    try:
        asked = evaluation.parse_questions(questions)
    except UnicodeDecodeError:
        raise click.UsageError("the file is not UTF-8") from None
    answer = use_index(session.place(), lambda index: _compare(session, index, asked, ways))
    if as_json:
        output.emit_json(answer)
    else:
        _print(answer)


def _of_suites(session: Session, path: Path, ways: Sequence[Way]) -> Iterator[tuple[str, dict[str, Any]]]:
    for suite in read_suites(path):
        with tempfile.TemporaryDirectory(prefix="memtool-suite-", ignore_cleanup_errors=True) as folder:
            vault = open_vault(suite.write(Path(folder)))

            def measured(index: Index, suite: Suite = suite) -> dict[str, Any]:
                made = make_vectors(session, index) if any(way.mode != "bm25" for way in ways) else []
                answer = _compare(session, index, suite.questions, ways)
                return answer | {"notices": [*made, *answer["notices"]]}

            yield suite.name, use_index(Place(vault, vault.state_path), measured)


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


def _places(index: Index, source: VectorSource, wanted: Filter, question: KnownQuestion, way: Way) -> list[Location]:
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
    return [hit.memory.place for hit in found.hits]


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
