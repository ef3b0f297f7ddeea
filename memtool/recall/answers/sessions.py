"""What sessions say to a prompt: the statements of the best, two files, and how likely it is worth reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from contextlib import suppress
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from memtool.errors import MemtoolError
from memtool.named_tuple import NamedTuple
from memtool.recall import limits
from memtool.recall.answers.likelihood import Signs, likelihood
from memtool.recall.answers.statements import Budget, beginnings_of, choose, strength, terms_of
from memtool.text.languages import pattern_of
from memtool.text.lines import cut, one_line
from memtool.text.statements import statements
from memtool.text.tokens import fold
from memtool.vault.memory import ASKED, TITLE, USER
from memtool.vault.sessions import Line, SessionNote, lines_of, parse_session

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.recall.answers.clues import Clues
    from memtool.recall.answers.question import Question
    from memtool.vault.layout import Vault

MOST_LOOKED_AT = 12  # sessions: of 57 issues that one is about, the best 6 have 47 and the best 12 have 53
_FEWEST_LINES = 3  # line breaks of what was pasted
_JUDGED_BY = Budget(characters=700, notes=1, statements=2)
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


class Subject(NamedTuple):
    """What a prompt is about.

    Args:
        text: of the prompt.
        clues: of the prompt.
        weights: what each of its terms is worth to a statement.
        telling: those of its terms that tell something by themselves.
        words: how many are about something.
        kind: of the prompt.
    """

    text: str
    clues: Clues
    weights: Mapping[str, float]
    telling: AbstractSet[str]
    words: float
    kind: PromptKind


def subject_of(question: Question, clues: Clues) -> Subject:
    """Return what *question* is about; of what was pasted, only the title and the beginning count."""
    kind = kind_of(question.prompt)
    weights, telling = clues.weights, frozenset(clues.telling)
    if kind is PromptKind.PASTED:
        first = terms_of(question.prompt[: limits.PASTED])
        weights, telling = {term: weights[term] for term in weights.keys() & first}, telling & first
    return Subject(question.prompt, clues, weights, telling, question.length, kind)


class SessionAnswer(NamedTuple):
    """What a session says to a prompt.

    Args:
        ref: the path of its note.
        text: of the note.
        note: its content.
        lines: all of its lines.
        statements: those that it is judged by.
        likelihood: that it is worth reading.
        signs: what speaks for it.
    """

    ref: str
    text: str
    note: SessionNote
    lines: Sequence[Line]
    statements: tuple[Line, ...]
    likelihood: float = 0.0
    signs: Signs = Signs()


def answers_of_sessions(texts: Mapping[str, str], subject: Subject) -> list[SessionAnswer]:
    """Return what the notes of sessions, their *texts* by path, say about *subject*, most likely first."""
    answers = []
    for ref, text in texts.items():
        lines = lines_of(text)
        lines = [line for line in lines if line.role != TITLE] or lines  # a title, where there is nothing else
        if chosen := choose(subject.weights, lines, _JUDGED_BY):
            answers.append(SessionAnswer(ref, text, parse_session(text), lines, chosen))
    none = frozenset[str]()
    terms = [none.union(*(terms_of(line.text) | terms_of(line.asked) for line in each.lines)) for each in answers]
    held = [sum(subject.weights[term] for term in each & subject.weights.keys()) for each in terms]
    best = sorted(held, reverse=True)[:2]
    folded, said = fold(subject.text), subject.telling & terms_of(subject.text[: limits.PASTED])
    part = 1 if subject.kind is PromptKind.QUESTION else 3
    judged = []
    for answer, of_note, worth in zip(answers, terms, held, strict=True):
        others = best[1:] if worth == best[0] else best[:1]
        signs = Signs(
            strength=min(14.0, max(strength(subject.weights, line) for line in answer.statements)) / part,
            share=subject.clues.held(of_note | terms_of(answer.note.draft.title))[1],
            shared=min(5.0, len(subject.telling & of_note)),
            ahead=max(-5.0, min(5.0, worth - max(others, default=0.0))),
            file=float(any(_is_named(name, folded, said) for name in answer.note.draft.files)),
            words=min(30.0, subject.words),
            pasted=float(subject.kind is PromptKind.PASTED),
            is_session=1.0,
            is_here=1.0,
        )
        judged.append(answer._replace(likelihood=likelihood(signs), signs=signs))
    return sorted(judged, key=lambda answer: -answer.likelihood)


def files_beside(note: SessionNote, statements: Sequence[Line]) -> tuple[str, ...]:
    """Return the two files of *note* that matter most and that none of *statements* names: no scratch files."""
    text = " ".join(line.text for line in statements)
    files = [name for name in note.draft.files if not _is_scratch(name) and PurePosixPath(name).name not in text]
    return tuple(sorted(files, key=lambda name: re.search(_TEST, name) is not None)[:_MOST_FILES])


def _is_scratch(name: str) -> bool:
    return re.search(_SCRATCH, name) is not None


def _is_named(file: str, folded: str, said: AbstractSet[str]) -> bool:
    """Whether the *folded* prompt names *file*, or has *said* its stem as a telling word where it begins."""
    path = PurePosixPath(fold(file))
    if len(path.name) >= _SHORTEST_NAME and path.name in folded:
        return True
    if _is_scratch(file) or len(path.stem) < _SHORTEST_STEM:
        return False
    in_folder = f"{path.parent.name}/{path.stem}"
    is_said = any(len(term) >= _SHORTEST_STEM for term in terms_of(path.stem) & said)
    return is_said or (bool(path.parent.name) and (in_folder in folded or in_folder.replace("/", ".") in folded))


def kept_statements(weights: Mapping[str, float], note: SessionNote, text: str, vault: Vault, db: Tables) -> list[Line]:
    """Return what the kept source of *note*, which is *text*, says of a question whose terms have these *weights*.

    That is what the user typed, with words of the question, and what else has those that the note lacks. What its owner
    has forgotten is left out, and so is a source that is gone, damaged or large.
    """
    asked_for, lacking = beginnings_of(weights), beginnings_of(weights.keys() - terms_of(text))
    turns = _turns(note.id, vault)
    is_forgotten = _forgotten(turns, note, text, db) if turns else None
    found = []
    for number, turn in enumerate(turns):
        typed, messages = turn.get("typed"), turn.get("messages")
        asked = cut(one_line(typed), limits.WIDEST) if isinstance(typed, str) else ""
        of_agent = messages if isinstance(messages, list) else []
        for said, wanted in [(typed, asked_for), *((message, lacking) for message in of_agent)]:
            if not isinstance(said, str) or (is_forgotten and is_forgotten(said)):
                continue
            like = Line("", ASKED, USER, number) if said is typed else Line("", turn=number, asked=asked)
            for block in said.split("\n\n"):
                if any(map(fold(block).__contains__, wanted)):
                    found += [like._replace(text=each.text) for each in statements(block)]
    return [line for line in found if not weights.keys().isdisjoint(terms_of(line.text))]


def _forgotten(
    turns: Sequence[Mapping[str, Any]], note: SessionNote, text: str, db: Tables
) -> Callable[[str], bool] | None:
    """Return what says whether a text of *turns* holds what was forgotten; None where nothing was."""
    find = "SELECT 1 FROM chunk WHERE project IN (?, '') AND status = 'archived' LIMIT 1"
    if "forgotten:" not in text and db.execute(find, (note.project,)).fetchone() is None:
        return None
    from memtool.index.lookup import forgotten_of_note  # few prompts come here, and a hook is short

    kept = turns[-1].get("note")  # the last line of a source is the note as memtool wrote it
    return forgotten_of_note(db, note.project, text, kept if isinstance(kept, Mapping) else {}).is_in


def _turns(session: str, vault: Vault) -> list[dict[str, Any]]:
    """Return the lines of the source of a session, turns from the second on; none if it is gone, damaged or large."""
    from memtool.vault.sources import objects_in, read_lines, source_ref

    with suppress(MemtoolError, OSError):
        ref = source_ref(vault, session) if session else ""
        if ref and vault.path(ref).stat().st_size <= limits.LARGEST_SOURCE:
            return list(objects_in(read_lines(vault, ref)))
    return []
