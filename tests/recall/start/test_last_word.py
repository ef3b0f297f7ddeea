from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from memtool.recall.start.last_word import LastWord

TAKEN_BACK = [
    ("Change of plan: UUIDv7 instead of ULIDs.", "use ULIDs for order ids, because they sort by time"),
    ("改用 UUIDv7，不再用 ULID", "订单号用 ULID，因为能按时间排序"),
    ("缓存不再用 Memcached，改用 Valkey", "缓存放在 Memcached 里"),
    ("把 ULID 换成 UUIDv7", "订单号由 ULID 生成"),
    ("No longer ULIDs: snowflake ids", "the ULID column was added"),
    ("switch from redis to valkey for the cache", "the cache is redis 7"),
    ("replace MySQL with PostgreSQL", "MySQL 8 is the database"),
    ("statt auth_v1.py nehmen wir auth_v2.py", "die Anmeldung steht in auth_v1.py"),
]
STILL_SO = [
    ("use a switch instead of linked ifelse", "fixed the chain in auth.go"),
    ("we drop the tests folder", "all of it passes with the new tests"),
    ("改用 UUIDv7，不再用 ULID", "令牌有效期为 24 小时"),
    ("UUIDv7 instead of ULIDs", "the ULIDX format is another one"),
    ("rather than waiting, poll", "the queue holds 200 jobs"),
]


@pytest.mark.parametrize(("later", "line"), TAKEN_BACK)
def test_what_the_user_takes_back_no_longer_stands(later: str, line: str) -> None:
    last_word = LastWord()
    assert last_word.lets_stand(later, by_user=True)
    assert not last_word.lets_stand(line)


@pytest.mark.parametrize(("later", "line"), STILL_SO)
def test_what_was_not_taken_back_stands(later: str, line: str) -> None:
    last_word = LastWord()
    last_word.lets_stand(later, by_user=True)
    assert last_word.lets_stand(line)


def test_the_agent_takes_nothing_back() -> None:
    last_word = LastWord()
    last_word.lets_stand("I used UUIDv7 instead of ULIDs.")
    assert last_word.lets_stand("use ULIDs for order ids")


def test_what_was_taken_back_takes_nothing_back_itself() -> None:
    last_word = LastWord()
    last_word.lets_stand("snowflake_ids instead of UUIDv7", by_user=True)
    assert not last_word.lets_stand("UUIDv7 instead of ULIDs", by_user=True)
    assert last_word.lets_stand("we had ULIDs once")


def test_what_was_said_later_than_what_takes_it_back_stands() -> None:
    last_word = LastWord()
    last_word.hear("UUIDv7 instead of ULIDs", "2026-01-02 10:00")
    assert not last_word.lets_stand("订单号用 ULID", when="2026-01-01 24:00")
    assert last_word.lets_stand("ULIDs again, for the log", when="2026-01-02 10:01")
    assert last_word.lets_stand("UUIDv7 instead of ULIDs", when="2026-01-01 10:00"), "it says so itself"


@pytest.mark.slow
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_taken(later: str, line: str) -> None:
    last_word = LastWord()
    assert last_word.lets_stand(later, by_user=True)
    last_word.lets_stand(line)
