from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.index import limits
from memtool.index.ranking import (
    adaptive_fusion,
    lexical_weight,
    reciprocal_rank_fusion,
    without_near_duplicates,
    yielding,
)
from memtool.index.tables import Semantic

ids = st.integers(1, 30)
lexical_scores = st.dictionaries(ids, st.floats(0.01, 50))
likenesses = st.dictionaries(ids, st.floats(-1, 1))


def order(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda each: (-scores[each], each))


def test_rrf_sums_one_over_sixty_plus_rank() -> None:
    scores = reciprocal_rank_fusion([[7, 8], [8, 9]])

    assert scores == {7: 1 / 61, 8: 1 / 62 + 1 / 61, 9: 1 / 62}


def test_adaptive_fusion_by_hand() -> None:
    scores = adaptive_fusion({1: 8.0, 2: 4.0}, Semantic({2: 0.65, 3: 0.35, 4: 0.3}, 0.35, 0.1), 0.6)

    assert scores == pytest.approx({1: 0.6, 2: 0.6 * 0.5 + 0.4, 3: 0.0, 4: 0.0})


def test_meaning_has_no_say_where_nothing_is_nearer_than_usual() -> None:
    # The best of them is best by a hair: what the words say stays as it is.
    scores = adaptive_fusion({1: 8.0, 2: 7.0}, Semantic({1: 0.20, 2: 0.21}, 0.2, 0.15), 0.3)

    assert order(scores) == [1, 2]


@pytest.mark.slow
@given(likenesses, st.floats(0.1, 10), st.floats(-1, 1))
def test_models_with_other_scales_give_the_same_order(semantic: dict[int, float], scale: float, shift: float) -> None:
    other = {each: scale * likeness + shift for each, likeness in semantic.items()}

    one = adaptive_fusion({1: 3.0}, Semantic(semantic, 0.0, 0.1), 0.5)
    same = adaptive_fusion({1: 3.0}, Semantic(other, shift, 0.1 * scale), 0.5)

    assert same == pytest.approx(one, abs=1e-6)


@pytest.mark.slow
@given(likenesses, st.floats(0.2, 0.7))
def test_without_words_no_order_of_likeness_is_turned_round(semantic: dict[int, float], weight: float) -> None:
    least = min(semantic.values(), default=0.0)
    scores = adaptive_fusion({}, Semantic(semantic, least, 0.1), weight)

    ranked = [scores[each] for each in order(semantic)]
    assert ranked == sorted(ranked, reverse=True)


@pytest.mark.slow
@given(lexical_scores, likenesses, ids, st.floats(0.2, 0.7), st.floats(0, 1))
def test_a_chunk_that_is_more_alike_never_sinks(
    lexical: dict[int, float], semantic: dict[int, float], one: int, weight: float, more: float
) -> None:
    before = adaptive_fusion(lexical, Semantic(semantic, 0.0, 0.1), weight).get(one, 0.0)
    semantic = semantic | {one: semantic.get(one, 0.0) + more}

    assert adaptive_fusion(lexical, Semantic(semantic, 0.0, 0.1), weight)[one] >= before - 1e-9


@given(st.floats(0, 1), st.floats(0, 1))
def test_words_weigh_more_the_more_of_the_query_they_cover(one: float, other: float) -> None:
    assert (one <= other) == (lexical_weight(one) <= lexical_weight(other)) or abs(one - other) < 1e-9
    assert 0.2 <= lexical_weight(one) <= 0.8


def test_words_decide_the_first_place_where_one_chunk_holds_the_whole_query() -> None:
    words, meaning = {1: 8.0, 2: 6.4}, {1: 0.35, 2: 0.6}  # chunk 2 is near in meaning and has most of the words

    def first(covered: float) -> int:
        scores = adaptive_fusion(words, Semantic(meaning, 0.1, 0.16), lexical_weight(covered))
        return max(scores, key=scores.__getitem__)

    assert (first(1.0), first(0.6)) == (1, 2)


def test_of_near_duplicates_the_best_is_kept() -> None:
    long = "Access tokens live for 24 hours, refresh tokens are kept in a cookie, and both are signed with one key."
    texts = {1: long, 2: "something else", 3: long.replace("24", "48"), 4: f"  {long}\n"}

    assert without_near_duplicates([1, 2, 3, 4], texts.__getitem__, 6) == [1, 2]


def test_only_the_first_texts_are_compared() -> None:
    read: list[int] = []

    def text_of(number: int) -> str:
        read.append(number)
        return f"text number {number} {number * 7919} {number * 104729}" * 3

    assert without_near_duplicates(range(200), text_of, 100) == list(range(100))
    assert len(read) <= 2 * limits.LOOKED_AT


def test_what_yields_comes_right_behind_and_scores_no_higher() -> None:
    scores = {1: 9.0, 2: 8.0, 3: 7.0, 4: 6.0, 5: 5.0}

    assert list(yielding(scores, {}).items()) == list(scores.items())
    assert list(yielding(scores, {1: 4, 2: 4, 5: 3}).items()) == [(3, 7.0), (4, 6.0), (1, 6.0), (2, 6.0), (5, 5.0)]
