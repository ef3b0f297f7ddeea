"""What each group of the thesaurus brings: found by holding sessions without it."""

from __future__ import annotations

from benchmarks.recall.labelled import Conversation, parse_conversations
from benchmarks.recall.sessions import Turn
from benchmarks.recall.synonyms import Gain, gains, table
from memtool.recall.prompts.question import question_of

VOUCHERS, FRIDAYS = "coupon, voucher, promo code", "friday, 周五, 星期五"
TALKS = parse_conversations(
    """\
# shop · shop · en
- who pays for a coupon?
  + v-1
- anything on 周五?
# chat · - · zh
- 你好
"""
)


def hold(conversation: Conversation) -> list[Turn]:
    """Give v-1 to whoever may mean a voucher, and x-1 to whoever may mean Friday (its stem is `fridai`)."""
    turns = []
    for prompt in conversation.prompts:
        said = {term for meaning in question_of(prompt.text).synonyms for other in meaning.others for term in other}
        given = tuple(name for name, term in (("v-1", "voucher"), ("x-1", "fridai")) if term in said)
        turns.append(Turn(prompt, given, len(given)))
    return turns


def test_a_group_brings_what_is_not_given_without_it() -> None:
    found = {gain.group.split(", ")[0]: gain for gain in gains(TALKS, hold)}
    assert found["coupon"][1:] == (1, 1, 0, 0)
    assert found["friday"][1:] == (0, 0, 1, 1)
    assert "database" not in found
    assert hold(TALKS[0])[0].given == ("v-1",)  # all groups are there again


def test_the_table_names_what_costs_more_than_it_brings() -> None:
    told = table([Gain(VOUCHERS, 2, 3, 1), Gain(FRIDAYS, wrong=1, disturbed=1), Gain("db, database")])
    assert "| coupon | +2 | +3 | +1 | +0 |" in told
    assert "3 groups speak in these conversations, 1 of them without effect." in told
    assert told.endswith("They cost as much as they bring, or more: friday.")
