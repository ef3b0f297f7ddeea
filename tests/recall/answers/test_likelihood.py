from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.likelihood import (
    FLOOR,
    OF_QUESTIONS,
    OF_TASKS,
    Signs,
    SignWeights,
    features,
    likelihood,
    log_odds,
)

NOTHING = Signs(lead=-2.0, shared=0.0, file=0.0, odds=-3.0, words=8.0)


@pytest.mark.parametrize("weights", [OF_QUESTIONS, OF_TASKS])
def test_a_session_that_shares_little_is_below_the_floor_and_one_that_shares_much_above(weights: SignWeights) -> None:
    much = Signs(lead=4.0, shared=3.0, file=1.0, odds=3.0, words=8.0)
    assert likelihood(NOTHING, weights) < FLOOR < likelihood(much, weights)


@pytest.mark.parametrize(
    ("sign", "weights"),
    [("lead", OF_TASKS), ("file", OF_TASKS), ("pasted", OF_TASKS), ("shared", OF_QUESTIONS), ("odds", OF_QUESTIONS)],
)
def test_each_sign_speaks_for_a_session(sign: str, weights: SignWeights) -> None:
    assert likelihood(NOTHING._replace(**{sign: 1.0}), weights) > likelihood(NOTHING, weights)


def test_a_long_prompt_shares_something_with_everything() -> None:
    assert likelihood(NOTHING._replace(words=28.0), OF_QUESTIONS) < likelihood(NOTHING, OF_QUESTIONS)


@given(st.builds(Signs, *[st.floats(-1e6, 1e6)] * 6))
def test_signs_keep_the_bounds_they_were_fitted_in(signs: Signs) -> None:
    lead, shared, _, odds, words, _ = features(signs)
    assert -5 <= lead <= 5
    assert -4 <= odds <= 4
    assert shared <= 4
    assert words <= 30


def test_odds_are_those_of_a_likelihood() -> None:
    assert log_odds(0.5) == pytest.approx(0.0)
    assert log_odds(0.0) == pytest.approx(-log_odds(1.0))
    assert log_odds(0.0) < -10
