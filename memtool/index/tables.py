"""The seam between the index and the engine that keeps it: what search, recall and the service ask of the tables.

Ranking, chunks, terms and filters are the same code for every engine (`memtool.index.engines`). SQLite's tables are in
`memtool.index.schema`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memtool.index import limits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from memtool.index.filters import Filter


class Semantic(NamedTuple):
    """The semantic side of a search: the likeness of chunks, best first.

    *mean* is the likeness of any text of the vault to the query, *deviation* that of the vault's texts to each other.
    """

    scores: dict[int, float]
    mean: float
    deviation: float


class Rows(Protocol):
    """The rows that a statement gives, as a cursor of Python's database interface."""

    @property
    def description(self) -> Any: ...  # noqa: D102, ANN401

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...  # noqa: D102, ANN401

    def fetchmany(self, size: int = ..., /) -> list[Any]: ...  # noqa: D102

    def fetchall(self) -> list[Any]: ...  # noqa: D102


class Tables(Protocol):
    """An open index, to be read.

    A chunk is known by its number. A term is one that `memtool.text.tokens` makes; several of them, with a space
    between each two, are a phrase: terms side by side.
    """

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Rows:
        """Return what a SELECT gives that both engines understand alike.

        Its tables are `note`, `chunk`, `term_list`, `word` and `piece_list`; a `?` stands for each of *values*.
        """

    def one_state(self) -> AbstractContextManager[None]:
        """Let all that is read in a `with` block come from one state of the index, whatever is written meanwhile."""

    def chunk_count(self) -> int:
        """Return how many chunks there are."""

    def occurring(self, terms: Collection[str]) -> Collection[str]:
        """Return those of *terms* that any chunk holds."""

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many chunks each of *terms* occurs."""

    def phrase_frequency(self, phrase: str) -> int:
        """Return in how many chunks the terms of *phrase* stand side by side."""

    def best(
        self, terms: Sequence[str], depth: int, condition: str = "", values: Sequence[Any] = ()
    ) -> list[tuple[int, float]]:
        """Return the *depth* best chunks for *terms* or phrases, with their BM25, best first.

        Only those count whose row `c` of the table `chunk` meets the *condition*, if there is one.
        """

    def holding(self, any_of: Sequence[Sequence[str]], most: int) -> list[int]:
        """Return *most* chunks, in no order, that hold all terms of any of the lists."""

    def known_words(self, words: Collection[str]) -> list[str]:
        """Return those of *words*, folded, that any note holds, in order."""

    def words_with(self, part: str) -> list[str]:
        """Return the words that hold *part*."""

    def embedded_up_to(self, model: str) -> int:
        """Return the last chunk that *model* has embedded, or 0."""

    def remember_pieces(self, model: str, pieces: Mapping[int, Sequence[int]], up_to: int) -> None:
        """Write down the hashes of what has a vector in each chunk, and that *model* has come up to *up_to*."""

    def pieces(self, wanted: Filter) -> list[tuple[int, str, NDArray[np.int64]]]:
        """Return the chunks that are *wanted* and have vectors, in the order of their numbers.

        Each is its number, its project, and the hashes of what has a vector: the whole, then paragraphs and bullets.
        """


class VectorShelf(Protocol):
    """The vectors of one model, by the hash of their text. *notices* say what was found damaged."""

    notices: list[str]

    def __enter__(self) -> Any: ...  # noqa: ANN401

    def __exit__(self, *_: object) -> None: ...

    def __len__(self) -> int: ...

    def close(self) -> None:
        """Let go of what it holds."""

    def missing(self, hashes: Iterable[int]) -> list[int]:
        """Return those of *hashes* that have no vector yet, each once, in their order."""

    def add(self, hashes: Sequence[int], vectors: ArrayLike) -> None:
        """Keep a vector for each of *hashes* that has none yet. When this returns, no crash takes them back."""

    def semantic(self, db: Any, query: NDArray[np.float32], wanted: Filter, also: Iterable[int]) -> Semantic:  # noqa: ANN401
        """Return the likeness to *query* of the nearest chunks of the tables *db* that are *wanted*, and of *also*."""

    def complete(self) -> None:
        """Make ready for searches, now that each chunk has its vectors."""


class HeldVectors(Protocol):
    """Vectors in memory, by the hash of their text."""

    def rows(self, hashes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each of *hashes*, -1 where it has no vector."""

    def matrix(self) -> NDArray[np.float32]:
        """Return all vectors, for the rows that were last asked for: (rows, dimension)."""


class Followed(Protocol):
    """The index of a vault and the vectors of a model, wherever they are kept."""

    def state(self) -> object:
        """Return a value that changes whenever the index or the vectors do.

        Raises:
            Busy: they cannot be read now.
        """

    def opened(self) -> AbstractContextManager[tuple[Tables, HeldVectors]]:
        """Give the index and the vectors for the length of a `with` block. Matrices stay usable after it.

        Raises:
            Busy: there is no index that can be used now.
        """

    def close(self) -> None:
        """Let go of what it holds."""


def admitted(db: Tables, chunk_ids: Sequence[int], wanted: Filter) -> set[int]:
    """Return those of *chunk_ids* that the filter lets through."""
    condition, values = wanted.where()
    ids = ", ".join(map(str, chunk_ids))
    return {row[0] for row in db.execute(f"SELECT c.id FROM chunk AS c WHERE c.id IN ({ids}) AND {condition}", values)}


def best_admitted(db: Tables, near: dict[int, float], wanted: Filter) -> dict[int, float]:
    """Return the first candidates of *near* that the filter lets through, without asking about those behind them."""
    found: dict[int, float] = {}
    chunk_ids = list(near)
    for start in range(0, len(chunk_ids), limits.CANDIDATES):
        part = chunk_ids[start : start + limits.CANDIDATES]
        allowed = admitted(db, part, wanted)
        found |= {chunk_id: near[chunk_id] for chunk_id in part if chunk_id in allowed}
        if len(found) >= limits.CANDIDATES:
            break
    return dict(islice(found.items(), limits.CANDIDATES))
