"""Measures of a search over questions with known answers, and the public sets that such questions come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import UsageError
from memtool.vault.memory import Location

DEPTH = 50  # hits that are asked for
RECALL_AT = (1, 5, 10)
_HINT = (
    "Name a file in SQuAD's JSON (XQuAD, CMRC 2018, DRCD, JSQuAD, KorQuAD), or a folder with vault/ and queries.jsonl."
)


class Expected(NamedTuple):
    """A note that answers a question; lines (0, 0) mean all of it."""

    path: str
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class KnownQuestion:
    """A query and the notes, or lines of notes, that answer it."""

    id: str
    query: str
    relevant: tuple[Expected, ...]


def parse_questions(lines: Iterable[str]) -> list[KnownQuestion]:
    """Return the questions in JSON *lines*: `{"query": …, "relevant": ["path", {"path": …, "lines": [3, 9]}]}`.

    Raises:
        UsageError: a line is something else.
    """
    questions = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                questions.append(_question(json.loads(line.removeprefix("\ufeff")), number))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError):
                hint = 'One JSON object a line: {"query": "deploy key", "relevant": ["areas/tools/ci/summary.md"]}'
                raise UsageError(f"line {number} is not a question with its answers", hint=hint) from None
    if not questions:
        raise UsageError("the file holds no questions")
    return questions


def evaluate(questions: Sequence[KnownQuestion], places: Sequence[Sequence[Location]]) -> dict[str, float]:
    """Return the mean of each metric over *questions*; *places* are the hits of each, best first.

    `hit@1` is the share of questions whose first note is relevant. Recall and MRR count distinct notes in the order of
    the hits; `lines@6` is the share of evidence lines that the first six hits hold, over the questions that name lines.
    """
    rows = [_metrics(question, hits) for question, hits in zip(questions, places, strict=True)]
    names = dict.fromkeys(name for row in rows for name in row)
    values = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: sum(each) / len(each) for name, each in values.items()}


def _question(given: dict[str, Any], number: int) -> KnownQuestion:
    relevant = tuple(_evidence(item) for item in given["relevant"])
    if not relevant or not isinstance(given["query"], str) or not isinstance(given["relevant"], list):
        raise TypeError
    return KnownQuestion(str(given.get("id", number)), given["query"], relevant)


def _evidence(item: str | dict[str, Any]) -> Expected:
    if isinstance(item, str):
        return Expected(item)
    first, last = item.get("lines") or (0, 0)
    if int(last) < int(first):
        raise ValueError
    return Expected(str(item["path"]), int(first), int(last))


def _metrics(question: KnownQuestion, hits: Sequence[Location]) -> dict[str, float]:
    relevant = {evidence.path for evidence in question.relevant}
    found = [path in relevant for path in dict.fromkeys(hit.path for hit in hits)]
    row = {"hit@1": float(found[:1] == [True])}
    row |= {f"recall@{k}": sum(found[:k]) / len(relevant) for k in RECALL_AT}
    row["mrr@10"] = next((1 / rank for rank, hit in enumerate(found[:10], 1) if hit), 0.0)
    lines = {(e.path, line) for e in question.relevant if e.first for line in range(e.first, e.last + 1)}
    if lines:
        shown = {(hit.path, line) for hit in hits[:6] for line in range(hit.start_line, hit.end_line + 1)}
        row["lines@6"] = len(lines & shown) / len(lines)
    return row


class Suite(NamedTuple):
    """Questions, and the texts of the notes that answer them, by their paths."""

    name: str
    questions: tuple[KnownQuestion, ...]
    notes: dict[str, str]

    def write(self, folder: Path) -> Path:
        """Write the notes below *folder*, which is empty, and return it."""
        for ref, text in self.notes.items():
            path = folder / ref
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder


def read_suites(path: Path) -> Iterator[Suite]:
    """Give the suites at *path*: a file in SQuAD's JSON, a folder with `vault/` and `queries.jsonl`, or one of these.

    Raises:
        UsageError: there is none.
    """
    try:
        if path.is_file():
            yield _of_squad(path.stem, json.loads(path.read_bytes()))
        elif (path / "queries.jsonl").is_file():
            yield _of_folder(path)
        else:
            found = sorted(each for each in path.iterdir() if each.suffix == ".json" or (each / "vault").is_dir())
            if not found:
                raise UsageError(f"'{path}' holds no set of questions", hint=_HINT)
            for each in found:
                yield from read_suites(each)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"'{path}' is no set of questions", hint=_HINT) from None


def _of_squad(name: str, given: dict[str, Any]) -> Suite:
    """Return the suite in which each paragraph is a note, and answers the questions below it."""
    notes: dict[str, str] = {}
    questions: list[KnownQuestion] = []
    for article in given["data"]:
        for paragraph in article["paragraphs"]:
            ref = f"notes/{len(notes) // 100:02}/note-{len(notes):05}.md"
            notes[ref] = f"# {' '.join(str(article.get('title', '')).split())}\n\n{paragraph['context'].strip()}\n"
            asked = (each for each in paragraph["qas"] if each.get("answers"))
            questions += [KnownQuestion(str(each["id"]), each["question"], (Expected(ref),)) for each in asked]
    return Suite(name, tuple(questions), notes)


def _of_folder(path: Path) -> Suite:
    lines = (path / "queries.jsonl").read_text(encoding="utf-8-sig").splitlines()
    asked = parse_questions(line for line in lines if json.loads(line).get("category") != "adversarial")
    paths = [each for each in sorted((path / "vault").rglob("*")) if each.suffix in (".md", ".json", ".markdown")]
    notes = {each.relative_to(path / "vault").as_posix(): each.read_text(encoding="utf-8") for each in paths}
    return Suite(path.name, tuple(asked), notes)
