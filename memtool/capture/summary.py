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

from memtool.capture.options import Meant, meant
from memtool.capture.turns import Turn
from memtool.text.languages import begins_with, starts_with
from memtool.text.lines import shortened, width
from memtool.text.markdown import statements
from memtool.text.sentences import sentences
from memtool.text.similarity import is_said, words
from memtool.vault.prose import in_language
from memtool.vault.session_rows import Piece, Row, without_middle
from memtool.vault.sessions import AGENT, USER, KeyPoint

_WORDS = {
    "last": ("last: {}", "最后：{}"),
    "no plan": ("plan not approved, nothing of it was done: {}", "计划没有被批准，没有执行：{}"),
    "no decision": ("asked at the end: {}", "最后的提问：{}"),
    "no answer": ("not answered: {}", "没有得到回答：{}"),
}

MOST_ROWS = 8  # of a longer session, turns about the same thing share a row
_OF_EACH_TURN = 0.2  # likeness that each turn more in a row costs: a row of many turns tells little of each

_RISE, _LAST = 0.5, 2.0  # value of what the first turn told, rising to 1 with the last; it and its prompt count double
_SAME_OPTION = 0.8  # of the words of an option
_REFERENCE_VALUE, _REFERENCE_BACK = 6.0, 6  # of an option that a prompt names; turns back in which it is looked for
_CONTRADICTING, _CONTRADICTED = ("corrected", "rejected"), 0.25
_PRAISED = 3.0  # value of what the user then found good: of several answers to one thing, the one that held
_LEAST_DOUBTED = 0.8  # value of what the user contradicted, below which it is not told
_ASKED_FROM = 24  # bytes, eight Chinese characters; a shorter prompt ("yes", "commit") tells nothing
_REFUSED_FROM = 8  # bytes of what was typed on refusing a tool
_TYPED = {"rejected": 3.0, "corrected": 2.5}  # value of what the user typed within a row
_REFUSED_WEIGHT, _QUESTION_WEIGHT = 1.5, 0.7
_SIDE_QUESTION = 60  # columns of a first prompt that is not what the session is about
_TOPIC_ASKED, _TOPIC_ENDED, _WHOLLY_TOLD = 130, 130, 180  # columns
_MOST_DECISIONS, _MOST_RULES = 4, 6
_WIDEST_DECISION, _WIDEST_ASKED = 225, 110  # columns; of the prompt that took an option
_LONGEST_TYPED = 1_500  # columns; a longer prompt holds something that was pasted, whatever it says
_WIDEST_QUESTION = 120
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
    endings = (turn.ended for turn in reversed(turns) if turn.ended and turn.verdict != "refuted")
    ended = shortened(next(endings, ""), _TOPIC_ENDED)
    if ended and len(turns) > 1:  # it need not answer that prompt
        ended = in_language(_WORDS, language)["last"].format(ended)
    parts = [without_middle(_problem(turns), _TOPIC_ASKED), ended]
    topic = " → ".join(filter(None, parts))
    return f"{branch}: {topic}" if topic and branch not in _UNTOLD_BRANCHES else topic


def _problem(turns: Sequence[Turn]) -> str:
    """Return the first prompt that says something, if it is no side question."""
    told = [turn for turn in turns if _tells(turn)]
    main = [turn.asked for turn in told[:2] if not (_is_side_question(turn.asked) or turn.refused)]
    asked = next(iter(main or [turn.asked for turn in told]), "")
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
            if at > start and _is_shown(turns[at]):
                pieces.append(Piece(f'"{turns[at].asked}"', _worth_of_asking(turns, at)))
            pieces += _references(turns, at)
            pieces += _pieces(turns, at)
        asked = first.asked if _is_shown(first) and first.asked != told else ""
        yield Row(asked, tuple(pieces), _weight(first) * (_LAST if stop == len(turns) else 1.0))


def _pieces(turns: Sequence[Turn], at: int) -> Iterator[Piece]:
    turn = turns[at]
    if turn.verdict == "refuted":
        return iter(())
    factor = _RISE + (1 - _RISE) * (at / (len(turns) - 1) if len(turns) > 1 else 1)
    factor *= _LAST if at == len(turns) - 1 else 1.0
    is_doubted = turn.verdict in _CONTRADICTING
    factor *= _CONTRADICTED if is_doubted else _PRAISED if _is_praised(turns, at) else 1.0
    pieces = (piece._replace(value=piece.value * factor) for piece in turn.told)
    told = (piece for piece in pieces if piece.value >= _LEAST_DOUBTED or not is_doubted)
    told = (piece for piece in told if not _is_option(piece, turns, at))
    # What was offered on the way was taken up or not; at the end it may be what is open.
    return (piece for piece in told if at == len(turns) - 1 or not begins_with("offer", piece.text))


