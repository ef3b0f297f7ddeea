from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.likelihood import FLOOR, Signs, likelihood, weighed
from memtool.vault.memory import CATEGORIES

OF_SESSION = Signs(strength=1.0, ahead=-2.0, words=8.0, is_session=1.0, is_here=1.0)
OF_FACT = Signs(5.0, 0.5, 0.2, 0.2, is_here=1.0, scope=math.log(300))


def test_a_session_that_shares_little_is_below_the_floor_and_one_that_shares_much_above() -> None:
    much = OF_SESSION._replace(strength=5.0, share=0.8, shared=3.0, ahead=4.0, file=1.0)
    assert likelihood(OF_SESSION) < FLOOR < likelihood(much)


@pytest.mark.parametrize(
    "sign", ["strength", "share", "coverage", "lead", "shared", "ahead", "file", "pasted", "is_here", "cosine", "gap"]
)
def test_each_sign_speaks_for_a_memory(sign: str) -> None:
    more = OF_FACT._replace(**{sign: getattr(OF_FACT, sign) + 0.5})
    assert likelihood(more) > likelihood(OF_FACT)


def test_what_many_others_could_share_by_chance_or_is_of_another_project_is_less_likely() -> None:
    many, elsewhere = OF_FACT._replace(scope=math.log(10_000)), OF_FACT._replace(is_here=0.0, is_elsewhere=1.0)
    assert likelihood(many) < likelihood(OF_FACT)
    assert likelihood(elsewhere) < likelihood(OF_FACT) / 10


def test_a_long_prompt_shares_something_with_everything() -> None:
    assert likelihood(OF_SESSION._replace(words=28.0)) < likelihood(OF_SESSION)


@given(st.builds(Signs, *[st.floats(-1e6, 1e6)] * len(Signs._fields)))
def test_a_likelihood_is_one_whatever_the_signs(signs: Signs) -> None:
    assert 0 <= likelihood(signs) <= 1


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
