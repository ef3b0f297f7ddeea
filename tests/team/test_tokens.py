from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import given, strategies as st

from memtool.errors import UsageError
from memtool.team.postgres.connection import connect
from memtool.team.tokens import (
    AuditEntry,
    NoToken,
    Token,
    TokenNotFound,
    add_token,
    list_tokens,
    read_audit,
    recognised,
    record,
    revoke_token,
    rotate_token,
    text_of,
)

pytestmark = pytest.mark.slow
NOW = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
ANNA = Token("", "安娜", "anna@example.org", ("read", "write"), ("shop",))


@pytest.fixture
def db(database: str) -> Iterator[psycopg.Connection[Any]]:
    with connect(database) as db:
        yield db


def add(db: psycopg.Connection[Any], wanted: Token = ANNA, **more: Any) -> tuple[Token, str]:
    return add_token(db, wanted._replace(**more), os.urandom(32), NOW)


def test_a_token_is_known_by_its_text_and_kept_as_a_hash_only(db: psycopg.Connection[Any]) -> None:
    made, text = add(db, projects=("登录",))
    found = recognised(db, text, NOW)
    assert found.author == "安娜 <anna@example.org>"
    assert (found.id, found.scopes, found.vaults, found.projects) == (made.id, ANNA.scopes, ("shop",), ("登录",))
    assert text not in str(db.execute("SELECT row_to_json(token)::text FROM memtool.token AS token").fetchall())
    assert list_tokens(db)[0].used_at == NOW


@pytest.mark.parametrize(
    "forge", [str.upper, lambda text: text[:-1], lambda text: text + "a", lambda _: text_of(bytes(32))]
)
def test_a_forged_token_is_none(db: psycopg.Connection[Any], forge: Any) -> None:
    _, text = add(db)
    with pytest.raises(NoToken, match="no token"):
        recognised(db, forge(text), NOW)


@pytest.mark.parametrize(
    "text", ["", "x", "memtool_", "' OR true --", "memtool_' OR hash IS NOT NULL --", "memtool_\x00", "memtool_\ud800"]
)
def test_what_is_no_token_is_none(db: psycopg.Connection[Any], text: str) -> None:
    add(db)
    with pytest.raises(NoToken):
        recognised(db, text, NOW)


def test_an_expired_and_a_revoked_token_are_none(db: psycopg.Connection[Any]) -> None:
    _, expiring = add(db, expires_at=NOW + timedelta(days=1))
    made, text = add(db)
    recognised(db, expiring, NOW + timedelta(hours=23))
    with pytest.raises(NoToken, match="expired"):
        recognised(db, expiring, NOW + timedelta(days=1))
    assert revoke_token(db, made.id, NOW).revoked_at == NOW
    assert revoke_token(db, made.id, NOW + timedelta(days=1)).revoked_at == NOW
    with pytest.raises(NoToken, match="revoked"):
        recognised(db, text, NOW)
    with pytest.raises(TokenNotFound):
        rotate_token(db, made.id, os.urandom(32), NOW, timedelta())


def test_rotating_gives_another_that_lives_as_long_and_ends_the_old_one(db: psycopg.Connection[Any]) -> None:
    made, old = add(db, expires_at=NOW + timedelta(days=30))
    later = NOW + timedelta(days=29)
    renewed, new = rotate_token(db, made.id, os.urandom(32), later, timedelta(hours=1))
    assert renewed.expires_at == later + timedelta(days=30)
    assert recognised(db, new, later).vaults == ("shop",)
    recognised(db, old, later)
    with pytest.raises(NoToken, match="expired"):
        recognised(db, old, later + timedelta(hours=1))


@pytest.mark.parametrize(
    "fields",
    [
        {"holder": ""},
        {"holder": "x <y>"},
        {"holder": "x\ny"},
        {"address": "nobody"},
        {"address": "a@b\n"},
        {"scopes": ("admin",)},
        {"scopes": ()},
        {"vaults": ()},
        {"expires_at": NOW},
    ],
)
def test_a_token_that_cannot_be_is_refused(db: psycopg.Connection[Any], fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        add(db, **fields)
    assert not list_tokens(db)


def test_the_service_reads_tokens_and_writes_the_audit_and_no_more(db: psycopg.Connection[Any]) -> None:
    _, text = add(db)
    db.execute("SET ROLE memtool_gate")
    recognised(db, text, NOW)
    record(db, AuditEntry(NOW, "id", "安娜", "POST /search", "shop", 200, 12))
    for statement in (
        "UPDATE memtool.token SET scopes = '{read,write}'",
        "INSERT INTO memtool.token SELECT * FROM memtool.token",
        "DELETE FROM memtool.audit",
        "SELECT * FROM memtool.audit",
        "SELECT * FROM memtool.chunk",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(statement)


def test_the_audit_tells_who_asked_and_who_wrote(db: psycopg.Connection[Any]) -> None:
    for minute, (holder, deed) in enumerate(
        [("安娜", "POST /search"), ("Ben", "POST /save"), ("Ben", "GET /memories")]
    ):
        record(
            db, AuditEntry(NOW + timedelta(minutes=minute), "1", holder, deed, "shop", 200, 12, deed == "POST /save")
        )
    assert [each.deed for each in read_audit(db, since=NOW, limit=9)] == ["GET /memories", "POST /save", "POST /search"]
    assert [each.deed for each in read_audit(db, since=NOW, limit=9, writes=True)] == ["POST /save"]
    assert [each.deed for each in read_audit(db, since=NOW, limit=1, holder="Ben")] == ["GET /memories"]
    assert not read_audit(db, since=NOW, limit=9, vault="other")
    assert not read_audit(db, since=NOW + timedelta(days=1), limit=9)


@given(st.sets(st.sampled_from(["shop", "api", "*"]), min_size=1), st.sets(st.sampled_from(["shop", "api", "ops"])))
def test_a_token_reaches_what_it_names(named: set[str], served: set[str]) -> None:
    token = ANNA._replace(vaults=tuple(named))
    assert set(token.reach(served)) == (served if "*" in named else served & named)
