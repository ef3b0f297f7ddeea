from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.answers.statements import LONGEST, Budget, choose, tells, terms_of, whole
from memtool.vault.memory import ASKED, COMMAND, DECISION, OPEN, RULE, USER
from memtool.vault.sessions import Line

ROOM = Budget(characters=1_000, notes=1, statements=9)
NOTE = (
    Line("Where do tokens expire?", ASKED, USER, number=1),
    Line("Tokens expire after 24 hours, see jwt.ts.", number=2, asked="Where do tokens expire?"),
    Line("All tests pass.", number=3),
    Line("支付回调的签名改用 HMAC-SHA256，旧签名保留七天。", DECISION, USER, number=4),
    Line("never log a token", RULE, USER, number=5),
    Line("The parser of routes was rewritten", number=6),
)


def texts(question: str, budget: Budget = ROOM) -> list[str]:
    return [line.text for line in choose(dict.fromkeys(terms_of(question), 2.0), NOTE, budget)]


def test_the_statements_that_answer_come_in_the_order_of_the_note() -> None:
    one = ROOM._replace(statements=1)
    assert texts("when do tokens expire", one) == ["Tokens expire after 24 hours, see jwt.ts."]
    assert texts("回调签名用哪种算法", one) == ["支付回调的签名改用 HMAC-SHA256，旧签名保留七天。"]
    assert texts("when do tokens expire", ROOM._replace(statements=2)) == [NOTE[1].text, NOTE[4].text]


def test_questions_and_statuses_are_no_statements() -> None:
    assert "All tests pass." not in texts("do all tests pass")
    assert NOTE[0].text not in texts("where do tokens expire")


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        (Line("don't cut the release on a Friday", ASKED, USER), True),
        (Line("发布前必须先跑回归测试", ASKED, USER), True),
        (Line("fix the login", ASKED, USER), False),
        (Line("Shall we not keep it?", ASKED, USER), False),
        (Line("the plan of the session phases is in docs…"), False),
        (Line("pnpm test:auth", COMMAND), True),
        (Line("rate limiting is done", OPEN), False),
        (Line("测试全部通过"), False),
        (Line("the cache holds 30 s (then questioned)"), False),
        (Line("缓存改为 5 秒"), True),
        (Line("A = 缓存 30 秒"), False),
    ],
)
def test_what_the_user_wants_is_a_statement_and_a_stump_is_none(line: Line, *, is_one: bool) -> None:
    assert tells(line) is is_one


def test_a_long_statement_gives_its_first_sentences() -> None:
    text = "重构后任务在添加时就持久化。" * 30
    assert whole(text, LONGEST) == text[: LONGEST // 14 * 14]
    assert whole("The cause is v2.1 of auth.ts. " + "x" * 400, LONGEST) == "The cause is v2.1 of auth.ts."
    assert whole("x" * 400, LONGEST) == ""


@given(st.lists(st.text(alphabet="ab解密. …?", max_size=400), max_size=6), st.integers(0, 500), st.integers(0, 3))
def test_nothing_is_cut_and_the_budget_is_kept(said: list[str], room: int, most: int) -> None:
    statements = [Line(text, number=at) for at, text in enumerate(said)]
    chosen = choose({"a": 1.0, "解密": 2.0}, statements, Budget(room, 1, most))
    assert len(chosen) <= most
    assert sum(len(line.text) for line in chosen) <= room
    assert all(said[line.number].startswith(line.text) and len(line.text) <= LONGEST for line in chosen)
