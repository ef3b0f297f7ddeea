"""Tokens of a team's people and machines, kept in the database as hashes, and the audit trail of their requests.

The audit says who asked and who wrote, when and in which vault. What they asked for is nowhere in it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import MemtoolError, UsageError
from memtool.team import limits

if TYPE_CHECKING:
    import psycopg

READ, WRITE, METRICS = "read", "write", "metrics"
SCOPES = (READ, WRITE, METRICS)
ALL = "*"  # the name for every vault
PREFIX = "memtool_"

_HOLDER = re.compile(r"[^\x00-\x1f\x7f<>\"]{1,80}")
_ADDRESS = re.compile(r"[^\s<>@\"]{1,64}@[^\s<>@\"]{1,190}")
_FIELDS = "id, holder, address, scopes, vaults, projects, created_at, expires_at, revoked_at, used_at"
_AUDITED = "at, token, holder, deed, vault, status, ms, wrote"


class Token(NamedTuple):
    """A token, without its secret. Times have their zone; *projects* is empty where all are meant."""

    id: str
    holder: str
    address: str
    scopes: tuple[str, ...]
    vaults: tuple[str, ...]
    projects: tuple[str, ...] = ()
    created_at: datetime | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None

    @property
    def author(self) -> str:
        """Who the holder's changes are by, as git writes it."""
        return f"{self.holder} <{self.address}>"

    def state(self, now: datetime) -> str:
        """Return `active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def covers(self, project: str) -> bool:
        """Return whether the token is for *project*; its name is compared as the database does, by letters of ASCII."""
        return not self.projects or _lower(project) in map(_lower, self.projects)

    def reach(self, vaults: Iterable[str]) -> tuple[str, ...]:
        """Return those of *vaults* that the token is for."""
        return tuple(name for name in vaults if ALL in self.vaults or name in self.vaults)


class NoToken(MemtoolError):
    """What was brought is no token that is good now."""

    hint = "Ask the operator of the service for another one (`memtool team token add`)."


class TokenNotFound(UsageError):
    """No token has that id."""

    hint = "`memtool team token list` shows the ids."


def add_token(db: psycopg.Connection[Any], wanted: Token, secret: bytes, now: datetime) -> tuple[Token, str]:
    """Keep a new token like *wanted*, whose id and times are set here; return it, and its text, which is kept nowhere.

    Raises:
        UsageError: a field is not as it should be.
    """
    _check(wanted, now)
    text = text_of(secret)
    made = wanted._replace(id=hashlib.sha256(b"id" + secret).hexdigest()[:10], created_at=now)
    db.execute(
        "INSERT INTO memtool.token (id, holder, address, hash, scopes, vaults, projects, created_at, expires_at)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            made.id, made.holder, made.address, hash_of(text), list(made.scopes), list(made.vaults),
            list(made.projects), now, made.expires_at,
        ),
    )  # fmt: skip
    return made, text


def rotate_token(
    db: psycopg.Connection[Any], token_id: str, secret: bytes, now: datetime, grace: timedelta
) -> tuple[Token, str]:
    """Return another token for the holder of *token_id*, and its text; the old one is good for *grace* more.

    Raises:
        TokenNotFound: there is none, or it is revoked.
    """
    old = get_token(db, token_id)
    if old.state(now) == "revoked":
        raise TokenNotFound(f"the token '{token_id}' is revoked")
    with db.transaction():
        # The new one is good for as long as the old one was.
        expires_at = now + (old.expires_at - old.created_at) if old.expires_at and old.created_at else None
        made = add_token(db, old._replace(expires_at=expires_at), secret, now)
        end = now + grace
        db.execute("UPDATE memtool.token SET expires_at = least(expires_at, %s) WHERE id = %s", (end, old.id))
    return made


def revoke_token(db: psycopg.Connection[Any], token_id: str, now: datetime) -> Token:
    """Revoke the token *token_id* from this moment on.

    Raises:
        TokenNotFound: there is none.
    """
    token = get_token(db, token_id)
    db.execute("UPDATE memtool.token SET revoked_at = coalesce(revoked_at, %s) WHERE id = %s", (now, token.id))
    return get_token(db, token_id)


def list_tokens(db: psycopg.Connection[Any]) -> list[Token]:
    """Return all tokens, the oldest first."""
    return [_token(row) for row in db.execute(f"SELECT {_FIELDS} FROM memtool.token ORDER BY created_at, id")]


def get_token(db: psycopg.Connection[Any], token_id: str) -> Token:
    """Return the token *token_id*.

    Raises:
        TokenNotFound: there is none.
    """
    row = db.execute(f"SELECT {_FIELDS} FROM memtool.token WHERE id = %s", (token_id,)).fetchone()
    if row is None:
        raise TokenNotFound(f"there is no token '{token_id}'")
    return _token(row)


def recognised(db: psycopg.Connection[Any], text: str, now: datetime) -> Token:
    """Return the token that *text* is.

    Raises:
        NoToken: it is none, or was revoked, or has expired.
    """
    found = None
    if text.startswith(PREFIX) and len(text) < 200:
        query = f"SELECT {_FIELDS} FROM memtool.token WHERE hash = %s"
        found = db.execute(query, (hash_of(text),)).fetchone()
    if found is None:
        raise NoToken("the request brings no token of this service")
    token = _token(found)
    if (state := token.state(now)) != "active":
        raise NoToken(f"the token '{token.id}' is {state}")
    if token.used_at is None or now - token.used_at > timedelta(hours=1):
        db.execute("UPDATE memtool.token SET used_at = %s WHERE id = %s", (now, token.id))
    return token


def text_of(secret: bytes) -> str:
    """Return the token that is made of *secret*, as its holder sends it."""
    if len(secret) < limits.TOKEN_BYTES:
        raise UsageError(f"a token is made of {limits.TOKEN_BYTES} bytes of chance or more")
    return PREFIX + base64.urlsafe_b64encode(secret).decode().rstrip("=")


def hash_of(text: str) -> bytes:
    """Return what is kept of the token *text*."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _lower(name: str) -> bytes:
    return name.encode("utf-8", "replace").lower()


