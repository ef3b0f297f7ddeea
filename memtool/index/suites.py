"""Public sets of questions, each with the notes that it is about: what a model is worth before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memtool.errors import UsageError
from memtool.index.evaluation import Expected, KnownQuestion, parse_questions

_HINT = (
    "Name a file in SQuAD's JSON (XQuAD, CMRC 2018, DRCD, JSQuAD, KorQuAD), or a folder with vault/ and queries.jsonl."
)


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
