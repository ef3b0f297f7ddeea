from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.prompts.clues import Clues, Held, Rarity
from memtool.recall.prompts.question import question_of
from memtool.recall.prompts.thesaurus import Synonyms
from memtool.text.tokens import index_terms


def clues_of(prompt: str, count: int = 1_000, others: float = 5.0, **frequency: int) -> Clues:
    question = question_of(prompt)
    return Clues(
        question, Rarity(count, dict.fromkeys(question.terms(), 0) | frequency), [others] * len(question.synonyms)
    )


def strength(prompt: str, text: str, **frequency: int) -> float:
    return clues_of(prompt, **frequency).held(frozenset(index_terms(text))).strength


@pytest.mark.slow
@given(st.text(max_size=200), st.text(max_size=200), st.integers(0, 10_000))
def test_a_share_is_a_share_whatever_is_asked_and_held(prompt: str, text: str, count: int) -> None:
    clues = clues_of(prompt, count)
    held = clues.held(frozenset(index_terms(text)))
    assert 0 <= held.share <= 1
    assert held.strength >= 0
    assert clues.held(frozenset()) == Held()


def test_a_rare_word_is_stronger_than_one_that_is_everywhere() -> None:
    assert strength("zeppelin", "zeppelin", zeppelin=2) > 3 * strength("zeppelin", "zeppelin", zeppelin=400)


def test_what_is_everywhere_is_not_rare_and_what_is_nowhere_is_the_rarest() -> None:
    rarity = Rarity(100, {"all": 100, "one": 1, "absent": 0})
    assert rarity.of("all") < 0.01
    assert rarity.of("absent") > rarity.of("one") > 4
    assert rarity.of("unasked") == 0  # nobody has looked where it occurs
    assert Rarity(0, {"stale": 5}).of("stale") == 0


def test_a_name_is_held_by_its_parts_and_better_by_its_whole() -> None:
    whole, parts = strength("getZeppelinById", "getZeppelinById"), strength("getZeppelinById", "the zeppelin")
    assert whole > 2 * parts > 0


@pytest.mark.parametrize(("text", "words"), [("解密失败", 2.0), ("解密", 1.0), ("失败", 0.0), ("解不密", 0.0)])
def test_characters_count_that_stand_together_and_tell_something(text: str, words: float) -> None:
    rare = Rarity(1_000, {}).of_count(0)
    assert strength("解密失败", text) == pytest.approx(words * rare)


def test_other_words_count_less_than_those_that_were_said_and_never_beside_them() -> None:
    same, other = strength("voucher", "voucher", voucher=5), strength("voucher", "an 优惠券", voucher=5)
    assert same > other > 0
    assert strength("voucher", "a voucher is an 优惠券", voucher=5) == same


def test_an_english_note_is_not_asked_for_chinese_words() -> None:
    clues = clues_of("refresh zeppelin 被盗用的后果")
    held = frozenset({"zeppelin"})
    assert clues.held(held, is_spaced=True).share > 1.5 * clues.held(held).share


def test_what_was_said_counts_whole_and_what_only_means_the_same_less() -> None:
    said = clues_of("the voucher file 解密").said
    assert (said["voucher"], said["解密"]) == (1.0, 1.0)
    assert 0 < said["file"] < said["coupon"] < 1
    assert "优惠" in said


def test_a_text_with_the_very_word_holds_no_less_than_one_with_another_for_it() -> None:
    clues = clues_of("voucher", others=7.0, voucher=300)
    assert clues.held(frozenset({"voucher", "coupon"})).strength >= clues.held(frozenset({"coupon"})).strength > 0


def test_what_occurs_nowhere_is_as_much_of_a_prompt_as_what_means_the_same() -> None:
    terms = frozenset(index_terms("the mebibyte block of 订单"))
    prompt = "the berth megabyte"
    known = {"berth": 5, "megabyt": 0}
    without = Clues(question_of(prompt)._replace(synonyms=()), Rarity(1_000, known), [])
    synonyms = (Synonyms(("megabyt",), (("mebibyt",),)),)
    asked = Clues(question_of(prompt)._replace(synonyms=synonyms), Rarity(1_000, known), [2.0])
    rarer = Clues(question_of(prompt)._replace(synonyms=synonyms), Rarity(1_000, {**known, "megabyt": 1}), [2.0])
    assert without.held(terms).share == 0
    assert asked.held(terms).share > rarer.held(terms).share > 0
