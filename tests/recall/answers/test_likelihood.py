from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.likelihood import (
    KEPT,
    KEPT_BY_MEANING,
    QUESTION,
    TASK,
    Signs,
    Weights,
    bounded,
    likelihood,
    weighed,
)
from memtool.vault.memory import CATEGORIES

LITTLE = Signs(strength=1.0, ahead=-2.0, words=8.0)
MUCH = Signs(strength=9.0, share=0.8, shared=3.0, ahead=4.0, file=1.0, words=8.0)
OF_FACT = Signs(5.0, 0.5, 0.2, 0.2, is_here=1.0, scope=math.log(300))


@pytest.mark.parametrize("weights", [QUESTION, TASK])
def test_a_session_that_shares_little_is_below_the_floor_and_one_that_shares_much_above(weights: Weights) -> None:
    assert likelihood(LITTLE, weights) < weights.floor < likelihood(MUCH, weights)


@pytest.mark.parametrize(
    ("sign", "weights"),
    [
        ("ahead", TASK), ("file", TASK), ("pasted", TASK), ("shared", QUESTION), ("share", QUESTION),
        ("strength", KEPT), ("coverage", KEPT), ("lead", KEPT), ("is_here", KEPT), ("cosine", KEPT_BY_MEANING),
    ],
)  # fmt: skip
def test_each_sign_speaks_for_a_memory(sign: str, weights: Weights) -> None:
    more = OF_FACT._replace(**{sign: getattr(OF_FACT, sign) + 0.5})
    assert likelihood(more, weights) > likelihood(OF_FACT, weights)


def test_what_many_others_could_share_by_chance_or_is_of_another_project_is_less_likely() -> None:
    many, elsewhere = OF_FACT._replace(scope=math.log(10_000)), OF_FACT._replace(is_here=0.0, is_elsewhere=1.0)
    assert likelihood(many, KEPT) < likelihood(OF_FACT, KEPT)
    assert likelihood(elsewhere, KEPT) < likelihood(OF_FACT, KEPT) / 10


def test_a_long_prompt_shares_something_with_everything() -> None:
    assert likelihood(LITTLE._replace(words=28.0), QUESTION) < likelihood(LITTLE, QUESTION)


@given(st.builds(Signs, *[st.floats(-1e6, 1e6)] * len(Signs._fields)))
def test_a_likelihood_is_one_whatever_the_signs(signs: Signs) -> None:
    assert all(0 <= likelihood(each, TASK) <= 1 for each in (signs, bounded(signs)))
    assert abs(bounded(signs).ahead) <= 5


def test_signs_are_numbers_by_name_without_what_says_nothing() -> None:
    assert Signs(strength=5.004, is_here=1.0).by_name() == {"strength": 5.0, "is_here": 1.0}


def test_a_score_is_made_of_four_parts() -> None:
    assert weighed(0.5, "decision", age_days=0, uses=0) == pytest.approx(0.65 * 0.5 + 0.20 * 0.9 + 0.10)
    assert weighed(0.5, "decision", age_days=None, uses=10) == pytest.approx(0.65 * 0.5 + 0.20 * 0.9 + 0.05 + 0.05)


def test_a_conversation_ages_faster_than_an_identity() -> None:
    def loss(category: str) -> float:
        return weighed(0.5, category, age_days=0, uses=0) - weighed(0.5, category, age_days=90, uses=0)

    assert loss("conversation") > loss("bug") > loss("decision") > loss("identity") > 0


@given(st.sampled_from([*CATEGORIES, "made-up", ""]), st.floats(0, 1), st.floats(-9e9, 9e9), st.integers(0, 10**9))
def test_a_score_is_between_0_and_1(category: str, relevance: float, age: float, uses: int) -> None:
    assert 0 <= weighed(relevance, category, age_days=age, uses=uses) <= 1 + 1e-9
