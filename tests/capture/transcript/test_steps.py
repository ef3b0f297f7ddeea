from __future__ import annotations

from hypothesis import given, strategies as st

from memtool.capture.conversation import EDITING_TOOLS, Step
from memtool.capture.transcript.steps import Steps, thin

KINDS = {
    "prompt": Step("prompt", "p" * 3_000),
    "answer": Step("answer", "答" * 3_000),
    "look": Step("tool", "ls", tool="Bash"),
    "edit": Step("tool", tool="Edit", file="/a.py"),
    "failure": Step("tool", "make", tool="Bash", error="e" * 600),
    "helper": Step("subagent", "s" * 2_000),
}


def weight(steps: list[Step]) -> int:
    return sum(len(step.text) + len(step.error) + len(step.file) for step in steps)


def test_few_steps_stay_as_they_are() -> None:
    steps = Steps()
    for step in KINDS.values():
        steps.add(step)
    assert list(steps) == list(KINDS.values())
    assert steps.left_out == 0


def test_a_step_is_changed_by_its_number() -> None:
    steps = Steps()
    number = steps.add(KINDS["look"])
    steps.add(KINDS["prompt"])
    steps.change(number, lambda step: step._replace(error="no"))
    steps.change(99, lambda step: step._replace(error="no"))
    assert [step.error for step in steps] == ["no", ""]


def test_what_was_left_out_is_counted_and_no_longer_changed() -> None:
    steps = Steps(bound=100_000)
    numbers = [steps.add(Step("tool", f"look {number}", tool="Read")) for number in range(2_000)]
    steps.change(numbers[1_000], lambda step: step._replace(error="late"))
    assert steps.left_out == 2_000 - len(list(steps)) > 0
    assert "late" not in [step.error for step in steps]


def test_prompts_edits_and_failures_outlast_looks_and_answers() -> None:
    steps = Steps(bound=1_500_000)
    for number in range(600):
        steps.add(Step("prompt", f"prompt {number}"))
        steps.add(Step("answer", "well " * 1_000))
        steps.add(Step("tool", "look", tool="Read", file=f"/looked/{number}"))
        steps.add(Step("tool", tool="Write", file=f"/src/{number}.py"))
        steps.add(Step("tool", tool="Edit", file="/src/again.py"))
        steps.add(Step("tool", "test", tool="Bash", error=f"failure {number}"))
    kept = list(steps)
    assert {step.file for step in kept if step.tool in EDITING_TOOLS} >= {f"/src/{n}.py" for n in range(600)}
    assert [step.text for step in kept if step.kind == "prompt"] == [f"prompt {n}" for n in range(600)]
    assert [step.error for step in kept if step.error] == [f"failure {n}" for n in range(600)]
    assert kept[1].text == kept[-5].text == "well " * 1_000
    assert weight(kept) <= 1_500_000


@given(names=st.lists(st.sampled_from(sorted(KINDS)), max_size=300), bound=st.integers(0, 400_000))
def test_thinning_keeps_the_order_the_ends_and_the_bound(names: list[str], bound: int) -> None:
    steps = dict(enumerate(KINDS[name] for name in names))
    kept = thin(steps, bound)
    ends = [number for number in steps if number < 20 or number >= len(names) - 60]
    assert list(kept) == sorted(kept)
    assert [kept[number] for number in ends] == [steps[number] for number in ends]
    assert weight(list(kept.values())) <= max(bound, weight([steps[number] for number in ends]))
    assert thin(kept, bound) == kept
