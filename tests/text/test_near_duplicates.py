from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.text.near_duplicates import contradicts, is_same, may_mean_the_same, statement

TWINS = [
    ("Access tokens live 24 hours.", "access tokens live 24 hours"),
    ("Access tokens live 24 hours.", "The access token lives 24 hours"),
    ("The API takes 1,000 requests a minute", "the API takes 1000 requests a minute!"),
    ("PostgreSQL runs with max_connections = 200", "PostgreSQL runs with `max_connections=200`."),
    ("We deploy on Fridays only after the smoke tests pass", "we deploy on friday only after smoke tests pass"),
    ("Run migrations before the deploy, never after it", "Run the migrations before deploy, never after it"),
    ("支付回调必须用原始请求体验签，先验签后解析。", "支付回调必须用原始请求体来验签,先验签后解析"),
    ("订单号由雪花算法生成", "订单号是由雪花算法生成的"),
    ("使用 JWT 鉴权", "使用JWT鉴权。"),
    ("日志保留 30 天", "日志保留３０天"),
    ("API 的限流是每分钟 100 次", "API的限流为每分钟100次"),
    ("テストは毎晩三時に実行される", "テストは、毎晩三時に実行される。"),
]
OTHERWISE = [
    ("Access tokens live 24 hours.", "Access tokens live 15 minutes."),
    ("Access tokens live 24 hours.", "Access tokens live 25 hours."),
    ("The API stores sessions in PostgreSQL", "The API stores sessions in MySQL"),
    (
        "Caching is enabled in staging by default for all services",
        "Caching is disabled in staging by default for all services",
    ),
    ("Deploys on Friday are allowed", "Deploys on Friday are not allowed"),
    ("ingest-agent runs v2.1.210 in production", "ingest-agent runs v2.1.211 in production"),
    ("The engine is written in C for the old boards", "The engine is written in C++ for the new boards"),
    ("访问令牌有效期是 24 小时", "访问令牌有效期是 15 分钟"),
    ("缓存在测试环境默认开启", "缓存在测试环境默认关闭"),
    ("允许在周五发布", "不允许在周五发布"),
    ("订单号由雪花算法生成", "订单号由数据库自增生成"),
    ("部署用 helm 完成", "部署用 kustomize 完成"),
]
OTHERWISE += [
    ("port 8443", "port 8444"),
    ("port 8444", "port 8443, since the firewall lets that through"),
    ("The gateway listens on port 8443", "The gateway listens on port 8444"),
    ("The gateway listens on port 8444", "The gateway listens on port 8443 behind the load balancer in staging"),
    ("网关端口是 8444", "网关端口是 8443，因为 443 被 nginx 占用"),
    ("The staging password is [redacted: password]", "The staging password is [redacted: password]"),
    ("测试库的密码是 [redacted: password]", "测试库的密码是 [redacted: password]"),
]
NEIGHBOURS = [
    ("Access tokens live 24 hours.", "Refresh tokens are opaque and stored hashed"),
    ("getUserById returns null for a deleted account", "getUsersByIds leaves it out of its result"),
    ("The label printer speaks ZPL", "Labels are printed in the warehouse"),
    ("Port 5432 is PostgreSQL", "Port 6432 is PgBouncer"),
    ("日志保留 30 天", "订单号由雪花算法生成"),
    ("项目用 pnpm 管理依赖", "项目用 pytest 跑测试"),
    ("The cache is Redis", "The cache is slow on Mondays"),
    ("The staging password is [redacted: password]", "getUserById returns null"),
]
NEWS = [
    ("Access tokens live 24 hours.", "Access tokens live 24 hours in staging."),
    ("Access tokens live 24 hours.", "Access tokens live 24 hours, because the review of March asked for it."),
    ("日志保留 30 天", "日志只保留 30 天"),
]


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_a_statement_in_nearly_the_same_words_is_the_same(one: str, other: str) -> None:
    assert is_same(statement(one), statement(other))
    assert is_same(statement(other), statement(one))
    assert not contradicts(statement(one), statement(other))


@pytest.mark.parametrize(("one", "other"), OTHERWISE)
def test_another_value_for_the_same_thing_contradicts_and_is_not_the_same(one: str, other: str) -> None:
    assert contradicts(statement(one), statement(other))
    assert contradicts(statement(other), statement(one))
    assert not is_same(statement(one), statement(other))


@pytest.mark.parametrize(("one", "other"), NEIGHBOURS)
def test_neighbours_are_neither(one: str, other: str) -> None:
    assert not contradicts(statement(one), statement(other))
    assert not is_same(statement(one), statement(other))


@pytest.mark.parametrize(("one", "other"), NEWS)
def test_what_adds_a_word_that_matters_is_new(one: str, other: str) -> None:
    assert not is_same(statement(other), statement(one))


def test_long_texts_are_compared_by_their_letters() -> None:
    text = " ".join(f"word{number} 单词" for number in range(1000))
    assert is_same(statement(text + " and a tail"), statement(text))
    assert not is_same(statement(text + " 7777"), statement(text))
    assert not is_same(statement(text), statement("other words of that length " * 500))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Caching is enabled", "Caching is disabled"),
        ("缓存默认开启", "缓存默认关闭"),
        ("Deploy with Helm", "Deploy with Kustomize"),
        ("部署用 helm", "部署用 kustomize"),
        ("Tokens live 24 hours", "Tokens live 15 hours"),
        ("Deploy on Friday", "Never deploy on Friday"),
    ],
)
def test_vectors_may_not_decide_on_opposites_names_and_numbers(one: str, other: str) -> None:
    assert not may_mean_the_same(one, other)
    assert not may_mean_the_same(other, one)


def test_vectors_may_decide_on_other_words() -> None:
    assert may_mean_the_same("Backups run at night", "The backup job starts after midnight")
    assert may_mean_the_same("备份在夜里进行", "每晚执行一次备份")


@pytest.mark.slow
@given(st.text())
def test_every_text_is_the_same_as_itself_and_does_not_contradict_itself(text: str) -> None:
    one = statement(text)
    assert is_same(one, one)
    assert not contradicts(one, one)


@pytest.mark.slow
@given(st.text(), st.text())
def test_sameness_and_contradiction_have_no_direction_and_exclude_each_other(one: str, other: str) -> None:
    left, right = statement(one), statement(other)
    assert is_same(left, right) == is_same(right, left)
    assert not (is_same(left, right) and contradicts(left, right))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a" * 300_000, "字" * 300_000, "9" * 300_000, "a b " * 100_000, "not " * 100_000])
def test_a_huge_text_is_compared_like_any_other(text: str) -> None:
    assert is_same(statement(text), statement(text + "."))
    assert not contradicts(statement(text), statement("a b c"))
    assert not may_mean_the_same(text, text)
