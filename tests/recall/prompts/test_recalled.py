from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.prompts.recalled import Recalled, importance, key_of, score
from memtool.vault.fact_rules import CATEGORIES

FACT = Recalled("areas/global/facts.json", 3, 9, "fact", "", "decision", "2026-02-10", "facts", "text", "fact-1", 0.5)


def test_a_score_is_made_of_four_parts() -> None:
    assert score(FACT, age_days=0, uses=0) == pytest.approx(0.65 * 0.5 + 0.20 * 0.9 + 0.10)
    assert score(FACT, age_days=None, uses=10) == pytest.approx(0.65 * 0.5 + 0.20 * 0.9 + 0.05 + 0.05)


def test_a_conversation_ages_faster_than_an_identity() -> None:
    def loss(category: str) -> float:
        memory = FACT._replace(category=category)
        return score(memory, age_days=0, uses=0) - score(memory, age_days=90, uses=0)

    assert loss("conversation") > loss("bug") > loss("decision") > loss("identity") > 0


def test_importance_grows_with_uses_and_ends_at_one() -> None:
    assert [importance(uses) for uses in (-1, 0, 10, 10_000)] == [0.0, 0.0, 1.0, 1.0]
    assert importance(1) < importance(3) < importance(9)


@given(st.sampled_from([*CATEGORIES, "made-up", ""]), st.floats(0, 1), st.floats(-9e9, 9e9), st.integers(0, 10**9))
def test_a_score_stays_between_0_and_1(category: str, relevance: float, age: float, uses: int) -> None:
    assert 0 <= score(FACT._replace(category=category, relevance=relevance), age_days=age, uses=uses) <= 1 + 1e-9


def test_a_fact_and_its_file_have_different_keys() -> None:
    assert FACT.key == key_of(FACT.ref, "fact-1") != key_of(FACT.ref)
