"""The steps of a session within a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memtool.capture.conversation import Step

BOUND = 8 * 1_048_576  # bytes in memory

_FIRST = 20  # steps that are always kept
_STEP = 200  # bytes of a step beside its texts


class Steps:
    """Steps in order, numbered as they came. When they outgrow *bound* the oldest go, but for the first ones."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._steps: dict[int, Step] = {}
        self._size = 0
        self._next = 0

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps.values())

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

    def drop(self, number: int) -> None:
        """Forget the step with this *number*, if it is still there."""
        if old := self._steps.pop(number, None):
            self._size -= _weight(old)

    def _put(self, number: int, step: Step) -> None:
        self._steps[number] = step
        self._size += _weight(step)
        if self._size > self._bound:
            for oldest in list(self._steps)[_FIRST:-1]:
                if self._size <= self._bound * 2 // 3:
                    break
                self.drop(oldest)


def _weight(step: Step) -> int:
    return _STEP + step.text.__sizeof__() + step.file.__sizeof__() + step.error.__sizeof__()
