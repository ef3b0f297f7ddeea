"""Fitting the weights of evidence to the development part of the labelled set, by logistic regression."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.recall.labelled import Conversation
from benchmarks.recall.vaults import Shelf
from memtool.recall.prompts.evidence import Weights, features
from memtool.recall.prompts.finding import judged
from memtool.recall.prompts.question import ask

if TYPE_CHECKING:
    import sqlite3

    from memtool.recall.prompts.evidence import Evidence

_RIDGE = 1.0  # keeps weights small that the set says little of
_STEPS = 200
_LONGEST_STEP = 1.0  # of a weight; a whole step of Newton's may go too far at first


def fit(db: sqlite3.Connection, conversations: Iterable[Conversation], shelf: Shelf, today: dt.date) -> Weights:
    """Return the weights under which the labels of *conversations* are likeliest. Tolerated memories are left out.

    The logarithm of the scope is no weight but given: of so many chunks one is as likely as the other at first.
    """
    samples = list(_samples(db, conversations, shelf, today))
    values = np.array([features(evidence) for evidence, _ in samples])
    labels = np.array([float(label) for _, label in samples])
    given = np.array([-math.log(max(1, evidence.place.scope)) for evidence, _ in samples])
    ridge = np.diag([_RIDGE] * (values.shape[1] - 1) + [1e-6])
    weights = np.zeros(values.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(values @ weights + given, -30, 30)))
        slope = values.T @ (likely - labels) + ridge @ weights
        curve = (values * (likely * (1 - likely))[:, None]).T @ values + ridge
        step = np.linalg.solve(curve, slope)
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-9))
        weights -= step
        if float(np.abs(step).max()) < 1e-6:
            break
    return Weights(*(round(float(weight), 2) for weight in weights))


def _samples(
    db: sqlite3.Connection, conversations: Iterable[Conversation], shelf: Shelf, today: dt.date
) -> Iterator[tuple[Evidence, bool]]:
    for conversation in conversations:
        for prompt in conversation.prompts:
            for evidence, recalled in judged(db, ask(prompt.text), conversation.project, today):
                name = shelf.name_of(recalled.ref, recalled.first_line)
                if name not in prompt.tolerated:
                    yield evidence, name in prompt.relevant
