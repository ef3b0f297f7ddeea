"""The nearness of memories to a prompt by meaning, from the process that holds a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from memtool import service_client
from memtool.recall import limits
from memtool.recall.answers.question import without_pastes
from memtool.service_client import PROTOCOL, Address, ServiceCall, ServicePlace, Silent, leave_alone

_WORD = re.compile(r"[^\W\d_]+")


class Near(NamedTuple):
    """The *cosine* of the nearest vector of a chunk, those of its paragraphs and bullets included, with a text."""

    chunk_id: int
    cosine: float


class Nearness(NamedTuple):
    """The chunks that are *nearest* to a text in its scope, best first, and those that were *asked* for."""

    nearest: tuple[Near, ...] = ()
    asked: tuple[Near, ...] = ()


class Meaning(Protocol):
    """A source of the nearness of memories to one prompt. It has time to think between the two questions."""

    def begin(self, project: str) -> None:
        """Ask for the memories of *project* and of none; where it is empty, for all."""

    def nearness(self, chunk_ids: Sequence[int]) -> Nearness | None:
        """Return the nearest chunks, and how near *chunk_ids* are; None if there was no answer."""


class WarmMeaning:
    """`Meaning` of one prompt, asked of the process at *address*, which thinks while words are looked for."""

    def __init__(self, place: ServicePlace, address: Address, prompt: str) -> None:
        self._place = place
        self._address = address
        self._prompt = prompt
        self._call: ServiceCall | None = None

    def begin(self, project: str) -> None:
        """See `Meaning`."""
        texts = texts_of(self._prompt)
        if not texts:
            return
        try:
            self._call = ServiceCall(self._address, patience=service_client.DEADLINE)
            self._call.say({"protocol": PROTOCOL, "ask": "near", "texts": texts, "project": project})
        except Silent:
            self._give_up()

    def nearness(self, chunk_ids: Sequence[int]) -> Nearness | None:
        """See `Meaning`."""
        if not self._call:
            return None
        try:
            with self._call as call:
                call.say({"chunks": list(chunk_ids)})
                return nearness_in(call.hear().get("near"))
        except (Silent, TypeError, ValueError):
            self._give_up()
            return None

    def _give_up(self) -> None:
        self._call = None
        leave_alone(self._place)


def nearness_in(answer: Any) -> Nearness | None:  # noqa: ANN401  (another process may send anything)
    """Return the nearness in the *answer* of a process.

    Raises:
        TypeError, ValueError: it is nonsense.
    """
    if answer is None:
        return None
    nearest, asked = (tuple(Near(*each) for each in part[: limits.MOST_NEAR]) for part in answer)
    for near in (*nearest, *asked):
        if type(near.chunk_id) is not int:
            raise TypeError("an id of a chunk should be an integer")
        if not -1.01 <= near.cosine <= 1.01:
            raise ValueError("a cosine should be between -1 and 1")
    return Nearness(nearest, asked)


def texts_of(prompt: str) -> tuple[str, ...]:
    """Return the texts of *prompt* to compare with memories: all, or of a long one its first and last paragraph.

    A model reads only the first few hundred words, and in a long prompt these are a log or code, while the question
    comes before or after. Of 54 such prompts, embedding the whole never ranked the right memory first.
    """
    text = without_pastes(prompt).strip()
    if len(text) <= limits.LONGEST_COMPARED:
        return (text,) if text else ()
    paragraphs = list(_paragraphs(text)) or [text]
    return tuple(dict.fromkeys((paragraphs[0][: limits.LONGEST_COMPARED], paragraphs[-1][-limits.LONGEST_COMPARED :])))


def _paragraphs(text: str) -> Iterator[str]:
    """Give the paragraphs of *text* without code and lines of logs."""
    held: list[str] = []
    for line in [*text.split("\n"), ""]:
        if _is_prose(line):
            held.append(line.strip())
        elif held:
            yield " ".join(held)
            held = []


def _is_prose(line: str) -> bool:
    if line.startswith(("    ", "\t")) or not line.strip():
        return False
    found = _WORD.findall(line)
    is_enough = len(found) > 2 or not line.isascii()  # scripts without spaces have one word
    return is_enough and sum(map(len, found)) + line.strip().count(" ") >= 0.8 * len(line.strip())  # the rest are marks
