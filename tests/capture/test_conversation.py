from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.capture.turns import Step, Steps

KINDS = {
    "prompt": Step("prompt", "问" * 3_000),
    "answer": Step("answer", "a" * 3_000),
    "run": Step("tool", "make", tool="Bash", error="e" * 200),
    "edit": Step("tool", tool="Edit", file="/src/令牌.py"),
}


def weight(steps: list[Step]) -> int:
    return sum(len(step.text) + len(step.error) + len(step.file) for step in steps)


def test_few_steps_stay_as_they_are() -> None:
    steps = Steps()
    numbers = [steps.add(step) for step in KINDS.values()]
    assert list(steps) == list(KINDS.values())
    assert steps.last() == (numbers[-1], KINDS["edit"])


def test_a_step_is_changed_by_its_number() -> None:
    steps = Steps()
    number = steps.add(KINDS["run"])
    steps.change(number, lambda step: step._replace(error="失败"))
    steps.change(99, lambda step: step._replace(error="no"))
    assert [step.error for step in steps] == ["失败"]


@pytest.mark.slow
@given(names=st.lists(st.sampled_from(sorted(KINDS)), max_size=300), bound=st.integers(0, 400_000))
def test_the_first_and_the_newest_steps_stay_within_the_bound(names: list[str], bound: int) -> None:
    steps = Steps(bound)
    came = [KINDS[name]._replace(offset=at) for at, name in enumerate(names)]
    for step in came:
        steps.add(step)
    kept = list(steps)
    first, newest = kept[:20], kept[20:]
    assert first == came[:20]
    assert newest == came[len(came) - len(newest) :]
    assert weight(kept) <= max(bound, weight([*first, *newest[-1:]]))
    assert newest or len(came) <= 20


def test_a_change_to_a_step_that_had_to_go_is_passed_over() -> None:
    steps = Steps(bound=100_000)
    numbers = [steps.add(Step("tool", f"run {number}", tool="Bash")) for number in range(2_000)]
    steps.change(numbers[1_000], lambda step: step._replace(error="late"))
    assert 20 < len(list(steps)) < 1_000
    assert "late" not in [step.error for step in steps]
