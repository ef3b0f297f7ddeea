"""What the sessions show, as shares; and the goals. All pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.recall.sessions import Turn

WINDOW = 5  # turns for which a memory is not given again


class Goal(NamedTuple):
    """What a measure should be: *limit* or more, or where *at_most*, or less."""

    measure: str
    limit: float
    at_most: bool = False

    def is_reached(self, value: float | None) -> bool:
        """Whether *value* reaches it. What could not be measured does not."""
        if value is None:
            return False
        return value <= self.limit if self.at_most else value >= self.limit


GOALS = (
    Goal("served", 0.80),
    Goal("relevant_lines", 0.60),
    Goal("disturbed", 0.05, at_most=True),
    Goal("repeats", 0, at_most=True),
)
MEANINGS = {
    "served": "prompts with a relevant memory that got one",
    "served_named": "of those that name what it is about",
    "relevant_lines": "injected lines that were relevant",
    "disturbed": "unrelated prompts that got anything",
    "disturbed_near": "prompts about the project, without a memory, that got anything",
    "repeats": "repeats within five turns",
    "found": "relevant memories that were given",
    "tokens": "tokens per prompt",
    "tokens_if_any": "tokens per prompt that got anything",
}


def measure(sessions: Sequence[Sequence[Turn]]) -> dict[str, float | None]:
    """Return each measure over *sessions*; None where there is nothing to measure it by.

    A prompt whose relevant memories were all given within the last five turns is owed nothing, and left out of
    `served`; so are such memories out of `found`. A line is relevant if it gives a memory with a label of its prompt.
    """
    steps = [step for turns in sessions for step in _steps(turns)]
    owed = [step for step in steps if step.owed]
    named = [step for step in owed if step.owed & step.turn.prompt.named]
    unrelated = [step for step in steps if step.turn.prompt.is_unrelated]
    near = [step for step in steps if step.turn.prompt.is_near]
    lines = [(name, step.turn.prompt) for step in steps for name in step.turn.given]
    return {
        "served": mean([not step.owed.isdisjoint(step.turn.given) for step in owed]),
        "served_named": mean([not step.owed.isdisjoint(step.turn.given) for step in named]),
        "relevant_lines": mean([name in prompt.relevant | prompt.tolerated for name, prompt in lines]),
        "disturbed": mean([step.turn.tokens > 0 for step in unrelated]),
        "disturbed_near": mean([step.turn.tokens > 0 for step in near]),
        "repeats": sum(step.repeats for step in steps),
        "found": mean([name in step.turn.given for step in owed for name in step.owed]),
        "tokens": mean([step.turn.tokens for step in steps]),
        "tokens_if_any": mean([step.turn.tokens for step in steps if step.turn.tokens]),
    }


def counts(sessions: Sequence[Sequence[Turn]]) -> dict[str, int]:
    """Return how much was measured."""
    steps = [step for turns in sessions for step in _steps(turns)]
    return {
        "conversations": len(sessions),
        "prompts": len(steps),
        "owed": sum(bool(step.owed) for step in steps),
        "unrelated": sum(step.turn.prompt.is_unrelated for step in steps),
        "lines": sum(len(step.turn.given) for step in steps),
    }


def outcome(turns: Sequence[Turn]) -> tuple[int, int, int, int]:
    """Return how many prompts of a session were served, its right and its wrong lines, and the unrelated disturbed."""
    steps = list(_steps(turns))
    right = [
        name in step.turn.prompt.relevant | step.turn.prompt.tolerated for step in steps for name in step.turn.given
    ]
    served = sum(not step.owed.isdisjoint(step.turn.given) for step in steps)
    disturbed = sum(step.turn.tokens > 0 for step in steps if step.turn.prompt.is_unrelated)
    return served, sum(right), len(right) - sum(right), disturbed


def missed(measures: dict[str, float | None]) -> list[str]:
    """Return the measures that miss their goal."""
    return [goal.measure for goal in GOALS if not goal.is_reached(measures[goal.measure])]


def faults(turns: Sequence[Turn]) -> Iterator[str]:
    """Give a sentence for each turn that was not served, or was given what does not belong to it."""
    for step in _steps(turns):
        given, prompt = step.turn.given, step.turn.prompt
        if step.owed and step.owed.isdisjoint(given):
            yield f"missed {' '.join(sorted(step.owed))}: {prompt.text}"
        wrong = [name for name in given if name not in prompt.relevant | prompt.tolerated]
        if wrong:
            yield f"wrongly gave {' '.join(wrong)}: {prompt.text}"


def table(parts: Mapping[str, dict[str, float | None]]) -> str:
    """Return a Markdown table with a column for each of *parts* and one for the goals."""
    goals = {goal.measure: f"{'≤' if goal.at_most else '≥'} {_shown(goal.measure, goal.limit)}" for goal in GOALS}
    rows = [["what", *(name.replace("_", "-") for name in parts), "goal"]]
    rows.append(["---"] * len(rows[0]))
    for name, meaning in MEANINGS.items():
        rows.append([meaning, *(_shown(name, part[name]) for part in parts.values()), goals.get(name, "")])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def as_json(parts: Mapping[str, Sequence[Sequence[Turn]]]) -> dict[str, Any]:
    """Return all measures for a program."""
    return {
        "format": 1,
        "goals": {goal.measure: {"most" if goal.at_most else "least": goal.limit} for goal in GOALS},
        "parts": {name: _part(sessions) for name, sessions in parts.items()},
    }


class _Step(NamedTuple):
    """A turn, the relevant memories that it is owed, and how many lines of it repeat what was just given."""

    turn: Turn
    owed: frozenset[str]
    repeats: int


def _steps(turns: Sequence[Turn]) -> Iterator[_Step]:
    for number, turn in enumerate(turns):
        recent = {name for before in turns[max(0, number - WINDOW) : number] for name in before.given}
        repeats = sum(name in recent for name in turn.given) + len(turn.given) - len(set(turn.given))
        yield _Step(turn, turn.prompt.relevant - recent, repeats)


def _part(sessions: Sequence[Sequence[Turn]]) -> dict[str, Any]:
    measures = measure(sessions)
    return {"counts": counts(sessions), "measures": measures, "missed": missed(measures)}


def mean(values: Sequence[float]) -> float | None:
    """Return the mean of *values*; None if there are none."""
    return sum(values) / len(values) if values else None


def _shown(measure: str, value: float | None) -> str:
    if value is None:
        return "nothing to measure"
    return f"{value:.0f}" if measure in ("repeats", "tokens", "tokens_if_any") else f"{value:.1%}"
