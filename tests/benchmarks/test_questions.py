from __future__ import annotations

from benchmarks.questions import half_typed, questions
from memtool.index import limits
from memtool.text.tokens import query_terms

ASKED = questions(100, 5)


def test_every_question_asks_for_something_and_for_no_more_than_memtool_looks_for() -> None:
    for question in [*ASKED, *half_typed(100, 5)]:
        assert 0 < len(query_terms(question.text)) <= limits.MOST_TERMS
