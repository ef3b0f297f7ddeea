"""`python -m benchmarks.answers SHARED --notes VAULT --issues VAULT`: fit the likelihood of what sessions say.

SHARED holds the labelled material: `transcripts/questions.jsonl`, `transcripts/prompts` and `swectx/issues.jsonl`. The
notes of its sessions are made beforehand (`make_notes.sh`, `run.py`). Printed are the weights beside those of facts and
notes, the loss on projects that were left out, with all signs and without each, and how far the likelihood is true in
five bins there. None of the material is published.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.recall.fitting import fitted, likelihoods, odds_of
from memtool.index.engine import place_of, use_index
from memtool.recall.answers.likelihood import Signs
from memtool.recall.answers.question import question_of
from memtool.recall.answers.sessions import (
    MOST_LOOKED_AT,
    PromptKind,
    SessionAnswer,
    answers_of_sessions,
    subject_of,
)
from memtool.recall.prompts.finding import find
from memtool.settings import load
from memtool.vault.layout import open_vault
from memtool.vault.sessions import parse_session
from memtool.workspace import Workspace

_BINS = (0.0, 0.05, 0.15, 0.3, 0.5, 1.01)
_LARGE = 40  # prompts of one project; more are two groups
_ENVIRON = {"MEMTOOL_EMBEDDINGS_PROVIDER": "none"}
SIGNS = ("shared", "ahead", "file", "words", "pasted")


class Sample(NamedTuple):
    """What one session says to one prompt: its signs, how much that is worth from 0 to 1, and what to leave out by."""

    kind: PromptKind
    signs: Signs
    worth: float
    group: str


class Notes:
    """The notes of a vault, of which prompts are asked."""

    def __init__(self, folder: Path) -> None:
        vault = open_vault(folder)
        environ = {**os.environ, **_ENVIRON}
        self._work = Workspace(vault, load(vault.settings_path, environ), environ, folder, Path.home())
        self._texts = {f"sessions/{path.name}": path.read_text("utf-8") for path in (folder / "sessions").glob("*.md")}
        self._names = {ref: parse_session(text).id for ref, text in self._texts.items()}
        self.notes = {self._names[ref]: text for ref, text in self._texts.items()}
        self.projects = {name: parse_session(text).project for name, text in self.notes.items()}

    def name_of(self, answer: SessionAnswer) -> str:
        """Return the id of the session that answers."""
        return self._names[answer.ref]

    def answers(self, prompt: str, project: str, before: str = "9999") -> tuple[PromptKind, list[SessionAnswer]]:
        """Return what the sessions of *project* that ended *before* a minute say to *prompt*."""
        question = question_of(prompt)
        found = use_index(
            place_of(self._work), lambda index: find(index.db, question, project, dt.datetime.now(dt.UTC).date())
        )
        subject = subject_of(question, found.clues)
        texts = {ref: self._texts[ref] for ref in found.sessions}
        earlier = {ref: text for ref, text in texts.items() if parse_session(text).updated < before}
        return subject.kind, answers_of_sessions(dict(list(earlier.items())[:MOST_LOOKED_AT]), subject)

    def samples(
        self, prompt: str, project: str, worth: Callable[[SessionAnswer], float], before: str = "9999"
    ) -> Iterator[Sample]:
        """Give a sample for each session that says something to *prompt*."""
        kind, answers = self.answers(prompt, project, before)
        for answer in answers:
            yield Sample(kind, answer.signs, worth(answer), project)


def of_questions(shared: Path, notes: Notes) -> Iterator[Sample]:
    """Give samples of the questions of the next day: worth is whether the session's lines answer."""
    ask = importlib.import_module("ask")
    for line in (shared / "transcripts/questions.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        project = next(notes.projects[name] for name in notes.notes if name.startswith(question["session"]))

        def worth(answer: SessionAnswer, question: dict[str, Any] = question) -> float:
            grade = ask.grade(question, "\n".join(line.text for line in answer.lines))
            return {"answered": 1.0, "partly": 0.5}.get(grade, 0.0)

        yield from notes.samples(question["q"], project, worth)


def of_prompts(shared: Path, notes: Notes, others: Notes) -> Iterator[Sample]:
    """Give samples of real prompts over the notes of earlier sessions, and over those of another project."""
    given = importlib.import_module("given")
    typed = {path.stem[:8]: given.typed(path) for path in (shared / "transcripts/sessions").glob("*.jsonl")}
    for line in (shared / "transcripts/prompts/prompts.jsonl").read_text("utf-8").splitlines():
        label = json.loads(line)
        own = next(name for name in notes.notes if name.startswith(label["session"]))
        prompt = typed[label["session"]][label["prompt"]]

        def worth(answer: SessionAnswer, label: dict[str, Any] = label) -> float:
            name = notes.name_of(answer)[:8]
            texts = [line.text for line in answer.statements]
            ideal = [pattern for each in label["ideal"] if each["session"] == name for pattern in each["any"]]
            if any(re.search(pattern, text, re.IGNORECASE | re.DOTALL) for pattern in ideal for text in texts):
                return 1.0
            known = (
                given.WORTH[each["worth"]]
                for each in label["lines"]
                if any(given.same(each["text"], f"{text} (sessions/{name})") for text in texts)
            )
            return max(known, default=0.0)

        yield from notes.samples(prompt, notes.projects[own], worth, before=parse_session(notes.notes[own]).updated)
        for project in sorted(set(others.projects.values()))[:2]:
            yield from others.samples(prompt, project, lambda _: 0.0)


def of_issues(shared: Path, notes: Notes) -> Iterator[Sample]:
    """Give samples of issues over the sessions of their repositories: worth is whether those edited the same files."""
    run = importlib.import_module("run")
    edited = {name: run.edited(records) for name, records in run.sessions(set()).items()}
    for line in (shared / "swectx/issues.jsonl").read_text("utf-8").splitlines():
        issue = json.loads(line)
        wanted = tuple(f"/{name}" for name in issue["files"])
        project = next(notes.projects[name] for name in notes.notes if run.repository(name) == issue["repo"])

        def worth(answer: SessionAnswer, wanted: tuple[str, ...] = wanted) -> float:
            return float(any(path.endswith(wanted) for path in edited[notes.name_of(answer)]))

        yield from notes.samples(f"Fix this issue:\n{issue['problem_statement']}", project, worth)


def left_out(values: np.ndarray, worth: np.ndarray, known: np.ndarray, groups: Sequence[str]) -> np.ndarray:
    """Return the likelihood of each sample by weights that were fitted without its group; *known* are odds."""
    likely = np.zeros(len(worth))
    for group in set(groups):
        inside = np.array([each == group for each in groups])
        weights = fitted(values[~inside], worth[~inside], known[~inside])
        likely[inside] = likelihoods(values[inside], weights, known[inside])
    return likely


def report(samples: Sequence[Sample]) -> Iterator[str]:
    """Give what is to be known of the fit to *samples*, in lines."""
    values = np.array([[*(getattr(each.signs, name) for name in SIGNS), 1.0] for each in samples])
    worth = np.array([each.worth for each in samples])
    known = np.array([odds_of(each.signs, (*SIGNS, "is_session")) for each in samples])
    groups = [_group(each.group, at, samples) for at, each in enumerate(samples)]
    likely = left_out(values, worth, known, groups)
    weights = dict(zip((*SIGNS, "is_session"), fitted(values, worth, known).round(2).tolist(), strict=True))
    yield f"{len(samples)} samples, {worth.sum():.0f} worth reading; weights {weights}"
    yield f"  loss, projects left out: {_loss(likely, worth):.4f}"
    for at, sign in enumerate(SIGNS):
        without = left_out(np.delete(values, at, axis=1), worth, known, groups)
        yield f"    without {sign}: {_loss(without, worth):.4f}"
    for kind in PromptKind:
        inside = np.array([each.kind is kind for each in samples])
        yield f"  {kind.value}: {_loss(likely[inside], worth[inside]):.4f} of {inside.sum()}"
    for low, high in pairwise(_BINS):
        inside = (likely >= low) & (likely < high)
        if inside.any():
            said, true = likely[inside].mean(), worth[inside].mean()
            yield f"  {low:.2f}-{high:.2f}: stated {said:.0%}, true {true:.0%} of {inside.sum()}"


def _group(project: str, at: int, samples: Sequence[Sample]) -> str:
    """Return what a sample is left out with: its project, of which a large one is two."""
    is_large = sum(each.group == project for each in samples) > _LARGE * MOST_LOOKED_AT
    return f"{project} {at * 2 // len(samples)}" if is_large else project


def _loss(likely: np.ndarray, worth: np.ndarray) -> float:
    bounded = np.clip(likely, 1e-5, 1 - 1e-5)
    return float(-(worth * np.log(bounded) + (1 - worth) * np.log(1 - bounded)).mean())


def main(arguments: Sequence[str]) -> int:
    """Fit the weights of `memtool.recall.answers.likelihood` and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=main.__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--notes", type=Path, required=True, help="the vault of the notes of SHARED/transcripts")
    parser.add_argument("--issues", type=Path, required=True, help="that of SHARED/swectx")
    options = parser.parse_args(arguments)
    shared = options.shared
    if not (shared / "swectx").is_dir():
        print(f"skipped: the labelled material is not in {shared}", file=sys.stderr)
        return 0
    sys.path[:0] = [str(shared / name) for name in ("transcripts", "transcripts/prompts", "swectx")]
    notes, issues = Notes(options.notes), Notes(options.issues)
    samples = [*of_questions(shared, notes), *of_prompts(shared, notes, issues), *of_issues(shared, issues)]
    print("\n".join(report(samples)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
