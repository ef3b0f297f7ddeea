"""What a session came to, made of its turns without a model. Pure.

Everything in it was said. A role is claimed only where it is sure: the user chose among what was offered (a decision),
the user said always or never (a rule), a plan was not approved or a prompt not answered (open), a command passed.
All else is the user's words and what came of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from memtool.capture.turns import Turn
from memtool.text.languages import begins_with
from memtool.text.lines import shortened, width
from memtool.text.sentences import sentences
from memtool.text.similarity import words
from memtool.vault.prose import in_language
from memtool.vault.session_rows import Piece, Row, without_middle
from memtool.vault.sessions import AGENT, USER, KeyPoint

_WORDS = {
    "last": ("last: {}", "最后：{}"),
    "no plan": ("plan not approved, nothing of it was done: {}", "计划没有被批准，没有执行：{}"),
    "no answer": ("not answered: {}", "没有得到回答：{}"),
}

MOST_ROWS = 10  # turns that are rows of their own; of longer sessions, turns about the same thing share a row

_RISE, _LAST = 0.5, 2.0  # value of what the first turn told, rising to 1 with the last, which counts double
_CONTRADICTING, _CONTRADICTED = ("corrected", "rejected"), 0.25
_LEAST_DOUBTED = 0.8  # value of what the user contradicted, below which it is not told
_ASKED_FROM = 24  # bytes, eight Chinese characters; a shorter prompt ("yes", "commit") tells nothing
_REFUSED_FROM = 8  # bytes of what was typed on refusing a tool
_TYPED = {"rejected": 3.0, "corrected": 2.5}  # value of what the user typed within a row
_REFUSED_WEIGHT, _QUESTION_WEIGHT = 1.5, 0.7
_SIDE_QUESTION = 60  # columns of a first prompt that is not what the session is about
_TOPIC_ASKED, _TOPIC_ENDED, _WHOLLY_TOLD = 130, 130, 180  # columns
_MOST_DECISIONS, _MOST_RULES = 4, 6
_LONGEST_TYPED = 1_500  # columns; a longer prompt holds something that was pasted, whatever it says
_WIDEST_OPEN, _WIDEST_RULE, _WIDEST_COMMAND = 300, 220, 100
_CHECK = re.compile(
    r"(?i)(?<![a-z])(?:tests?|build|builds|lint|check|pytest|cargo|tsc|make|mypy|ruff|jest|vitest|gradlew?|mvn|vet)(?![a-z])"
)
_RUNNERS = frozenset(
    """
    bazel bun bundle cargo cmake composer dart deno dotnet flutter go gradle gradlew hatch just make meson mise mix mvn
    mvnw ninja npm npx nox pdm php pixi pnpm poetry python python3 rake sbt swift task tox uv uvx xcodebuild yarn zig
    """.split()
)
_CHANGE_FOLDER = re.compile(r"\Acd [^&;|]+(?:&&|;)\s*")
_NOISE = re.compile(r"\s*(?:2>&1|\|\s*(?:head|tail|grep|tee|cat|less)\b.*|\|\|.*|;\s*echo.*)\s*\Z")
_UNTOLD_BRANCHES = frozenset({"", "main", "master", "develop", "trunk", "HEAD"})


class Summary(NamedTuple):
    """The topic in one line, and what is worth knowing, each text on one line; files are not part of it.

    *rows* are what a summary without a model has in place of *key_points*.
    """

    topic: str = ""
    key_points: tuple[KeyPoint, ...] = ()
    rows: tuple[Row, ...] = ()
    decisions: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def summarise(turns: Sequence[Turn], *, branch: str = "", language: str = "en") -> Summary:
    """Return what *turns* came to. *language* is that of the few words that nobody said."""
    return Summary(
        topic=_topic(turns, branch, language),
        rows=tuple(_rows(turns)),
        decisions=tuple(_decisions(turns))[-_MOST_DECISIONS:],
        rules=tuple(dict.fromkeys(_rules(turns)))[-_MOST_RULES:],
        commands=tuple(_commands(turns)),
        open=tuple(_open(turns, language)),
    )


def left_something(turns: Sequence[Turn]) -> bool:
    """Return whether a session is worth a note: something was done, decided or left open, or it was a talk.

    One or two questions that were answered without a look at the project are not.
    """
    if len(turns) > 2 or any(turn.files or turn.runs or turn.looked or turn.chosen or turn.plan for turn in turns):
        return True
    return any(_tells(turn) and not (turn.answered and _is_question(turn.asked)) for turn in turns)


def _topic(turns: Sequence[Turn], branch: str, language: str) -> str:
    """Return the problem and how it ended: the first prompt that says something, and the best of the last answer."""
    ended = shortened(next((turn.ended for turn in reversed(turns) if turn.ended), ""), _TOPIC_ENDED)
    if ended and len(turns) > 1:  # it need not answer that prompt
        ended = in_language(_WORDS, language)["last"].format(ended)
    parts = [without_middle(_problem(turns), _TOPIC_ASKED), ended]
    topic = " → ".join(filter(None, parts))
    return f"{branch}: {topic}" if topic and branch not in _UNTOLD_BRANCHES else topic


def _problem(turns: Sequence[Turn]) -> str:
    """Return the first prompt that says something, if it is no side question."""
    told = [turn.asked for turn in turns if _tells(turn)]
    asked = next(iter([text for text in told[:2] if not _is_side_question(text)] or told), "")
    return asked or next((turn.asked for turn in turns if turn.asked), "")


def _tells(turn: Turn) -> bool:
    """Return whether what was typed tells something; what was typed on refusing a tool does, however short."""
    return len(turn.asked.encode("utf-8", "replace")) >= (_REFUSED_FROM if turn.refused else _ASKED_FROM)


def _is_question(text: str) -> bool:
    return text.endswith(("?", "？"))


def _is_side_question(text: str) -> bool:
    return _is_question(text) and width(text) < _SIDE_QUESTION


def _rows(turns: Sequence[Turn]) -> Iterator[Row]:
    told = _problem(turns)
    told = told if width(told) <= _WHOLLY_TOLD else ""  # by the topic
    for start, stop in _stretches(turns):
        first = turns[start]
        pieces: list[Piece] = []
        for at in range(start, stop):
            if at > start and _tells(turns[at]):
                pieces.append(Piece(f'"{turns[at].asked}"', _worth_of_asking(turns, at)))
            pieces += _pieces(turns, at)
        asked = first.asked if _tells(first) and first.asked != told else ""
        yield Row(asked, tuple(pieces), _weight(first))


def _pieces(turns: Sequence[Turn], at: int) -> Iterator[Piece]:
    turn = turns[at]
    factor = _RISE + (1 - _RISE) * (at / (len(turns) - 1) if len(turns) > 1 else 1)
    factor *= _LAST if at == len(turns) - 1 else 1.0
    is_doubted = turn.verdict in _CONTRADICTING
    factor *= _CONTRADICTED if is_doubted else 1.0
    pieces = (piece._replace(value=piece.value * factor) for piece in turn.told)
    told = (piece for piece in pieces if piece.value >= _LEAST_DOUBTED or not is_doubted)
    # What was offered on the way was taken up or not; at the end it may be what is open.
    return (piece for piece in told if at == len(turns) - 1 or not begins_with("offer", piece.text))


def _weight(turn: Turn) -> float:
    if turn.refused:
        return _REFUSED_WEIGHT
    return _QUESTION_WEIGHT if _is_question(turn.asked) else 1.0


def _worth_of_asking(turns: Sequence[Turn], at: int) -> float:
    return _weight(turns[at]) * _TYPED.get(turns[at - 1].verdict, 1.0)


def _stretches(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return where the rows begin and end: each turn a row, of a long session neighbours about the same thing."""
    borders = list(range(len(turns) + 1))
    likeness = [_likeness(turns[at - 1], turns[at]) for at in range(1, len(turns))]
    for at in sorted(range(1, len(turns)), key=lambda at: -likeness[at - 1]):
        if len(borders) - 1 <= MOST_ROWS:
            break
        borders.remove(at)
    return list(pairwise(borders))


