"""Fitting the weights of facts and notes to the development part of the labelled set, by logistic regression."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.recall.labelled import Conversation
from benchmarks.recall.vaults import Shelf
from memtool.recall.answers.likelihood import KEPT, KEPT_BY_MEANING, Signs, Weights
from memtool.recall.prompts.finding import candidates
from memtool.recall.prompts.question import question_of

if TYPE_CHECKING:
    from memtool.index.tables import Tables
    from memtool.recall.prompts.meaning import Meaning

_RIDGE, _RIDGE_WITH_MEANING = 1.0, 0.3  # keeps weights small that the set says little of
_NEAREST = 20  # chunks that are near and share no word: what a memory must have beside them is to be learned, too
_STEPS = 200
_LONGEST_STEP = 1.0  # of a weight; a whole step of Newton's may go too far at first


def fit(
    db: Tables,
    conversations: Iterable[Conversation],
    shelf: Shelf,
    today: dt.date,
    meaning: Callable[[str], Meaning] | None = None,
) -> Weights:
    """Return the weights under which the labels of *conversations* are likeliest. Tolerated memories are left out.

    The weight of the scope is no weight but given: of so many chunks one is as likely as the other at first. With
    *meaning*, what tells it of a prompt, only those memories count of which it says something.
    """
    like = KEPT_BY_MEANING if meaning else KEPT
    names = [name for name, weight in like.of._asdict().items() if weight and name != "scope"]
    samples = [
        (signs, label)
        for signs, label in samples_of(db, conversations, shelf, today, meaning)
        if meaning is None or signs.cosine
    ]
    values = np.array([[*(getattr(signs, name) for name in names), 1.0] for signs, _ in samples])
    labels = np.array([float(label) for _, label in samples])
    given = np.array([-signs.scope for signs, _ in samples])
    ridge = np.diag([_RIDGE if meaning is None else _RIDGE_WITH_MEANING] * len(names) + [1e-6])
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
    *fitted, bias = (round(float(weight), 2) for weight in weights)
    return Weights(Signs(**dict(zip(names, fitted, strict=True)), scope=-1.0), bias, like.floor)


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
