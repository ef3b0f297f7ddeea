from __future__ import annotations

import pytest

from memtool.recall.ledger import Ledger
from memtool.recall.prompts.topic import has_changed

AUTH = {"auth.md": 3, "jwt.md": 3}


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        (["pay.md", "refund.md"], True),
        (["pay.md", "refund.md", "auth.md"], True),
        (["pay.md", "auth.md"], False),
        (["auth.md"], False),
        ([], False),
    ],
)
def test_a_topic_changes_when_more_than_half_of_the_hits_are_new(hits: list[str], expected: bool) -> None:
    assert has_changed(Ledger(4, hits=AUTH), hits) is expected


def test_the_first_three_turns_find_the_topic() -> None:
    assert [has_changed(Ledger(turn, hits=AUTH), ["pay.md"]) for turn in (1, 2, 3, 4)] == [False, False, False, True]


def test_what_had_no_topic_cannot_change_it() -> None:
    assert not has_changed(Ledger(9), ["pay.md"])


def test_one_reminder_in_five_turns_is_enough() -> None:
    reminded = Ledger(hits=AUTH, reminded=4)
    turns = [turn for turn in range(5, 12) if has_changed(reminded._replace(turn=turn), ["pay.md"])]
    assert turns == [9, 10, 11]
