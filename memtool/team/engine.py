"""The engine that keeps indexes in PostgreSQL: its driver and its tables are imported where they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from memtool.errors import BadSetting
from memtool.settings import database_address
from memtool.vault.layout import DAILY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from memtool.embeddings import Embedder
    from memtool.index.engine import Index, Place
    from memtool.team.postgres.connection import Database
    from memtool.team.postgres.engine import FollowedDatabase
    from memtool.team.postgres.tables import PostgresTables
    from memtool.workspace import Workspace

T = TypeVar("T")


class PostgresEngine:
    """A vault's part of *database*; its daily notes lie in the folder *daily*. See `memtool.index.engines.Engine`."""

    keeps_files: ClassVar[bool] = False

    def __init__(self, database: Database, daily: str = DAILY) -> None:
        self.database = database
        self._daily = daily

    @classmethod
    def of(cls, work: Workspace) -> Self:
        """Return the engine of the vault at hand.

        Raises:
            BadSetting: the settings name no database.
        """
        from memtool.team.postgres.connection import Database, default_name

        address = database_address(work.settings, work.environ)
        if not address:
            hint = "Set `dsn` below [index] in your config.toml, or the variable MEMTOOL_POSTGRES."
            raise BadSetting("the engine postgres needs the address of a server", hint=hint)
        name = work.settings.index.name or default_name(work.vault.root)
        return cls(Database(address, name), work.vault.daily)

    def use(self, place: Place, use: Callable[[Index], T], *, rebuild: bool = False) -> T:
        """Return the result of *use* on the index, fresh from the vault."""
        from memtool.team.postgres.engine import use_database

        return use_database(place._replace(within=None), self.database, use, rebuild=rebuild)

    def read_again(self, place: Place, refs: Sequence[str]) -> None:  # noqa: ARG002
        """Bring the index up to date: a database may have been changed from another machine as well."""
        self.use(place, lambda _index: None)

    def current(self) -> AbstractContextManager[PostgresTables]:
        """Give the index as it is, for the length of a `with` block.

        Raises:
            Busy: there is none that can be used now.
        """
        from memtool.team.postgres.engine import current_tables

        return current_tables(self.database, self._daily)

    def follow(self, embedder: Embedder) -> FollowedDatabase:
        """Return the index and the vectors that *embedder* made of it."""
        from memtool.team.postgres.engine import FollowedDatabase

        return FollowedDatabase(self.current, embedder)
