"""The engines that may keep an index, by name. Each is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from memtool.embeddings import Embedder
    from memtool.index.tables import Followed, Tables
    from memtool.workspace import Workspace

T = TypeVar("T")

FILES = "sqlite"
ENGINES = {FILES: "memtool.index.files:FileEngine", "postgres": "memtool.team.engine:PostgresEngine"}


class Engine(Protocol):
    """The keeper of one index. To make one opens nothing yet."""

    keeps_files: ClassVar[bool]  # in the vault's folder of state, which nothing else writes; else a server does

    @classmethod
    def of(cls, work: Workspace) -> Engine:
        """Return the engine of the vault at hand.

        Raises:
            BadSetting: the settings do not say where its index lies.
        """

    def use(self, place: Any, use: Callable[[Any], T], *, rebuild: bool = False) -> T:  # noqa: ANN401
        """Return the result of *use* on the `Index` at the `Place`: see `memtool.index.engine.use_index`."""

    def read_again(self, place: Any, refs: Sequence[str]) -> None:  # noqa: ANN401
        """Bring at least the files *refs* of the `Place` up to date in an index that can be used.

        Raises:
            MemtoolError: the index is as it was.
        """

    def current(self) -> AbstractContextManager[Tables]:
        """Give the index as it is, for the length of a `with` block: it is not built, updated or waited for.

        Raises:
            Busy: there is none, or none that can be used now; the sentence says why.
        """

    def follow(self, embedder: Embedder) -> Followed:
        """Return the index and the vectors that *embedder* made of it, for a process that holds them in memory."""


def engine_class(name: str) -> Any:  # noqa: ANN401  (each is made of something else)
    """Return the class of `Engine` called *name*."""
    module, _, kind = ENGINES[name].partition(":")
    return getattr(import_module(module), kind)


def engine_of(work: Workspace) -> Engine:
    """Return the engine of the vault at hand, which its settings name.

    Raises:
        BadSetting: they do not say where its index lies.
    """
    engine: Engine = engine_class(work.settings.index.engine).of(work)
    return engine


def files_in(folder: Path) -> Engine:
    """Return the engine of an index in files, in the folder of state of a vault."""
    engine: Engine = engine_class(FILES)(folder)
    return engine