def _likeness(turn: Turn, after: Turn) -> float:
    """Return how much *after* goes on with what *turn* was about; a short prompt always does."""
    if not _tells(after):
        return 2.0
    one, other = words(_about(turn)), words(_about(after))
    return len(one & other) / (min(len(one), len(other)) or 1)


def _about(turn: Turn) -> str:
    files = (file.rsplit("/", 1)[-1] for file in turn.files)
    return " ".join([turn.asked, *(piece.text for piece in turn.told[:6]), *files])


def _decisions(turns: Sequence[Turn]) -> Iterator[str]:
    for line in (line for turn in turns for line in turn.chosen):
        question, _, answer = line.partition(" → ")
        if not _is_question(answer):
            yield f"{shortened(question, 110)} → {shortened(answer, 100)} ({USER})"


def _rules(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the sentences in which the user said what is always or never to be done."""
    for turn in turns:
        is_typed = not turn.pasted and width(turn.asked) <= _LONGEST_TYPED
        for sentence in sentences(turn.asked) if is_typed else ():
            is_order = begins_with("standing", sentence) and not _is_question(sentence)
            if is_order and width(sentence) <= _WIDEST_RULE:
                yield f"{sentence} ({USER})"


def _commands(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the build or test command that passed most often."""
    passed: Counter[str] = Counter()
    for run in (run for turn in turns for run in turn.runs if not run.error):
        command = _NOISE.sub("", _NOISE.sub("", _CHANGE_FOLDER.sub("", run.command)))
        if _is_check(command) and width(command) <= _WIDEST_COMMAND:
            passed[command] += 1
    yield from (command for command, _ in passed.most_common(1))


def _is_check(command: str) -> bool:
    """Return whether *command* builds or tests: by the name of its program, or as what a runner is told to run."""
    parts = re.sub(r"^(?:[A-Z_]+=\S* +)+", "", command).split(maxsplit=1)
    program = parts[0].rsplit("/", 1)[-1] if parts else ""
    return program != "test" and bool(_CHECK.search(program) or (program in _RUNNERS and _CHECK.search(command)))


def _open(turns: Sequence[Turn], language: str) -> Iterator[str]:
    labels = in_language(_WORDS, language)
    last = turns[-1] if turns else Turn()
    if last.plan and last.plan_refused:
        yield f"{labels['no plan'].format(shortened(last.plan, 120))} ({AGENT})"
    elif last.asked and not (last.answered or last.files):
        yield f"{labels['no answer'].format(without_middle(last.asked, _WIDEST_OPEN))} ({USER})"
