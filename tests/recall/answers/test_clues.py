from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.clues import Clues, rarity
from memtool.recall.answers.question import question_of
from memtool.text.tokens import index_terms

RARE = rarity(0, 1_000)


def clues_of(prompt: str, count: int = 1_000, others: float = 5.0, **frequency: int) -> Clues:
    question = question_of(prompt)
    rarities = {term: rarity(frequency.get(term, 0), count) for term in question.terms()}
    return Clues(question, rarities, [others] * len(question.synonyms))


def strength(prompt: str, text: str, **frequency: int) -> float:
    return clues_of(prompt, **frequency).held(frozenset(index_terms(text)))[0]


@given(st.text(max_size=200), st.text(max_size=200), st.integers(0, 10_000))
def test_a_share_is_a_share_whatever_is_asked_and_held(prompt: str, text: str, count: int) -> None:
    clues = clues_of(prompt, count)
    shared, share = clues.held(clues.terms_in(index_terms(text)))
    assert 0 <= share <= 1
    assert shared >= 0
    assert clues.held(frozenset()) == (0, 0)
    assert clues.coverage(frozenset(index_terms(text))) <= 1


def test_a_rare_word_is_stronger_than_one_that_is_everywhere() -> None:
    assert strength("zeppelin", "zeppelin", zeppelin=2) > 3 * strength("zeppelin", "zeppelin", zeppelin=400)
    assert rarity(0, 100) > rarity(1, 100) > 4
    assert rarity(100, 100) < 0.01
    assert rarity(5, 0) == 0


def test_a_name_is_held_by_its_parts_and_better_by_its_whole() -> None:
    whole, parts = strength("getZeppelinById", "getZeppelinById"), strength("getZeppelinById", "the zeppelin")
    assert whole >= 2 * parts > 0


@pytest.mark.parametrize(("text", "words"), [("解密失败", 1.5), ("解密", 1.0), ("失败", 0.0), ("解不密", 0.0)])
def test_characters_count_that_are_together_and_tell_something(text: str, words: float) -> None:
    assert strength("解密失败", text) == pytest.approx(words * RARE)


def test_two_common_words_count_where_they_are_side_by_side() -> None:
    clues = clues_of("the new version of the zeppelin")
    beside, apart = (clues.held(clues.terms_in(index_terms(text)))[0] for text in ("a new version", "version, a new"))
    assert beside > apart


def test_other_words_count_less_than_those_that_were_said_and_never_beside_them() -> None:
    same, other = strength("voucher", "voucher", voucher=5), strength("voucher", "an 优惠券", voucher=5)
    assert same > other > 0
    assert strength("voucher", "a voucher is an 优惠券", voucher=5) == same


def test_an_english_note_is_not_asked_for_chinese_words() -> None:
    clues = clues_of("refresh zeppelin 被盗用的后果")
    held = frozenset({"zeppelin"})
    assert clues.held(held, is_spaced=True)[1] > 1.5 * clues.held(held)[1]


@pytest.mark.parametrize(
    ("text", "share"),
    [("zeppelins dock", 1.0), ("the zeppelin is late", 0.5), ("zeppelin", 1.0), ("飞艇", 0.0), ("", 0.0)],
)
def test_a_statement_is_covered_by_the_words_that_were_said(text: str, share: float) -> None:
    terms = frozenset(term for term in index_terms(text) if term not in ("the", "is"))
    assert clues_of("zeppelin docking").coverage(terms) == pytest.approx(share, abs=0.2)
