"""What sessions say to a prompt: the statements of the best, two files, and how likely it is worth reading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set as AbstractSet
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from memtool.named_tuple import NamedTuple
from memtool.recall.answers.answer import Budget
from memtool.recall.answers.likelihood import OF_QUESTIONS, OF_TASKS, Signs, likelihood, log_odds
from memtool.recall.answers.statements import choose, terms_of
from memtool.text.languages import pattern_of
from memtool.text.tokens import fold
from memtool.vault.authors import TITLE
from memtool.vault.sessions import Line, SessionNote, lines_of, parse_session

if TYPE_CHECKING:
    from memtool.recall.prompts.question import Question

MOST_LOOKED_AT = 12  # sessions: of 57 issues that one is about, the best 6 have 47 and the best 12 have 53
_BEGINNING = 600  # characters of what was pasted: its title, and what it is about
_FEWEST_LINES = 3  # line breaks of what was pasted
_TOLD = Budget(characters=700, notes=1, statements=2)  # by which a session is judged
_SHORTEST_NAME, _SHORTEST_STEM = 5, 3
_SCRATCH = r"(?:^|[/_])(?:test|tmp|reproduce|verify|debug|check)_|\.(?:md|txt|json|log)$"
_TEST = r"(?:^|[/_.])tests?(?:[/_.]|$)|_test\.|\.(?:test|spec)\."
_MOST_FILES = 2


class PromptKind(Enum):
    """The kind of a prompt."""

    QUESTION = "question"
    PASTED = "pasted"
    ORDER = "order"


def kind_of(text: str) -> PromptKind:
    """Return what a prompt is: a question, an issue or error or plan that was pasted, or an order."""
    typed = text.strip()
    if typed.count("\n") >= _FEWEST_LINES:
        return PromptKind.PASTED
    if typed.endswith(("?", "？")) or re.search(pattern_of("asking"), typed, re.IGNORECASE):
        return PromptKind.QUESTION
    return PromptKind.ORDER


def goes_on(text: str) -> bool:
    """Whether a prompt goes on with what was just said ("but", "ok and", 那): the conversation knows its subject."""
    return re.search(pattern_of("going_on"), text, re.IGNORECASE) is not None


class PromptSubject(NamedTuple):
    """What a prompt wants to know.

    Args:
        text: of the prompt.
        weights: what each of its terms is worth to a statement (`clues.Clues.weights`).
        telling: how much each of its telling terms counts.
        length: words that are about something.
        kind: of the prompt.
    """

    text: str
    weights: Mapping[str, float]
    telling: Mapping[str, float]
    length: float
    kind: PromptKind


def wanted_by(question: Question, weights: Mapping[str, float], telling: Mapping[str, float]) -> PromptSubject:
    """Return what *question* wants to know; of what was pasted, only the title and the beginning count."""
    kind = kind_of(question.prompt)
    if kind is PromptKind.PASTED:
        first = terms_of(question.prompt[:_BEGINNING])
        weights, telling = ({term: each[term] for term in each.keys() & first} for each in (weights, telling))
    return PromptSubject(question.prompt, weights, telling, question.length, kind)


class Told(NamedTuple):
    """What a session says to a prompt.

    Args:
        ref: the path of its note.
        text: of the note.
        note: its content.
        lines: all of its lines.
        statements: those that it was judged by.
        likelihood: that it is worth reading.
        signs: what speaks for it.
    """

    ref: str
    text: str
    note: SessionNote
    lines: Sequence[Line]
    statements: tuple[Line, ...]
    likelihood: float
    signs: Signs


def told_by(notes: Sequence[tuple[str, str, float]], wanted: PromptSubject) -> list[Told]:
    """Return what the sessions *notes* say to a prompt, most likely first.

    Args:
        notes: of each its path, its text, and the relevance of its best passage.
        wanted: by the prompt.
    """
    lines = [_said_in(text) for _, text, _ in notes]
    chosen = [choose(wanted.weights, each, _TOLD) for each in lines]
    held = [_terms(lines) for lines in chosen]
    worth = [sum(wanted.weights[term] for term in terms & wanted.weights.keys()) for terms in held]
    kind = wanted.kind
    weights = OF_QUESTIONS if kind is PromptKind.QUESTION else OF_TASKS
    found = []
    for at, (ref, text, relevance) in enumerate(notes):
        note = parse_session(text)
        signs = Signs(
            lead=worth[at] - max((each for other, each in enumerate(worth) if other != at), default=0.0),
            shared=sum(wanted.telling[term] for term in held[at] & wanted.telling.keys()),
            file=float(_names_file(wanted, note.draft.files)),
            odds=log_odds(relevance),
            words=wanted.length,
            pasted=float(kind is PromptKind.PASTED),
        )
        found.append(Told(ref, text, note, lines[at], chosen[at], likelihood(signs, weights), signs))
    return sorted(found, key=lambda told: -told.likelihood)


def _said_in(text: str) -> list[Line]:
    """Return the lines of a session's note; its title is one where there is nothing else."""
    lines = lines_of(text)
    return [line for line in lines if line.role != TITLE] or lines


def files_beside(note: SessionNote, statements: Sequence[Line]) -> tuple[str, ...]:
    """Return the two files of *note* that matter most and that none of *statements* names: no scratch files."""
    text = " ".join(line.text for line in statements)
    files = [name for name in note.draft.files if not _is_scratch(name) and PurePosixPath(name).name not in text]
    return tuple(sorted(files, key=lambda name: re.search(_TEST, name) is not None)[:_MOST_FILES])


def _is_scratch(name: str) -> bool:
    return re.search(_SCRATCH, name) is not None


def _terms(lines: Sequence[Line]) -> frozenset[str]:
    return frozenset[str]().union(*(terms_of(line.text) for line in lines))


def _names_file(wanted: PromptSubject, files: Sequence[str]) -> bool:
    """Whether the prompt names one of *files*, or says its stem as a telling word where it begins."""
    folded = fold(wanted.text)
    said = wanted.telling.keys() & terms_of(wanted.text[:_BEGINNING])
    return any(_is_named(name, folded, said) for name in files)


def _is_named(file: str, folded: str, said: AbstractSet[str]) -> bool:
    path = PurePosixPath(fold(file))
    if len(path.name) >= _SHORTEST_NAME and path.name in folded:
        return True
    if _is_scratch(file) or len(path.stem) < _SHORTEST_STEM:
        return False
    in_folder = f"{path.parent.name}/{path.stem}"
    is_said = any(len(term) >= _SHORTEST_STEM for term in terms_of(path.stem) & said)
    return is_said or (bool(path.parent.name) and (in_folder in folded or in_folder.replace("/", ".") in folded))
