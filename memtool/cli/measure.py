"""`memtool eval` measures the search with questions; `memtool test` checks what prompts receive."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from memtool.cli import completion, output
from memtool.cli.index import make_vectors
from memtool.cli.options import with_json
from memtool.cli.session import Session
from memtool.errors import MemtoolError, UsageError
from memtool.index import evaluation
from memtool.index.engine import Index, Place, use_index
from memtool.index.evaluation import KnownQuestion, Suite, read_suites
from memtool.index.filters import Filter
from memtool.index.lookup import note_refs
from memtool.index.search import ask
from memtool.index.semantic import VectorSource
from memtool.recall.expectations import parse_expectations, try_expectations
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


@click.command("eval")
@click.argument("questions", type=click.File("r", encoding="utf-8-sig"), metavar="[QUERIES.jsonl]", required=False)
@click.option(
    "--suite",
    type=click.Path(exists=True, path_type=Path),
    help="Public questions with notes of their own instead: in SQuAD's JSON, or in folders.",
)
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(["bm25", "vector", "hybrid"]),
    help="Only this mode. Repeatable.",
)
@with_json
def evaluate(session: Session, questions: IO[str] | None, suite: Path | None, modes: tuple[str, ...]) -> None:
    """Measure the search with your own questions on your own vault, or with a suite of public ones.

    QUERIES.jsonl holds one JSON object a line: {"query": "…", "relevant": ["path/of/note.md"]}. A relevant note may
    name its lines: {"path": "…", "lines": [3, 9]}. The results are hit@1 (the first note is relevant), recall (the
    share of the relevant notes among the first k), MRR (1 / rank of the first relevant note) and the share of the
    relevant lines in the first six hits.

    A --suite measures the model in use on this machine before you trust it: a file in SQuAD's JSON (XQuAD in eleven
    languages, CMRC 2018, DRCD, JSQuAD, KorQuAD), a folder with vault/ and queries.jsonl, or a folder of these. Its
    notes are indexed in a temporary folder; your vault is not changed.
    """
    ways = [way for way in _WAYS if not modes or way.mode in modes]
    if (suite is None) == (questions is None):
        raise click.UsageError("name a file of questions or a --suite")
    if suite:
        answers = dict(_of_suites(session, suite, ways))
        for name, answer in answers.items() if not session.emits({"suites": answers}) else ():
            click.echo(f"{name}: ", nl=False)
            _print_metrics(answer)
        return
    known = evaluation.parse_questions(_text_of(questions).split("\n")) if questions else []
    answer = use_index(session.place(), lambda index: _compare(session, index, known, ways))
    if not session.emits(answer):
        _print_metrics(answer)


def _of_suites(session: Session, path: Path, ways: Sequence[Way]) -> Iterator[tuple[str, dict[str, Any]]]:
    for suite in read_suites(path):
        with tempfile.TemporaryDirectory(prefix="memtool-suite-", ignore_cleanup_errors=True) as folder:
            vault = open_vault(suite.write(Path(folder)))

            def measured(index: Index, suite: Suite = suite) -> dict[str, Any]:
                made = make_vectors(session, index) if any(way.mode != "bm25" for way in ways) else []
                answer = _compare(session, index, suite.questions, ways)
                return answer | {"notices": [*made, *answer["notices"]]}

            yield suite.name, use_index(Place(vault, vault.state_path), measured)


def _compare(session: Session, index: Index, questions: Sequence[KnownQuestion], ways: Sequence[Way]) -> dict[str, Any]:
    known = set(note_refs(index.db))
    missing = sorted({evidence.path for question in questions for evidence in question.relevant} - known)
    notices = [f"no note is at '{path}'" for path in missing[:5]]
    results: dict[str, dict[str, float]] = {}
    reasons: dict[str, list[str]] = {}
    source = VectorSource(index, session.settings, session.work.cache)
    wanted = Filter(session.work.now().date())
    for way in ways:
        try:
            places = [_places(source, wanted, question, way) for question in questions]
            results[way.name] = evaluation.evaluate(questions, places)
        except MemtoolError as error:
            if len(ways) == 1:
                raise
            reasons.setdefault(f"{error}. {error.hint}".strip(), []).append(way.name)
    notices += [f"left out: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return {"questions": len(questions), "results": results, "notices": notices}


def _places(source: VectorSource, wanted: Filter, question: KnownQuestion, way: Way) -> list[Location]:
    text = question.query
    if way.mode != "bm25":  # without vectors the row would only repeat that of bm25: this raises the reason
        source.choose(text, "vector")
    found = ask(source, text, wanted, limit=evaluation.DEPTH, mode=way.mode, fusion=way.fusion)
    return [hit.memory.place for hit in found.hits]


def _print_metrics(answer: dict[str, Any]) -> None:
    """Print the results as aligned columns, on a terminal and in a pipe alike."""
    click.echo(counted(answer["questions"], "question"))
    head = ("", *next(iter(answer["results"].values()), ()))
    rows = [(name, *(f"{value:.3f}" for value in metrics.values())) for name, metrics in answer["results"].items()]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for name, *values in (head, *rows):
        cells = (value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
        click.echo("  ".join([name.ljust(widths[0]), *cells]).rstrip())
    output.say(*answer["notices"])


@click.command("test")
@click.argument("file", type=click.File("r", encoding="utf-8"), shell_complete=completion.files)
@with_json
def test(session: Session, file: IO[str]) -> None:
    """Check that prompts receive the memories you expect.

    FILE holds expectations, in TOML: a prompt in a project that must receive a certain fact, or nothing. Each prompt is
    tried as the first of a session, by words only; nothing is written. The exit code is 1 if an expectation fails, so
    you can run it in the CI of a vault.
    """
    expectations = parse_expectations(_text_of(file))
    verdicts = use_index(session.place(), lambda index: list(try_expectations(session.work, index, expectations)))
    failed = [verdict for verdict in verdicts if verdict.faults]
    listed = [{**one.expectation._asdict(), "faults": one.faults, "given": one.given} for one in verdicts]
    passed = len(verdicts) - len(failed)
    if not session.emits({"passed": passed, "failed": len(failed), "expectations": listed}):
        for verdict in failed:
            one = verdict.expectation
            prompt = f"'{one.prompt}'" if one.prompt else "the start of a session"
            head = f"{one.number}: {' '.join(prompt.split())}{f' in {one.project}' if one.project else ''}"
            lines = [f"   | {line}" for line in verdict.given.split("\n") if line.startswith("- ")]
            for line in (head, *(f"   {fault}" for fault in verdict.faults), *lines):
                click.echo(output.shortened(output.printable(line), output.width()))
        many = counted(len(verdicts), "expectation")
        click.echo(f"{passed} of {many} hold." if failed else f"All {many} hold.")
    click.get_current_context().exit(1 if failed else 0)


def _text_of(file: IO[str]) -> str:
    try:
        return file.read()
    except UnicodeDecodeError:
        raise UsageError("the file is not UTF-8") from None
