from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.ledger import key_of
from memtool.recall.prompts.evidence import (
    FLOOR,
    FLOOR_WITH_MEANING,
    WEIGHTS,
    Evidence,
    Recalled,
    Weights,
    Whereabouts,
    covered,
    features,
    floor_of,
    importance,
    lead_of,
    relevance,
    relevance_by_words,
    score,
)
from memtool.recall.prompts.meaning import Likeness
from memtool.vault.kinds import CATEGORIES

PLAIN = Evidence(5.0, 0.5, 0.2, 0.2, Whereabouts(300, is_here=True))
shares = st.floats(0, 1)

FACT = Recalled("areas/global/facts.json", 3, 9, "fact", "", "decision", "2026-02-10", "facts", "text", "fact-1", 0.5)


@pytest.mark.slow
@given(st.builds(Evidence, st.floats(0, 1e6), shares, shares, shares, st.builds(Whereabouts, st.integers(0, 10**9))))
def test_relevance_is_a_share_whatever_the_evidence(evidence: Evidence) -> None:
    assert 0 <= relevance(evidence) <= 1


@pytest.mark.parametrize("field", ["strength", "share", "coverage", "lead"])
def test_more_evidence_makes_a_memory_more_relevant(field: str) -> None:
    assert relevance(PLAIN._replace(**{field: getattr(PLAIN, field) * 1.5})) > relevance(PLAIN)


def test_what_many_others_could_share_by_chance_is_less_relevant() -> None:
    many, few = (PLAIN._replace(place=PLAIN.place._replace(scope=scope)) for scope in (10_000, 10))
    assert relevance(many) < relevance(PLAIN) < relevance(few)


def test_a_memory_of_another_project_needs_far_more_evidence() -> None:
    elsewhere = PLAIN._replace(place=Whereabouts(300, is_elsewhere=True))
    assert relevance(elsewhere) < relevance(PLAIN) / 10
    assert relevance(elsewhere._replace(strength=30.0)) > 0.9


def test_weights_fit_their_features() -> None:
    assert len(features(PLAIN)) == len(WEIGHTS) == len(Weights._fields)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("zeppelins dock", 1.0),
        ("the zeppelin is late", 0.5),
        ("zeppelin", 0.5),
        ("飞艇", 0.0),
        ("", 0.0),
        ("to the", 0.0),
    ],
)
def test_a_text_is_covered_by_the_words_that_were_said(text: str, share: float) -> None:
    assert covered(text, {"zeppelin": 1.0, "dock": 1.0}) == share


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("Where zeppelins dock: a list", "Where zeppelins dock"),
        ("Tokens live ten minutes, because of support.", "Tokens live ten minutes"),
        ("订单号用雪花算法加业务前缀，不用数据库自增。", "订单号用雪花算法加业务前缀"),
        ("No: never use it.", "No: never use it."),
        ("", ""),
    ],
)
def test_a_memory_says_at_its_beginning_what_it_is_about(text: str, lead: str) -> None:
    assert lead_of(text) == lead


def test_a_long_prompt_needs_more_evidence_with_and_without_meaning() -> None:
    words = Evidence(5.0, 0.5, 0.5, 0.5, Whereabouts(100, is_here=True))
    for evidence in (words, words._replace(likeness=Likeness(0.5, 0.0, 0.1, 1.0))):
        floors = [floor_of(evidence, length) for length in (0, 15, 30, 60, 600)]
        assert floors == sorted(floors)
        assert floors[0] == floors[1] < floors[2] < floors[3] == floors[4]


def test_a_memory_of_no_project_stands_between_this_one_s_and_another_s() -> None:
    here, nowhere, elsewhere = (
        relevance(Evidence(5.0, 0.5, 0.5, 0.5, place))
        for place in (Whereabouts(100, is_here=True), Whereabouts(100), Whereabouts(100, is_elsewhere=True))
    )
    assert here > nowhere > elsewhere


def test_the_nearer_a_memory_the_more_relevant_it_is() -> None:
    near, far = (
        relevance(Evidence(0.0, 0.0, 0.0, 0.0, Whereabouts(100, is_here=True), Likeness(cosine, 0.0, gap, nearest)))
        for cosine, gap, nearest in ((0.8, 0.3, 1.0), (0.2, -0.5, 0.0))
    )
    assert near > FLOOR_WITH_MEANING > far


def test_what_is_told_is_numbers_and_names_likeness_where_meaning_spoke() -> None:
    assert PLAIN.told() == {"strength": 5.0, "share": 0.5, "coverage": 0.2, "lead": 0.2, "is_here": 1.0}
    told = PLAIN._replace(likeness=Likeness(0.514, 0.0, -0.1, 0.0)).told()
    assert told == {**PLAIN.told(), "cosine": 0.51, "gap": -0.1}


def test_a_score_is_made_of_four_parts() -> None:
    assert score(FACT, age_days=0, uses=0) == pytest.approx(0.65 * 0.5 + 0.20 * 0.9 + 0.10)
    assert score(FACT, age_days=None, uses=10) == pytest.approx(0.65 * 0.5 + 0.20 * 0.9 + 0.05 + 0.05)


def test_weights_and_half_lives_are_those_of_the_dialect() -> None:
    told = {
        "identity": (1.0, 3_650), "preference": (0.9, 365), "decision": (0.9, 180), "architecture": (0.8, 180),
        "project": (0.8, 90), "research": (0.8, 365), "code": (0.6, 90), "bug": (0.6, 90), "general": (0.5, 60),
        "conversation": (0.3, 30),
    }  # fmt: skip
    assert {name: CATEGORIES[name] for name in told} == told


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


def test_words_decide_where_meaning_says_little_and_not_where_it_says_nothing() -> None:
    def by_words(cosine: float, gap: float) -> float:
        near = Likeness(cosine, -0.1, gap, 0.0)
        return relevance_by_words(Evidence(5.5, 0.4, 0.1, 0.1, Whereabouts(100, is_here=True), near))

    plain = Evidence(5.5, 0.4, 0.1, 0.1, Whereabouts(100, is_here=True))
    assert relevance(plain) > FLOOR
    assert by_words(0.35, -0.05) == pytest.approx(relevance(plain))
    assert by_words(0.05, -0.4) == 0, "meaning denies it"
    assert relevance_by_words(plain) == 0, "nobody was asked what it means"
    weak = Evidence(1.0, 0.1, 0.1, 0.1, Whereabouts(100, is_here=True), Likeness(0.35, -0.1, -0.05, 0.0))
    assert relevance_by_words(weak) == 0, "words say as little"
