"""The nearness of a vault's chunks to a text, from vectors that are held in memory.

A search asks an index for its best chunks. A prompt asks how likely each of a few memories is what it is about, and
for that the likeness alone says little: in a vault of bookings every chunk is near to every prompt about bookings. So
each chunk also says how near it is to the middle of the vault.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.index.filters import Filter
from memtool.index.schema import HASH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.index.vectors import VectorStore

NEAREST = 20  # chunks in scope that are named unasked
_ROWS = (
    "SELECT c.id, c.project, p.hashes FROM chunk AS c JOIN piece_list AS p ON p.chunk_id = c.id WHERE {} ORDER BY c.id"
)
_MOST_ASKED = 100  # chunks


class Near(NamedTuple):
    """The nearness of a chunk to a text.

    Args:
        cosine: of the nearest of its vectors, those of its paragraphs and bullets included.
        centred: its cosine with the middle of the vault, minus the mean of that over the scope.
        piece: which of its vectors is the nearest; 0 is that of the whole chunk.
    """

    chunk_id: int
    cosine: float
    centred: float
    piece: int


class Nearness(NamedTuple):
    """The chunks that are *nearest* to a text in its scope, best first, and those that were *asked* for."""

    nearest: tuple[Near, ...] = ()
    asked: tuple[Near, ...] = ()


class VaultVectors:
    """The vectors of all chunks of an index that a model fits and that may be given, as they stood when it was made."""

    def __init__(self, db: sqlite3.Connection, store: VectorStore, wanted: Filter, fits: Callable[[int], bool]) -> None:
        """Read which chunk has which vectors. *fits* tells of a chunk whether the model knows its script."""
        import numpy as np

        condition, values = wanted.where()
        rows = [row for row in db.execute(_ROWS.format(condition), values) if fits(row[0])]
        lists = [np.frombuffer(hashes, "<i8") for _, _, hashes in rows]
        places = store.rows(np.concatenate(lists)) if lists else np.empty(0, np.int64)
        sizes = np.array([len(hashes) // HASH for _, _, hashes in rows], np.int64)
        starts = np.cumsum([0, *sizes[:-1]]) if rows else np.empty(0, np.int64)
        has_all = np.minimum.reduceat(places, starts) >= 0 if rows else np.empty(0, bool)
        kept = np.repeat(has_all, sizes)
        self._matrix = store.matrix()
        self._rows = places[kept]
        self._starts = np.cumsum([0, *sizes[has_all][:-1]]) if has_all.any() else np.empty(0, np.int64)
        self._ids = np.array([row[0] for row in rows], np.int64)[has_all]
        self._projects = np.array([row[1] for row in rows], object)[has_all]
        self._central = self._centrality()

    def __len__(self) -> int:
        return len(self._ids)

    def near(
        self, vectors: Sequence[NDArray[np.float32]], project: str, asked: Callable[[], Sequence[int]]
    ) -> Nearness:
        """Return the chunks nearest to any of *vectors* in *project* or none, where it is empty in all of the vault.

        *asked* is called once the long part of the work is done: who asks can find out meanwhile what to ask for.
        """
        import numpy as np

        if not len(self):
            return Nearness()
        scores = np.max([self._matrix @ vector for vector in vectors], axis=0)[self._rows]
        cosines = np.maximum.reduceat(scores, self._starts)
        scope = np.flatnonzero((self._projects == project) | (self._projects == "")) if project else self._everything()
        centred = self._central - (self._central[scope].mean() if len(scope) else 0.0)

        def told(at: int) -> Near:
            end = self._starts[at + 1] if at + 1 < len(self) else len(scores)
            piece = int(np.argmax(scores[self._starts[at] : end]))
            return Near(int(self._ids[at]), float(cosines[at]), float(centred[at]), piece)

        best = scope[np.argsort(-cosines[scope], kind="stable")[:NEAREST]]
        ids = np.array(asked()[:_MOST_ASKED], np.int64)
        places = np.searchsorted(self._ids, ids)
        found = [at for at, each in zip(places.tolist(), ids.tolist(), strict=True) if self._is_at(at, each)]
        return Nearness(tuple(map(told, best.tolist())), tuple(map(told, found)))

    def _is_at(self, at: int, chunk_id: int) -> bool:
        return at < len(self) and int(self._ids[at]) == chunk_id

    def _everything(self) -> NDArray[Any]:
        import numpy as np

        return np.arange(len(self))

    def _centrality(self) -> NDArray[np.float32]:
        """Return for each chunk its cosine with the mean of all of them."""
        import numpy as np

        if not len(self._ids):
            return np.empty(0, np.float32)
        whole = self._rows[self._starts]
        middle = self._matrix[whole].mean(axis=0)
        length = float(np.linalg.norm(middle)) or 1.0
        central: NDArray[np.float32] = self._matrix[whole] @ (middle / length)
        return central
