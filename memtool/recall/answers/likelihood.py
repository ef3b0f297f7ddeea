"""The likelihood that a memory is worth reading: one logistic regression over a few signs, for all interfaces. Pure.

`benchmarks.recall --fit` fits the weights of facts and notes, `benchmarks.answers` those of what sessions say, beside
the first, with each project left out in turn, and says how true the likelihood is.
"""

from __future__ import annotations

import math

from memtool.named_tuple import NamedTuple
from memtool.vault.memory import CATEGORIES

FLOOR = 0.19  # of what a prompt is given
LATER_FLOOR = 0.6  # of sessions after the second prompt, and for what goes on with it: those know their subject


class Signs(NamedTuple):
    """What speaks for a memory.

    Args:
        strength: the rarities of the words that it shares with the prompt: so unlikely is that by chance. Of a session
            the best statement's, at most 14; a third of it beside a task, which names more than it asks for.
        share: of what the prompt is about, from 0 to 1, that it holds.
        coverage: the share of its statement that the prompt says.
        lead: the same of its title or first clause, which say what it is about.
        shared: of a session, the number of telling words that it shares with the prompt, at most 5.
        ahead: how much more of the prompt a session holds than the next best, by rarity, at most 5.
        file: 1 if the prompt names a file that the session edited.
        words: of the prompt that are about something, at most 30, where a session is judged.
        pasted: 1 if the prompt is an issue, an error or a plan.
        is_session: 1 for what a session says; all else was written to be kept.
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
    is_session: float = 0.0
    is_here: float = 0.0
    is_elsewhere: float = 0.0
    scope: float = 0.0
    cosine: float = 0.0
    gap: float = 0.0

    def by_name(self) -> dict[str, float]:
        """Return them as numbers by name, without what says nothing."""
        return {name: round(value, 2) for name, value in self._asdict().items() if value}


WEIGHTS = Signs(
    strength=0.53, share=2.15, coverage=1.78, lead=2.41, shared=0.5, ahead=0.2, file=1.5, words=-0.1, pasted=3.6,
    is_session=-4.0, is_here=2.64, is_elsewhere=-3.16, scope=-1.0, cosine=2.42, gap=8.88,
)  # fmt: skip
BIAS = -3.25
# Of a memory of no project. Fitted, it would be next to nothing, because prompts name few of those; but of the memories
# of a project that are filed under none, a prompt would then be given a third less.
OF_NO_PROJECT = 0.4
RELEVANCE, CATEGORY, RECENCY, IMPORTANCE = 0.65, 0.20, 0.10, 0.05  # parts of the worth of a memory


def likelihood(signs: Signs) -> float:
    """Return from 0 to 1 how likely a memory with these *signs* is worth reading."""
    odds = BIAS + sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))


def weighed(relevance: float, category: str, *, age_days: float | None, uses: int) -> float:
    """Return from 0 to 1 the worth of a memory with this *relevance*, *category*, age and number of uses.

    *age_days* is None for a memory without a date.
    """
    weight, days = CATEGORIES.get(category, CATEGORIES["general"])
    recency = 0.5 if age_days is None else math.exp(-max(0.0, age_days) / days)
    importance = min(1.0, math.log(1 + max(0, uses)) / math.log(11))  # more than ten uses add nothing
    return RELEVANCE * relevance + CATEGORY * weight + RECENCY * recency + IMPORTANCE * importance
