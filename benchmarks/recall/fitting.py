"""Fitting the weights of facts and notes to the development part of the labelled set, by logistic regression."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.recall.labelled import Conversation
from benchmarks.recall.vaults import Shelf
from memtool.recall.answers.likelihood import BIAS, WEIGHTS, Signs
from memtool.recall.answers.question import question_of
from memtool.recall.prompts.finding import candidates

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.recall.prompts.meaning import Meaning

_OF_WORDS = ("strength", "share", "coverage", "lead", "is_here", "is_elsewhere")
_OF_MEANING = ("cosine", "gap")
_NEAREST = 20  # chunks that are near and share no word: what a memory must have beside them is to be learned, too
_STEPS = 200


def fit(
    db: Tables,
    conversations: Iterable[Conversation],
    shelf: Shelf,
    today: dt.date,
    meaning: Callable[[str], Meaning] | None = None,
) -> dict[str, float]:
    """Return the weights under which the labels of *conversations* are likeliest. Tolerated memories are left out.

    The weight of the scope is no weight but given: of so many chunks one is as likely as the other at first. With
    *meaning*, what tells it of a prompt, those of meaning are fitted beside all others as they are, to the memories of
    which it says something.
    """
    names = _OF_MEANING if meaning else _OF_WORDS
    samples = [
        (signs, label)
        for signs, label in samples_of(db, conversations, shelf, today, meaning)
        if meaning is None or signs.cosine
    ]
    values = np.array([[*(getattr(signs, name) for name in names), 1.0] for signs, _ in samples])
    labels = np.array([float(label) for _, label in samples])
    known = np.array([odds_of(signs, names) if meaning else -signs.scope for signs, _ in samples])
    weights = fitted(values, labels, known, ridge=0.3 if meaning else 1.0)
    return dict(zip((*names, "bias"), weights.round(2).tolist(), strict=True))


def odds_of(signs: Signs, besides: Iterable[str]) -> float:
    """Return the logarithm of the odds of *signs* by all weights but those that are named *besides*."""
    left_out = signs._replace(**dict.fromkeys(besides, 0.0))
    return BIAS + sum(weight * sign for weight, sign in zip(WEIGHTS, left_out, strict=True))


def fitted(values: np.ndarray, labels: np.ndarray, known: np.ndarray | float = 0.0, ridge: float = 1.0) -> np.ndarray:
    """Return the weights of a logistic regression, that of the constant last; *known* is added to the odds.

    The *ridge* keeps weights small of which the samples say little.
    """
    ridges = np.diag([ridge] * (values.shape[1] - 1) + [1e-6])
    weights = np.zeros(values.shape[1])
    for _ in range(_STEPS):
        likely = likelihoods(values, weights, known)
        curve = (values * (likely * (1 - likely))[:, None]).T @ values + ridges
        step = np.linalg.solve(curve, values.T @ (likely - labels) + ridges @ weights)
        weights -= step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-9))  # a whole step may go too far at first
    return weights


def likelihoods(values: np.ndarray, weights: np.ndarray, known: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the likelihood of each row of *values*."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values @ weights + known, -30, 30))))


def samples_of(
    db: Tables,
    conversations: Iterable[Conversation],
    shelf: Shelf,
    today: dt.date,
    meaning: Callable[[str], Meaning] | None,
) -> Iterator[tuple[Signs, bool]]:
    """Give the signs of each memory that *conversations* may ask for, and whether they do."""
    for conversation in conversations:
        for prompt in conversation.prompts:
            of_prompt = meaning(prompt.text) if meaning else None
            question = question_of(prompt.text)
            found = candidates(db, question, conversation.project, today, of_prompt, nearest=_NEAREST)
            for each in found.memories:
                name = shelf.name_of(each.memory.path, each.memory.place.start_line)
                if name not in prompt.tolerated and each.signs:
                    yield each.signs, name in prompt.relevant
