"""The audit trail: who asked and who wrote, when and of which vault. What they asked for is nowhere in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import psycopg

_FIELDS = "at, token, holder, deed, vault, status, ms, wrote"


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
    db.execute(f"INSERT INTO memtool.audit ({_FIELDS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", entry)


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
    query = f"SELECT {_FIELDS} FROM memtool.audit WHERE {where}"
    rows = db.execute(f"{query} ORDER BY at DESC LIMIT %s", [*values, limit])
    return [AuditEntry(*row) for row in rows]
