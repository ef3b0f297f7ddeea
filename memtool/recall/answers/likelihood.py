"""The likelihood that a memory is worth reading with a prompt: one logistic regression over a few signs. Pure.

Facts and notes, which were written to be kept, have other weights than what sessions say, and questions others than
tasks: a question is answered by what holds its words, a task by what touched the same files. `benchmarks.recall --fit`
fits the first, `benchmarks.answers` the others, with each project left out in turn, and says how true they are.
"""

from __future__ import annotations

import math

from memtool.named_tuple import NamedTuple
from memtool.vault.memory import CATEGORIES

LATER_FLOOR = 0.6  # of sessions after the second prompt, and for what goes on with it: those know their subject

RELEVANCE, CATEGORY, RECENCY, IMPORTANCE = 0.65, 0.20, 0.10, 0.05  # parts of the score
_UNDATED = 0.5  # recency of a memory without a date
_MANY_USES = 10  # from here on, further ones add nothing


class Signs(NamedTuple):
    """What speaks for a memory.

    Args:
        strength: the rarities of the words that it shares with the prompt: so unlikely is that by chance.
        share: of what the prompt is about, from 0 to 1, that it holds.
        coverage: the share of its statement that the prompt says.
        lead: the same of its title or first clause, which say what it is about.
        shared: the number of telling words that it shares with the prompt.
        ahead: how much more of the prompt it holds than the next best, by rarity.
        file: 1 if the prompt names a file that the session edited.
        words: of the prompt that are about something.
        pasted: 1 if the prompt is an issue, an error or a plan.
        is_here: 1 if it is of the project at hand, a part of that if it is of none.
        is_elsewhere: 1 if it is of another project.
        scope: the logarithm of the number of memories that are searched: so many could share as much by chance.
        cosine: of its vector and that of the prompt; 0 where no model has looked at both.
        gap: of the nearest memory its lead over the second; of any other what it lacks of the nearest.
    """

    strength: float = 0.0
    share: float = 0.0
    coverage: float = 0.0
    lead: float = 0.0
    shared: float = 0.0
    ahead: float = 0.0
    file: float = 0.0
    words: float = 0.0
    pasted: float = 0.0
    is_here: float = 0.0
    is_elsewhere: float = 0.0
    scope: float = 0.0
    cosine: float = 0.0
    gap: float = 0.0

    def by_name(self) -> dict[str, float]:
        """Return them as numbers by name, without what says nothing."""
        return {name: round(value, 2) for name, value in self._asdict().items() if value}


class Weights(NamedTuple):
    """The weight *of* each sign in the logarithm of the odds, the *bias*, and the *floor* of what is given."""

    of: Signs
    bias: float
    floor: float


KEPT = Weights(
    Signs(strength=0.53, share=2.15, coverage=1.78, lead=2.41, is_here=2.64, is_elsewhere=-3.16, scope=-1.0),
    bias=-3.25, floor=0.19,
)  # fmt: skip
KEPT_BY_MEANING = Weights(
    Signs(strength=0.36, share=2.51, coverage=2.29, lead=1.14, is_here=5.1, is_elsewhere=-1.83, scope=-1.0,
          cosine=3.96, gap=7.36),
    bias=-5.51, floor=0.19,
)  # fmt: skip
# Of the loss on projects left out (.163) strength wins .004, ahead .003, file .005, words .002, pasted .009.
TASK = Weights(Signs(strength=0.19, ahead=0.17, file=1.25, words=-0.05, pasted=1.53), bias=-3.5, floor=0.14)
# Of .103: strength .008, share .004, shared .004, ahead .004, file .003, words .003.
QUESTION = Weights(
    Signs(strength=0.35, share=2.1, shared=0.8, ahead=0.25, file=1.18, words=-0.11), bias=-4.13, floor=0.25
)
# Of a memory of no project. Fitted, it would be next to nothing, because prompts name few of those; but of the memories
# of a project that are filed under none, a prompt would then be given a third less.
OF_NO_PROJECT = 0.4
_MOST = {
    "strength": 14.0,
    "shared": 5.0,
    "ahead": 5.0,
    "words": 30.0,
}  # of a sign of a session: the weights were fitted within


def likelihood(signs: Signs, weights: Weights) -> float:
    """Return from 0 to 1 how likely a memory with these *signs* is worth reading."""
    odds = weights.bias + sum(weight * sign for weight, sign in zip(weights.of, signs, strict=True))
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))


def bounded(signs: Signs) -> Signs:
    """Return the *signs* of a session within the bounds that its weights were fitted in."""
    return signs._replace(**{name: max(-most, min(most, float(getattr(signs, name)))) for name, most in _MOST.items()})


def weighed(relevance: float, category: str, *, age_days: float | None, uses: int) -> float:
    """Return from 0 to 1 the worth of a memory with this *relevance*, *category*, age and number of uses.

    *age_days* is None for a memory without a date.
    """
    weight, days = CATEGORIES.get(category, CATEGORIES["general"])
    recency = _UNDATED if age_days is None else math.exp(-max(0.0, age_days) / days)
    importance = min(1.0, math.log(1 + max(0, uses)) / math.log(1 + _MANY_USES))
    return RELEVANCE * relevance + CATEGORY * weight + RECENCY * recency + IMPORTANCE * importance
