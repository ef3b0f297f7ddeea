"""What a model is shown of a long conversation: what matters, in whole sentences, in the order in which it was said.

What is told first fills the room first: what was asked, the client's last summary, the last answer; then sentences
that tell of decisions, causes, errors and open ends; then how it began and ended; then the rest, the latest first.
"""

from __future__ import annotations

import itertools
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import NamedTuple

from memtool.capture.conversation import Conversation, Step
from memtool.capture.extractive.cues import DEED_CUES, cues_of
from memtool.capture.extractive.failures import failures_of, telling_line
from memtool.capture.extractive.passages import passages
from memtool.capture.extractive.sentences import shortened, width
from memtool.vault.prose import one_line

LIMIT = 24_000  # characters
GAP = "[…]"

_SPEAKERS = {"prompt": "USER", "answer": "AGENT", "subagent": "HELPER", "compaction": "EARLIER", "tool": "TOOL"}
_TELLING = DEED_CUES | {"rule", "decision", "discovery", "success", "open", "recommendation"}
_WHOLE = {"prompt": 600, "compaction": 6_000, "answer": 3_000}  # columns of a prompt, the last summary and answer
_WIDEST = 400  # columns of a sentence
_FIRST = 3  # answers that count as the beginning
_AROUND = 24  # characters that a piece may bring along: a speaker, marks for gaps
_MOST_FILES, _MOST_FAILURES = 60, 10


class _Piece(NamedTuple):
    """The sentence *place* of step *step*. The lower *rank* and then *far*, the sooner it is taken."""

    rank: int
    far: int
    step: int
    place: int
    text: str


class _Places(NamedTuple):
    """Where in the conversation things are: the last step of each kind, the first answers, the ends of turns."""

    last: dict[str, int]
    first: frozenset[int]
    ends: frozenset[int]
    total: int


def excerpt(conversation: Conversation, limit: int = LIMIT) -> str:
    """Return at most *limit* characters about *conversation*, one step to a line; `[…]` marks what is left out."""
    head, steps = _head(conversation, limit // 20), conversation.steps
    places = _places(steps)
    pieces = [piece for at, step in enumerate(steps) for piece in _pieces(places, at, step)]
    taken = _taken(pieces, limit - len(head) - 1)
    return "\n".join([head, *_lines(steps, pieces, taken)])


def _head(conversation: Conversation, widest: int) -> str:
    """Return what can be told without anyone's words: where, which files, what failed."""
    files = [_relative(file, conversation.cwd) for file in conversation.files]
    lines = [
        f"FOLDER: {_name(conversation.cwd)}",
        f"TITLE: {conversation.title}" if conversation.title else "",
        f"FILES WRITTEN: {_some(files, _MOST_FILES)}" if files else "",
    ]
    for failure in failures_of(conversation.steps)[-_MOST_FAILURES:]:
        end = "not solved" if failure.open else f"solved in {_some(failure.files, 3)}"
        lines.append(f"FAILURE: {shortened(one_line(failure.error), _WIDEST // 2)} ({end})")
    return "\n".join(shortened(one_line(line), widest) for line in lines if line)


def _places(steps: Sequence[Step]) -> _Places:
    told = [(at, step.kind) for at, step in enumerate(steps) if step.text]
    answers = [at for at, kind in told if kind == "answer"]
    turns = [at for at, step in enumerate(steps) if step.kind == "prompt"]
    ends = {answers[place - 1] for place in (bisect(answers, at) for at in turns) if place}
    return _Places({kind: at for at, kind in told}, frozenset(answers[:_FIRST]), frozenset(ends), len(steps))


def _pieces(places: _Places, at: int, step: Step) -> Iterator[_Piece]:
    far = places.total - at
    is_last = at == places.last.get(step.kind)
    if step.kind == "tool":
        if text := _tool_line(step):
            yield _Piece(3 if step.error else 6, far, at, 0, text)
        return
    if step.kind == "compaction" and not is_last:
        return  # the last one says what it said
    room = _WHOLE.get(step.kind, 0) if is_last or step.kind == "prompt" else 0
    for place, (text, cues) in enumerate(_said(step)):
        room -= width(text)
        if room >= 0:
            yield _Piece(1, min(at, far), at, place, text)
        else:
            yield _Piece(_rank(places, at, cues), far, at, place, text)


def _said(step: Step) -> list[tuple[str, frozenset[str]]]:
    found = [(shortened(passage.text, _WIDEST), cues_of(passage.text)) for passage in passages(step.text)]
    # A prompt that is nothing but code or a log was a prompt all the same.
    return found or [(text, frozenset()) for text in [shortened(one_line(step.text), _WIDEST // 2)] if text]


def _rank(places: _Places, at: int, cues: frozenset[str]) -> int:
    if cues & _TELLING:
        return 2
    if "chatter" in cues:
        return 7
    return 4 if at in places.first or at in places.ends else 5


def _tool_line(step: Step) -> str:
    text = shortened(one_line(f"{step.tool} {_name(step.file)} {step.text}"), _WIDEST // 2)
    if not step.error:
        return text
    return f"{text} FAILED: {shortened(telling_line(step.error) or one_line(step.error), _WIDEST)}"


def _taken(pieces: Iterable[_Piece], room: int) -> set[_Piece]:
    """Return the pieces that find room."""
    taken = set()
    for piece in sorted(pieces):
        cost = len(piece.text) + _AROUND
        if cost <= room:
            room -= cost
            taken.add(piece)
    return taken


def _lines(steps: Sequence[Step], pieces: Iterable[_Piece], taken: set[_Piece]) -> Iterator[str]:
    gap = False
    for at, group in itertools.groupby(pieces, key=lambda piece: piece.step):
        texts = [GAP if left_out else " ".join(piece.text for piece in run)
                 for left_out, run in itertools.groupby(group, key=lambda piece: piece not in taken)]  # fmt: skip
        if texts != [GAP]:
            yield f"{_SPEAKERS[steps[at].kind]}: {' '.join(texts)}"
        elif not gap:
            yield GAP
        gap = texts == [GAP]


def _some(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _relative(file: str, folder: str) -> str:
    for separator in ("/", "\\"):
        file = file.removeprefix(folder.rstrip(separator) + separator) if folder else file
    return file


def _name(path: str) -> str:
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
