from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.question import WordList, synonyms_in
from memtool.text.tokens import stem, unspaced_runs

LIST = WordList("deploy use\ntry happy uber release  и")


def others(text: str) -> dict[str, set[str]]:
    found = synonyms_in(text, unspaced_runs(text))
    return {" ".join(meaning.own): {" ".join(other) for other in meaning.others} for meaning in found}


@pytest.mark.parametrize(
    ("text", "own", "other"),
    [
        ("redeem the vouchers", "voucher", "coupon"),
        ("满减优惠券叠加", "优惠 惠券", "voucher"),
        ("please roll back the release", "roll back", "回滚"),
        ("it rolled back by itself", "roll back", "rollback"),
        ("k8s 上的集群", "k8s", "kubernet"),
        ("write an add-on", "addon", "插件"),
    ],
)
def test_what_is_said_in_one_way_is_known_in_another(text: str, own: str, other: str) -> None:
    assert other in others(text)[own]


def test_a_phrase_is_one_only_where_its_words_follow_one_another_and_the_longest_entry_counts() -> None:
    assert "roll back" not in others("roll the barrel back")
    assert "验证" not in others("短信验证码收不到")


@given(st.text(max_size=300) | st.sampled_from(["the of and", "ความรัก", "안녕하세요", "ひらがな"]))
def test_any_text_can_be_looked_up(text: str) -> None:
    for meaning in synonyms_in(text, unspaced_runs(text)):
        assert meaning.own not in meaning.others
        assert meaning.others
        assert all(all(other) for other in meaning.others)


@pytest.mark.parametrize(
    ("word", "is_listed"),
    [("deploying", True), ("using", True), ("releases", True), ("us-east", False), ("re", False), ("部署", False)],
)
def test_a_word_is_known_by_its_stem(word: str, *, is_listed: bool) -> None:
    assert LIST.has_stem(stem(word)) is is_listed


def test_a_word_is_in_the_list_as_it_is() -> None:
    assert "uber" in LIST
    assert "и" in LIST
    assert "deployed" not in LIST
