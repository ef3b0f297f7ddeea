"""Connections to PostgreSQL: opened within a time limit, with sentences for what goes wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memtool.errors import DatabaseUnavailable, ProviderMissing

if TYPE_CHECKING:
    import psycopg

CONNECT_SECONDS = 5
STATEMENT_SECONDS = 120  # of one statement; building an index for a model lifts it
READER, WRITER = "memtool_reader", "memtool_writer"  # the roles of migration 0001
_OPTIONS = f"-c search_path=memtool,public -c statement_timeout={STATEMENT_SECONDS}s -c jit=off"


def connect(dsn: str) -> psycopg.Connection[Any]:
    """Return a new connection in which each statement is a transaction of its own, unless one is begun.

    Raises:
        ProviderMissing: the extra is not installed.
        DatabaseUnavailable: there is no server, or it refuses.
    """
    try:
        import psycopg
    except ImportError:
        hint = "Run `pip install 'memtool-vault[postgres]'`."
        raise ProviderMissing("the engine postgres is not installed", hint=hint) from None
    with refusals():
        return psycopg.connect(dsn, **connection_options())


def connection_options() -> dict[str, Any]:
    """Return how each connection of memtool's is opened."""
    return {
        "autocommit": True,
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "memtool",
        "options": _OPTIONS,
    }


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Say in a sentence what the server refuses, or that it is gone. Errors of our own statements pass.

    Raises:
        DatabaseUnavailable: the same may work later, or after somebody has mended the server.
    """
    import psycopg

    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise DatabaseUnavailable(f"the database cannot be used now: {_first_line(error)}") from None
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseUnavailable(f"the database refuses: {_first_line(error)}", hint=_PRIVILEGES) from None


_PRIVILEGES = "Ask whoever runs it for the roles memtool_reader and memtool_writer."


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def enter(db: psycopg.Connection[Any], role: str, vaults: list[int] | tuple[int, ...], vault: str = "") -> None:
    """Let the transaction at hand be in *role* and see *vaults* only, and the row of the vault named *vault*."""
    db.execute(
        "SELECT set_config('role', %s, true), set_config('memtool.vaults', %s, true),"
        " set_config('memtool.vault', %s, true)",
        (role, f"{{{','.join(map(str, vaults))}}}", vault),
    )
