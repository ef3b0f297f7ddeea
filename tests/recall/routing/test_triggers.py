from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.routing.triggers import atoms, find_triggers, normal, trie_of

LETTERS = st.text(alphabet="aB1_支付が한é /.#-\n\u200b\x00", max_size=40)


def found(text: str, *triggers: str) -> list[str]:
    return find_triggers(trie_of(map(normal, triggers)), normal(text))


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("为什么支付失败了", "支付"),
        ("fix the Checkout!", "checkout"),
        ("看看checkout的代码", "checkout"),
        ("ingest-agent起不来", "ingest-agent"),
        ("全角ＣＨＥＣＫＯＵＴ也算", "checkout"),
        ("the web\n  shop is down", "web shop"),
        ("src/payments/refund.ts fails", "src/payments/"),
        ("结账checkout页面", "结账checkout"),
        ("Café au lait", "cafe"),
        ("결제가 실패", "결제"),
        ("C++, of course", "c++"),
        ("see #4573.", "#4573"),
        ("使用(.*)+$的正则", "(.*)+$"),
    ],
)
def test_a_trigger_is_found_in_any_script(text: str, trigger: str) -> None:
    assert found(text, trigger) == [normal(trigger)]


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("checkouts", "checkout"),
        ("checkout_page", "checkout"),
        ("v2.1.210", "v2.1.21"),
        ("web-shop", "web shop"),
        ("付支", "支付"),
        ("c is not c#", "c++"),
        ("anything at all", "   "),
        ("", "checkout"),
    ],
)
def test_a_part_of_a_word_is_no_trigger(text: str, trigger: str) -> None:
    assert found(text, trigger) == []


def test_triggers_come_in_the_order_of_the_text_and_once() -> None:
    assert found("支付 then checkout, 支付失败", "checkout", "支付失败", "支付") == ["支付", "checkout", "支付失败"]


@given(LETTERS)
def test_cutting_a_text_loses_nothing(text: str) -> None:
    assert "".join(atoms(normal(text))) == normal(text)
    assert normal(normal(text)) == normal(text)


@pytest.mark.slow
@given(LETTERS, LETTERS, LETTERS)
def test_a_trigger_between_spaces_is_always_found(before: str, trigger: str, after: str) -> None:
    line = normal(trigger)
    assert found(f"{before} {trigger} {after}", trigger) == ([line] if line else [])


@pytest.mark.slow
def test_many_long_triggers_in_a_long_text_take_no_time() -> None:
    triggers = ["a " * 20 + str(number) for number in range(5_000)]
    assert found("a " * 50_000, *triggers) == []
