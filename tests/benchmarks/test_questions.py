from __future__ import annotations

from collections import Counter

from benchmarks.questions import half_typed, questions
from memtool.index import limits
from memtool.text.tokens import query_terms

ASKED = questions(100, 5)


def test_the_same_vault_is_asked_the_same_questions() -> None:
    assert questions(100, 5) == ASKED
    assert half_typed(100, 5) == half_typed(100, 5)


def test_there_are_as_many_of_each_kind_as_were_asked_for() -> None:
    kinds = ("English question", "Chinese question", "identifier", "one word", "long passage")
    assert Counter(question.kind for question in ASKED) == dict.fromkeys(kinds, 5)


def test_every_question_asks_for_something_and_for_no_more_than_memtool_looks_for() -> None:
    for question in [*ASKED, *half_typed(100, 5)]:
        assert 0 < len(query_terms(question.text)) <= limits.MOST_TERMS


def test_one_kind_is_chinese_and_one_is_long() -> None:
    by_kind = {question.kind: question.text for question in ASKED}
    assert any("\u4e00" <= char <= "\u9fff" for char in by_kind["Chinese question"])
    assert len(query_terms(by_kind["long passage"])) > 15
