from __future__ import annotations

from typing import Any

import pytest

from memtool.consolidate.proposals import LIKELY, Proposal
from memtool.consolidate.review import Judge, fault_of
from memtool.memory.fact_book import Span
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
        ("Leave the tests of ci.yml out for now", "for the moment"),
        ("ci.yml 里的单元测试暂时跳过", "for the moment"),
        ("Take the second option with the nightly job", "an option"),
        ("就用第二个方案，每晚跑任务", "an option"),
        ("Which one do you want? → “Redis streams”", "what it is about"),
        ("要哪个？ → “Redis”", "what it is about"),
        ("not bad.", "too little"),
        ("The key must be AKIAIOSFODNN7EXAMPLE in dev.env", "a secret"),
        ("在函数 [REDACTED] 里比较 repls 和 repls2", "a secret"),
        ("errors.As() " + "must be used " * 20, "one claim"),
        ("This must be done in jwt.ts as well", "said before"),
    ],
)
def test_what_is_no_fact(text: str, why: str) -> None:
    assert why in fault_of(proposal(text), REDACT)


@pytest.mark.parametrize("text", ["All 214 tests pass now", "单元测试全部通过了，见 ci.yml"])
def test_a_status_that_the_agent_reports_is_none(text: str) -> None:
    assert "for the moment" in fault_of(proposal(text, author="agent"), REDACT)


@pytest.mark.parametrize(
    "text",
    [
        "Errors must be checked with errors.As()",
        "列表必须用 getTaskImmediate 读取",
        "`pnpm test` needs Redis 7",
        "The tests pass a reader to `ask`",
    ],
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
    assert desk.judge(proposal("errors must be checked with `errors.As()`.")).fate == "known"
    assert desk.judge(proposal("errors must be checked with errors.As()."))[1:] == ("known", "a fact says so", "a")
    assert desk.judge(proposal("Dates must be stored as UTC in orders.db")).fate == "rejected"


def test_what_an_agent_reads_anyway_is_no_fact() -> None:
    desk = judge(told=("- Always run `make lint` before a commit.",))
    assert desk.judge(proposal("Always run `make lint` before a commit", confidence=LIKELY)).fate == "rejected"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("The gateway must listen on port 8443", "The gateway must listen on port 9443"),
        ("访问令牌 access_token 的有效期必须是 24 小时", "访问令牌 access_token 的有效期必须是 2 小时"),
        ("Which store holds sessions? → Redis", "Which store holds sessions? → the database of the shop"),
        ("会话放在哪里？ → “Redis”", "会话放在哪里？ → “数据库”"),
        ("The session store is Redis", "The session store is no longer Redis but PostgreSQL"),
        ("会话存储用 Redis", "会话存储不再用 Redis，改用 PostgreSQL"),
    ],
)
def test_the_users_later_word_on_the_same_named_subject_supersedes_and_the_agents_waits(was: str, now: str) -> None:
    desk, later = judge(fact("old", was)), proposal(now)
    assert desk.judge(later)[1:] == ("supersedes", f"it was said later than '{was}' (2026-02-10)", "old")
    assert desk.judge(later._replace(author="agent", category="bug")).fate in ("review", "new")
    assert desk.judge(later._replace(at="2026-01-01")).fate == "review"


@pytest.mark.parametrize(
    ("was", "now", "fate"),
    [
        ("The storefront caches its pages in Redis", "The storefront caches its pages in Varnish", "review"),
        ("The storefront caches its pages in Redis", "The mail worker caches its pages in Redis", "review"),
        ("The gateway listens on port 8443", "The database listens on port 5432", "new"),
        ("缓存放在 Redis", "缓存放在 Memcached", "review"),
        ("use pnpm", "run the seed script with pnpm before the tests", "new"),
    ],
)
def test_likeness_alone_supersedes_nothing(was: str, now: str, fate: str) -> None:
    assert judge(fact("old", was)).judge(proposal(now)).fate == fate


def test_the_name_of_a_subject_decides_where_both_have_one() -> None:
    desk = judge(
        fact("ids", "Order ids are ULIDs.", author="agent", subject="order ids"),
        fact("sms", "短信用 Twilio 发送", author="agent", subject="短信发送"),
    )
    uuids = proposal("Order ids are UUIDs, version 7.", "decision", "agent")
    assert desk.judge(uuids._replace(subject="ids of orders")).other == "ids"
    assert desk.judge(uuids._replace(subject="Order IDs")).fate == "supersedes"
    assert desk.judge(uuids._replace(subject="order numbers on invoices")).fate == "new"
    aliyun = proposal("阿里云负责发送全部短信", "decision", "agent", subject="短信发送")
    assert (desk.judge(aliyun).fate, desk.judge(aliyun).other) == ("supersedes", "sms")


def test_a_proposal_is_known_by_what_it_says_and_where() -> None:
    one = proposal("Errors must be checked with errors.As()")
    assert one.id == proposal("errors must be checked with errors.As()!").id
    assert one.id != one._replace(project="other").id


def test_the_number_of_a_line_makes_no_other_error() -> None:
    told = '`go test ./...` failed: "cart/total.go:{}:7: undefined: 金额" → the field is called amount → passed'
    assert judge(fact("f", told.format(42), author="agent")).judge(proposal(told.format(57), "bug")).fate == "known"
    port = "the gateway listens on shop.internal:{}"
    assert judge(fact("f", port.format(8443))).judge(proposal(port.format(9443))).fate == "supersedes"
