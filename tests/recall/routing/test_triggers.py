from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall import limits
from memtool.recall.routing.triggers import (
    atoms,
    fault_in_glob,
    find_triggers,
    matches_glob,
    normal,
    trie_of,
)

LETTERS = st.text(alphabet="aB1_支付が한é /.#-\n\u200b\x00", max_size=40)

# Each of these was tried with the client: see tests/claude_code/test_rules.py.
SEEN = [
    ("src/pay/**", True),
    ("*.py", True),
    ("**/pay/*.py", True),
    ("src/{pay,zzz}/*.py", True),
    ("a.py", True),
    ("src/pay/", True),
    ("src/pay", True),
    ("pay/**", True),
    ("**/src/pay/**", True),
    ("/src/pay/**", True),
    ("src/[p]ay/*", True),
    ("SRC/pay/**", True),
    ("other/**", False),
    ("src/支付/**", False),
]


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


@pytest.mark.parametrize(("glob", "expected"), SEEN)
def test_a_glob_means_what_it_means_to_the_client(glob: str, *, expected: bool) -> None:
    assert matches_glob(glob, "src/pay/a.py") is expected


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("src/支付/**", "src/支付/回调.py", True),
        ("src/*.py", "src/pay/a.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "src/x/y/a.py", True),
        ("pay/*.py", "src/pay/a.py", False),
        ("src/payments", "src/payments2/a.py", False),
        ("[", "a[b", False),
        ("*.{ts,tsx}", "x/y.tsx", True),
        ("src/**", "", False),
    ],
)
def test_a_glob_matches_whole_names(glob: str, path: str, *, expected: bool) -> None:
    assert matches_glob(glob, path) is expected


@pytest.mark.parametrize(
    ("glob", "fault"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        ("**", "matches every file"),
        ("/**/*", "matches every file"),
        ("../x/**", "does not begin and stay in a project"),
        ("a/../../x", "does not begin and stay in a project"),
        ("~/x", "does not begin and stay in a project"),
        ("C:/x", "does not begin and stay in a project"),
        ("!src/**", "does not begin and stay in a project"),
        ("a\\b", "holds a character that no glob may hold"),
        ("a\nb", "holds a character that no glob may hold"),
        ("{a,b}" * 30, "means more than 64 globs"),
        ("x" * (limits.LONGEST_GLOB + 1), "has more than 200 characters"),
        ("src/支付/**", ""),
    ],
)
def test_a_bad_glob_is_named(glob: str, fault: str) -> None:
    assert fault_in_glob(glob) == fault


@given(st.text(alphabet="a*?[]{},/.支!-", max_size=60), st.text(alphabet="a/.支", max_size=60))
def test_any_glob_is_harmless(glob: str, path: str) -> None:
    assert matches_glob(glob, path) in (True, False)


@pytest.mark.parametrize("glob", ["*a" * 90 + "b", "**/" * 60 + "b", "{" * 90, "[a" * 60])
def test_a_hostile_glob_takes_no_time(glob: str) -> None:
    assert not matches_glob(glob, "a" * 2_000)
    assert not matches_glob(glob, "a/" * 2_000)
