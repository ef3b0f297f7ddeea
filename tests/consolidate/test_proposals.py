from __future__ import annotations

from typing import Any

import pytest

from memtool.consolidate.proposals import LIKELY, Judge, Proposal, fault_of
from memtool.memory.spans import Span
from memtool.redaction import make_redactor
from memtool.settings.sections import RedactSettings
from memtool.text.similarity import words
from memtool.vault.facts import Fact

REDACT = make_redactor(RedactSettings())
SPANS = (Span("3f2a9c#2", "…"),)


def proposal(text: str, category: str = "preference", author: str = "user", **more: Any) -> Proposal:
    return Proposal(text, category, author, "shop", SPANS, at="2026-03-01 10:00")._replace(**more)


def fact(fact_id: str, text: str, **more: Any) -> Fact:
    values = {"evidence": "seen", "timestamp": "2026-02-10", "author": "user"} | more
    return Fact(id=fact_id, fact=text, **values)


def judge(*facts: Fact, told: tuple[str, ...] = ()) -> Judge:
    return Judge(facts, [words(line) for line in told], REDACT)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Should errors.As() be used here?", "a question"),
        ("Use errors.As() instead of casts…", "a fragment"),
        ("All 214 tests pass now", "of the moment"),
        ("单元测试全部通过了，见 ci.yml", "of the moment"),
        ("x.py", "too little"),
        ("The key must be AKIAIOSFODNN7EXAMPLE in dev.env", "a secret"),
        ("errors.As() " + "must be used " * 20, "no single claim"),
        ("This must be done in jwt.ts as well", "leans on"),
    ],
)
def test_what_is_no_fact(text: str, why: str) -> None:
    assert why in fault_of(proposal(text), REDACT)


@pytest.mark.parametrize(
    "text", ["Errors must be checked with errors.As()", "列表必须用 getTaskImmediate 读取", "`pnpm test` needs Redis 7"]
)
def test_what_may_be_one(text: str) -> None:
    assert fault_of(proposal(text), REDACT) == ""


def test_without_evidence_or_from_a_tool_it_is_none() -> None:
    assert fault_of(proposal("Errors must be checked with errors.As()", spans=()), REDACT)
    assert fault_of(proposal("Errors must be checked with errors.As()", author="tool"), REDACT)


def test_what_stands_is_known_and_what_was_rejected_stays_away() -> None:
    desk = judge(
        fact("a", "Errors must be checked with errors.As()"),
        fact("b", "Dates must be stored as UTC in orders.db", status="archived"),
    )
    assert desk.judge(proposal("errors must be checked with `errors.As()`.")).fate == "new"
    assert desk.judge(proposal("errors must be checked with errors.As()."))[1:] == ("known", "a fact says so", "a")
    assert desk.judge(proposal("Dates must be stored as UTC in orders.db")).fate == "rejected"


def test_what_an_agent_reads_anyway_is_no_fact() -> None:
    desk = judge(told=("- Always run `make lint` before a commit.",))
    assert desk.judge(proposal("Always run `make lint` before a commit", confidence=LIKELY)).fate == "rejected"


def test_a_later_word_of_the_user_supersedes_and_the_agents_waits() -> None:
    desk = judge(fact("port", "The gateway must listen on port 8443"))
    later = proposal("The gateway must listen on port 9443")
    assert desk.judge(later)[1:] == (
        "supersedes",
        "it was said later than 'The gateway must listen on port 8443'",
        "port",
    )
    assert desk.judge(later._replace(author="agent", category="bug")).fate == "review"
    assert desk.judge(later._replace(at="2026-01-01")).fate == "review"
    chinese = judge(fact("ttl", "访问令牌 access_token 的有效期必须是 24 小时"))
    assert chinese.judge(proposal("访问令牌 access_token 的有效期必须是 2 小时")).fate == "supersedes"


def test_commands_do_not_contradict_each_other() -> None:
    desk = judge(fact("t", "Tests are run with `make test`.", tags=("command",)))
    other = proposal("Tests are run with `make test-all`.", "configuration", "agent", tags=("command",))
    assert desk.judge(other).fate == "new"


def test_a_proposal_is_known_by_what_it_says_and_where() -> None:
    one = proposal("Errors must be checked with errors.As()")
    assert one.id == proposal("errors must be checked with errors.As()!").id
    assert one.id != one._replace(project="other").id


@pytest.mark.parametrize(
    "known",
    [
        '`pytest tests/db` failed: "no such table: users" → migrations run first (conftest.py) → passed',
        '`pytest` 失败："表不存在" → 先运行迁移 (conftest.py) → 通过',
    ],
)
def test_what_runs_the_tests_contradicts_no_fix(known: str) -> None:
    shown = proposal("Its tests run by `pytest`.", "configuration", "tool", tags=("stack",), anchors=(("a", "b"),))
    assert judge(fact("f", known, category="bug", tags=("fix",))).judge(shown).fate == "new"


def test_the_number_of_a_line_makes_no_other_error() -> None:
    told = '`go test ./...` failed: "cart/total.go:{}:7: undefined: 金额" → the field is called amount → passed'
    assert judge(fact("f", told.format(42), author="agent")).judge(proposal(told.format(57), "bug")).fate == "known"
    port = "the gateway listens on shop.internal:{}"
    assert judge(fact("f", port.format(8443))).judge(proposal(port.format(9443))).fate == "supersedes"
