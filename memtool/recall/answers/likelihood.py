"""The likelihood that what a session's note says is worth reading with a prompt. Pure.

A logistic regression on few signs, one for questions and one for all other prompts: a question is answered by what
holds its words, a task by what touched the same files. `python -m benchmarks.answers` fits it, with each project left
out in turn, and says how far it can be trusted.
"""

from __future__ import annotations

import math

from memtool.named_tuple import NamedTuple

FLOOR = 0.15  # of the labelled sessions from here on half help; of those at the floor itself, one in five
LATER_FLOOR = 0.6  # after the second prompt of a session, and for what goes on with it: those know their subject
_MOST_ODDS, _MOST_LEAD, _MOST_SHARED, _MOST_WORDS = 4.0, 5.0, 4.0, 30.0


class Signs(NamedTuple):
    """What speaks for a session.

    Args:
        lead: how much more of the prompt its statements hold than those of the next best session, by rarity.
        shared: telling words of the prompt in its statements.
        file: 1 if the prompt names a file that it edited.
        odds: the logarithm of those that the best passage of its note has (`memtool.recall.prompts.evidence`).
        words: of the prompt that are about something.
        pasted: 1 if the prompt is an issue, an error or a plan.
    """

    lead: float
    shared: float
    file: float
    odds: float
    words: float
    pasted: float = 0.0

    def told(self) -> dict[str, float]:
        """Return them as numbers by name, without what says nothing."""
        return {name: round(value, 2) for name, value in self._asdict().items() if value}


class SignWeights(NamedTuple):
    """The weight of each sign in the logarithm of the odds."""

    lead: float
    shared: float
    file: float
    odds: float
    words: float
    pasted: float
    bias: float


# What a sign wins, as the loss on projects left out without it. Tasks (.177): lead .005, file .006, words .005,
# pasted .011; odds nothing by words, but with vectors they know what words do not. Questions (.127): odds .027, words
# .017, shared .002, file .001; a lead nothing.
OF_TASKS = SignWeights(lead=0.2, shared=0.0, file=1.65, odds=0.25, words=-0.06, pasted=1.55, bias=-2.1)
OF_QUESTIONS = SignWeights(lead=0.0, shared=0.7, file=0.9, odds=0.85, words=-0.16, pasted=0.0, bias=-0.2)


def likelihood(signs: Signs, weights: SignWeights) -> float:
    """Return from 0 to 1 how likely a session with these *signs* is worth reading."""
    values = features(signs)
    odds = weights.bias + sum(weight * value for weight, value in zip(weights, values, strict=False))
    return 1 / (1 + math.exp(-odds))


def features(signs: Signs) -> tuple[float, ...]:
    """Return *signs* within the bounds that the weights were fitted in."""
    lead = max(-_MOST_LEAD, min(_MOST_LEAD, signs.lead))
    odds = max(-_MOST_ODDS, min(_MOST_ODDS, signs.odds))
    return (lead, min(_MOST_SHARED, signs.shared), signs.file, odds, min(_MOST_WORDS, signs.words), signs.pasted)


def log_odds(likely: float) -> float:
    """Return the logarithm of the odds of something that is so *likely*."""
    bounded = min(1 - 1e-6, max(1e-6, likely))
    return math.log(bounded / (1 - bounded))