def _token(row: Sequence[Any]) -> Token:
    values: list[Any] = [tuple(value) if isinstance(value, list) else value for value in row]
    return Token(*values)


def _check(wanted: Token, now: datetime) -> None:
    if not _HOLDER.fullmatch(wanted.holder.strip()):
        raise UsageError("the name of the holder is empty, too long, or holds signs that git cannot write")
    if not _ADDRESS.fullmatch(wanted.address):
        raise UsageError(f"'{wanted.address}' is no address of mail", hint="Commits bear it, such as anna@example.org.")
    if not wanted.scopes or set(wanted.scopes) - set(SCOPES):
        raise UsageError(f"a token has scopes among {', '.join(SCOPES)}")
    if not wanted.vaults:
        raise UsageError("the token is for no vault", hint="Name vaults with --vault-name, or `*` for all.")
    if wanted.expires_at is not None and wanted.expires_at <= now:
        raise UsageError("the token would have expired already")


class AuditEntry(NamedTuple):
    """An entry of the audit trail: a request.

    Args:
        at: when it came.
        token: the id of the token that it brought.
        holder: whose that is.
        deed: the call, without what it asked for, such as `POST /search`.
        vault: of which it asked; empty for all that the token may read.
        status: that of the answer.
        ms: how long it took.
        wrote: whether it was one that changes something.
    """

    at: datetime
    token: str
    holder: str
    deed: str
    vault: str
    status: int
    ms: int
    wrote: bool = False


def record(db: psycopg.Connection[Any], entry: AuditEntry) -> None:
    """Keep *entry* for good."""
    db.execute(f"INSERT INTO memtool.audit ({_AUDITED}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", entry)


def read_audit(
    db: psycopg.Connection[Any], *, since: datetime, holder: str = "", vault: str = "", writes: bool = False, limit: int
) -> list[AuditEntry]:
    """Return the newest entries since then, newest first; with *writes*, only those that may have changed something."""
    conditions: list[tuple[str, Sequence[object]]] = [("at >= %s", [since])]
    conditions += [("(holder = %s OR token = %s)", [holder, holder])] if holder else []
    conditions += [("vault = %s", [vault])] if vault else []
    conditions += [("wrote", [])] if writes else []
    where = " AND ".join(condition for condition, _ in conditions)
    values = [value for _, values in conditions for value in values]
    query = f"SELECT {_AUDITED} FROM memtool.audit WHERE {where}"
    rows = db.execute(f"{query} ORDER BY at DESC LIMIT %s", [*values, limit])
    return [AuditEntry(*row) for row in rows]