def _references(turns: Sequence[Turn], at: int) -> Iterator[Piece]:
    """Give the options that the prompt names but does not take: what "option 5" is."""
    named = _meant(turns, at)
    if not any(one.is_chosen for one in named):
        yield from (Piece(f"{one.label} = {text}", _REFERENCE_VALUE) for one, text in named.items())


def _meant(turns: Sequence[Turn], at: int) -> dict[Meant, str]:
    """Return the options that the prompt names, and what they stand for."""
    return meant(turns[at].asked, [dict(turn.offered) for turn in turns[max(0, at - _REFERENCE_BACK) : at]])


def _is_praised(turns: Sequence[Turn], at: int) -> bool:
    return at + 1 < len(turns) and begins_with("praise", turns[at + 1].asked)


def _is_shown(turn: Turn) -> bool:
    """Return whether a row shows what was typed: it tells something, or says in a word that it was right."""
    return _tells(turn) or (bool(turn.asked) and begins_with("praise", turn.asked))


def _is_option(piece: Piece, turns: Sequence[Turn], at: int) -> bool:
    """Return whether *piece* is one of the options from which the user took one next: what they took is a decision."""
    if not turns[at].offered or at + 1 == len(turns) or not any(one.is_chosen for one in _meant(turns, at + 1)):
        return False
    told = [words(piece.text)]
    return any(is_said(words(text.removesuffix("…")), told, _SAME_OPTION) for _, text in turns[at].offered)


def _weight(turn: Turn) -> float:
    if turn.refused:
        return _REFUSED_WEIGHT
    return _QUESTION_WEIGHT if _is_question(turn.asked) else 1.0


def _worth_of_asking(turns: Sequence[Turn], at: int) -> float:
    return _weight(turns[at]) * _TYPED.get(turns[at - 1].verdict, 1.0)


def _stretches(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Return where the rows begin and end: each turn a row, of a long session neighbours about the same thing."""
    borders = list(range(len(turns) + 1))
    last = len(turns) - 1 if turns and _is_shown(turns[-1]) else len(turns)  # how it ended is a row of its own
    likeness = [0.0, *(_likeness(turn, after) for turn, after in pairwise(turns))]
    while len(borders) - 1 > MOST_ROWS:
        joined = {
            at: likeness[at] - _OF_EACH_TURN * (stop - start) for start, at, stop in _triples(borders) if at < last
        }
        borders.remove(max(joined, key=joined.__getitem__))
    return list(pairwise(borders))


def _triples(numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    return zip(numbers, numbers[1:], numbers[2:], strict=False)


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
    for at, turn in enumerate(turns):
        yield from _answers(turn)
        named = {} if turn.pasted else _meant(turns, at)
        if any(one.is_chosen for one in named):
            asked = without_middle(turn.asked, _WIDEST_ASKED)
            widest = (_WIDEST_DECISION - width(asked)) // len(named) - len("; 1 = ")
            options = "; ".join(f"{one.label} = {shortened(text, widest)}" for one, text in named.items())
            yield f'"{asked}" → {options} ({USER})'


def _answers(turn: Turn) -> Iterator[str]:
    for line in turn.chosen:
        question, _, answer = line.partition(" → ")
        if not re.search("[?？]", answer):
            yield f"{shortened(question, 110)} → {shortened(answer, 100)} ({USER})"


def _rules(turns: Sequence[Turn]) -> Iterator[str]:
    """Give the sentences in which the user said what is always or never to be done."""
    for before, turn in pairwise([Turn(), *turns]):
        is_plan = bool(before.plan) and turn.asked.startswith(before.plan)  # of the agent, taken as the next prompt
        is_typed = not (turn.pasted or is_plan) and width(turn.asked) <= _LONGEST_TYPED
        for sentence in sentences(turn.asked) if is_typed else ():
            is_order = begins_with("lasting", sentence) or starts_with("ordering", sentence)
            if is_order and not _is_question(sentence) and width(sentence) <= _WIDEST_RULE:
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
    elif asked := _offer_at_the_end(last.said):
        yield f"{labels['no decision'].format(asked)} ({AGENT})"


def _offer_at_the_end(said: str) -> str:
    """Return the question with which the message *said* ends, if it offers something: nobody answered it."""
    asked = next((each.text for each in statements(said)[-1:]), "")
    is_offer = _is_question(asked) and begins_with("offer", asked) and width(asked) <= _WIDEST_QUESTION
    return asked if is_offer else ""
