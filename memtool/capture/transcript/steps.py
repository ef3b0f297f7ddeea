"""The steps of a session within a bound: what was asked, changed and failed is kept longest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from memtool.capture.conversation import EDITING_TOOLS, Step
from memtool.capture.transcript.text import shorten

BOUND = 3 * 1_048_576  # bytes in memory

_FIRST, _LAST = 20, 60  # steps that are always kept
_SHORT = 500  # characters that are left of a text in the middle
_STEP = 200  # bytes of a step beside its texts

_Thinning: TypeAlias = Callable[[Step], Step | None]


class Steps:
    """Steps in order, numbered as they came; the middle is thinned when they outgrow *bound*."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._steps: dict[int, Step] = {}
        self._size = 0
        self._next = 0

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps.values())

    def __reversed__(self) -> Iterator[Step]:
        return reversed(self._steps.values())

    @property
    def left_out(self) -> int:
        """How many steps were left out."""
        return self._next - len(self._steps)

    def last(self) -> tuple[int, Step]:
        """Return the last step and its number; an empty prompt if there is none."""
        number = self._next - 1
        return number, self._steps.get(number, Step("prompt"))

    def add(self, step: Step) -> int:
        """Append *step* and return its number."""
        number = self._next
        self._next += 1
        self._put(number, step)
        return number

    def change(self, number: int, change: Callable[[Step], Step]) -> None:
        """Change the step with this *number*, if it is still there."""
        if old := self._steps.get(number):
            self._size -= _weight(old)
            self._put(number, change(old))

    def _put(self, number: int, step: Step) -> None:
        self._steps[number] = step
        self._size += _weight(step)
        if self._size > self._bound:
            self._steps = thin(self._steps, self._bound * 2 // 3)
            self._size = sum(map(_weight, self._steps.values()))


def thin(steps: Mapping[int, Step], bound: int) -> dict[int, Step]:
    """Return *steps* with the middle cut down until they fit into *bound* bytes, if the first and the last ones do."""
    kept = dict(steps)
    excess = sum(map(_weight, kept.values())) - bound
    middle = list(kept)[_FIRST:-_LAST]
    for thinning in (_without_looks, _short, _without_repeats(), _without_talk, _without_failures, _without_all):
        for number in middle:
            if excess <= 0:
                return kept
            if number in kept:
                excess -= _apply(thinning, kept, number)
    return kept


def _apply(thinning: _Thinning, kept: dict[int, Step], number: int) -> int:
    """Thin the step with this *number*; return how many bytes that saves."""
    old = kept[number]
    new = thinning(old)
    if new is old:
        return 0
    if new is None:
        del kept[number]
        return _weight(old)
    kept[number] = new
    return _weight(old) - _weight(new)


def _without_looks(step: Step) -> Step | None:
    is_look = step.kind == "tool" and step.tool not in EDITING_TOOLS and not step.error
    return None if is_look else step


def _short(step: Step) -> Step:
    if len(step.text) <= _SHORT and len(step.error) <= _SHORT // 2:
        return step
    return step._replace(text=shorten(step.text, _SHORT), error=shorten(step.error, _SHORT // 2, tail=0.6))


def _without_talk(step: Step) -> Step | None:
    return None if step.kind in ("answer", "subagent") else step


def _without_repeats() -> _Thinning:
    """Return a thinning that leaves one edit of each file."""
    seen: set[str] = set()

    def thinning(step: Step) -> Step | None:
        if step.tool not in EDITING_TOOLS or step.error:
            return step
        is_repeated = step.file in seen
        seen.add(step.file)
        return None if is_repeated else step

    return thinning


def _without_failures(step: Step) -> Step | None:
    return None if step.error else step


def _without_all(_step: Step) -> Step | None:
    return None


def _weight(step: Step) -> int:
    return _STEP + step.text.__sizeof__() + step.file.__sizeof__() + step.error.__sizeof__()
