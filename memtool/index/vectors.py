"""The store of vectors: which texts have one, and which of them are near a question.

Vectors are a cache by content hash. What is damaged or foreign counts as empty, and the next writer begins anew.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memtool.errors import NotWritable
from memtool.index.schema import HASH, packed
from memtool.index.tables import CANDIDATES, Semantic, best_admitted
from memtool.index.vector_files import HEADER, Damaged, Pair, VectorFiles, remove, stem
from memtool.processes import lock
from memtool.vault.state import make_state_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from memtool.index.filters import Filter
    from memtool.index.schema import SqliteTables

_LOCK = "vectors.lock"  # one for all models of a folder, and never removed
_BLOCK = 4096  # rows copied at once
_SAMPLE = 256  # rows that are compared with each other

NEAREST = 400  # vectors that are looked at to find them: a chunk has several
_MOST_NUMBERS = 10_000  # in one SQL statement
_LISTS = "SELECT p.chunk_id, p.hashes FROM piece_list AS p"


class VectorStore:
    """The vectors of one model, as they stood when the store was opened or last written by this object.

    Use it in a `with` block. A content hash is a number of 64 bits with a sign. Row numbers hold until this object
    writes: keep hashes, not rows, on disk. *notices* say what was found damaged.
    """

    def __init__(self, files: VectorFiles) -> None:
        self.dimension = files.dimension
        self.notices: list[str] = []
        self._files = files
        self._pair: Pair | None = None
        self._by_hash: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None  # the hashes in order, their rows
        self._deviation: float | None = None
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._pair.size if self._pair else 0

    def close(self) -> None:
        """Close the table. Matrices that were handed out stay usable."""
        if self._pair:
            self._pair.table.close()
        self._pair = self._by_hash = self._deviation = None

    def missing(self, hashes: Iterable[int]) -> list[int]:
        """Return those of *hashes* that have no vector yet, each once, in their order."""
        wanted = list(dict.fromkeys(hashes))
        return [each for each, row in zip(wanted, self.rows(wanted).tolist(), strict=True) if row < 0]

    def rows(self, hashes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each of *hashes*, -1 where it has no vector."""
        import numpy as np

        asked = np.asarray(hashes, np.int64)
        if not len(self):
            return np.full(len(asked), -1, np.int64)
        if self._by_hash is None:
            order = np.argsort(self.hashes())
            self._by_hash = self.hashes()[order], order
        known, rows = self._by_hash
        places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        return np.where(known[places] == asked, rows[places], -1)

    def hashes(self) -> NDArray[np.int64]:
        """Return the content hash of every row: (len(store),)."""
        import numpy as np

        return np.frombuffer(self._pair.hashes if self._pair else b"", "<i8")

    def matrix(self) -> NDArray[np.float32]:
        """Return all vectors as a read-only view of the mapped file: (len(store), dimension)."""
        import numpy as np

        if not self._pair or not self._pair.size:
            return np.empty((0, self.dimension), np.float32)
        numbers = np.frombuffer(self._pair.matrix, "<f4", self._pair.size * self.dimension, HEADER)
        return numbers.reshape(-1, self.dimension)

    def scores(self, query: ArrayLike) -> NDArray[np.float32]:
        """Return the dot product of *query* with every row: (len(store),)."""
        import numpy as np

        scores: NDArray[np.float32] = self.matrix() @ np.asarray(query, np.float32)
        return scores

    def deviation(self) -> float:
        """Return the standard deviation of the likenesses between the texts: what counts as much with this model."""
        import numpy as np

        if self._deviation is None:
            sample = self.matrix()[:: -(-len(self) // _SAMPLE) or 1]
            likenesses = (sample @ sample.T)[~np.eye(len(sample), dtype=bool)]
            self._deviation = float(likenesses.std()) if len(likenesses) else 0.0
        return self._deviation

    def nearest(self, query: ArrayLike, n: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the *n* rows that are nearest to *query*, best first, and their scores."""
        return highest(self.scores(query), n)

    def add(self, hashes: Sequence[int], vectors: ArrayLike) -> None:
        """Append a row for each of *hashes* that has none yet. When this returns, no crash takes them back.

        Raises:
            NotWritable: the disk refuses.
            Busy: another process writes.
        """
        import numpy as np

        matrix = np.asarray(vectors, "<f4")
        if matrix.shape != (len(hashes), self.dimension):
            raise ValueError(f"vectors of shape {matrix.shape} for {len(hashes)} hashes of {self.dimension} numbers")
        with self._writing():
            place = {each: at for at, each in enumerate(hashes)}
            new = self.missing(hashes)
            names = packed(new)
            rows = matrix[[place[each] for each in new]].tobytes()
            try:
                self._append(names, rows)
            except Damaged as damage:
                self._discard(damage)
                self._append(names, rows)

    def semantic(self, db: SqliteTables, query: NDArray[np.float32], wanted: Filter, also: Iterable[int]) -> Semantic:
        """Return the likeness to *query* of the nearest chunks of *db* that are *wanted*, and of the chunks *also*."""
        scores = self.scores(query)
        lists = _LISTS + " WHERE p.chunk_id IN (SELECT chunk_id FROM piece WHERE hash IN ({}))"
        near = _likeness(_select(db, lists, _nearest_hashes(self, scores)), self, scores)
        found = best_admitted(db, near, wanted)
        if wanted.narrows and len(found) < CANDIDATES:  # looking at all that it admits is cheap
            condition, values = wanted.where()
            rows = db.execute(f"{_LISTS} JOIN chunk AS c ON c.id = p.chunk_id WHERE {condition}", values).fetchall()
            found = dict(islice(_likeness(rows, self, scores).items(), CANDIDATES))
        more = _select(db, _LISTS + " WHERE p.chunk_id IN ({})", set(also) - found.keys())
        mean = float(scores.mean()) if len(scores) else 0.0
        return Semantic(found | _likeness(more, self, scores), mean, self.deviation())

    def complete(self) -> None:
        """Do nothing: vectors are ready as soon as they stand."""

    def collect_garbage(self, keep: set[int]) -> int:
        """Drop the vectors whose hash is not in *keep*, if they are more than a quarter; return how many went.

        Raises:
            NotWritable, Busy: as `add`.
        """
        import numpy as np

        with self._writing():
            named = self.hashes()
            kept = np.flatnonzero(np.isin(named, np.fromiter(keep, np.int64, len(keep))))
            unused = len(named) - len(kept)
            if unused * 4 <= len(named):
                self._tidy()
                return 0
            self._begin(named[kept].tobytes(), self._copied(kept))
            return unused

    def _open(self) -> None:
        self.close()
        tried = 0
        while (generation := self._files.generation()) > tried:
            tried = generation
            try:
                self._pair = self._files.open(generation)
            except FileNotFoundError:
                continue  # a collector put a newer pair in its place, or else a file is missing
            except Damaged as damage:
                self._discard(damage)
            return
        if tried:
            self._discard(Damaged("a file is missing"))

    def _discard(self, damage: Damaged) -> None:
        self.close()
        notice = f"the stored vectors of '{self._files.model}' are unusable ({damage}); indexing makes them anew"
        if notice not in self.notices:
            self.notices.append(notice)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            make_state_folder(self._files.folder)
            with lock(self._files.folder / _LOCK):
                self._open()
                yield
        except (OSError, sqlite3.Error) as error:
            raise NotWritable(f"cannot write vectors in '{self._files.folder}': {error}") from None

    def _append(self, hashes: bytes, rows: bytes) -> None:
        if not hashes:
            return
        if self._pair:
            self._files.append(self._pair, hashes, rows)
            self._open()
        else:
            self._begin(hashes, [rows])

    def _begin(self, hashes: bytes, rows: Iterable[bytes]) -> None:
        self._files.write(self._files.generation() + 1, hashes, rows)
        self._open()
        self._tidy()

    def _tidy(self) -> None:
        # Takes away older generations, and what a crash left of one that never came to be.
        ours, current = stem(self._files.model), self._files.generation()
        remove(self._files.folder, lambda each, generation: each == ours and generation != current)

    def _copied(self, rows: NDArray[np.int64]) -> Iterator[bytes]:
        matrix = self.matrix()
        for at in range(0, len(rows), _BLOCK):
            yield matrix[rows[at : at + _BLOCK]].tobytes()


def open_store(folder: Path, model_name: str, dimension: int) -> VectorStore:
    """Return the vectors of *model_name* in *folder*. Nothing is written, or waited for, before the first `add`."""
    return VectorStore(VectorFiles(folder, model_name, dimension))


def delete_other_models(folder: Path, keep: str) -> None:
    """Delete the vectors of all models in *folder* but the one named *keep*.

    Raises:
        NotWritable: the folder cannot be written.
        Busy: another process writes.
    """
    if not folder.is_dir():
        return
    try:
        with lock(folder / _LOCK):
            remove(folder, lambda each, _: each != stem(keep))
    except OSError as error:
        raise NotWritable(f"cannot write vectors in '{folder}': {error}") from None


def highest(scores: NDArray[np.float32], n: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the places of the *n* highest of *scores*, best first, and these scores."""
    import numpy as np

    n = max(0, min(n, len(scores)))
    places = np.argpartition(scores, len(scores) - n)[len(scores) - n :] if n else np.empty(0, np.int64)
    places = places[np.lexsort((places, -scores[places]))]
    return places, scores[places]


def _nearest_hashes(store: VectorStore, scores: NDArray[np.float32]) -> list[int]:
    import numpy as np

    count = min(NEAREST, len(scores))
    if not count:
        return []
    rows = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    hashes: list[int] = store.hashes()[rows].tolist()
    return hashes


def _likeness(lists: list[tuple[int, bytes]], store: VectorStore, scores: NDArray[np.float32]) -> dict[int, float]:
    """Return for each chunk, best first, the mean of its own likeness and that of its best paragraph or bullet.

    *lists* are rows of `piece_list`. A chunk that has only one of the two, or no other vector yet, is judged by that.
    """
    import numpy as np

    if not lists:
        return {}
    chunk_ids, hashes = zip(*lists, strict=True)
    rows = store.rows(np.frombuffer(b"".join(hashes), "<i8"))
    alike = np.full(len(rows), -np.inf)
    alike[rows >= 0] = scores[rows[rows >= 0]]
    starts = np.cumsum([0, *(len(each) // HASH for each in hashes[:-1])])
    whole = alike[starts]
    alike[starts] = -np.inf
    piece = np.maximum.reduceat(alike, starts)
    mean = (np.where(np.isinf(whole), piece, whole) + np.where(np.isinf(piece), whole, piece)) / 2
    ids = np.array(chunk_ids)
    order = np.lexsort((ids, -mean))[: np.isfinite(mean).sum()]
    return dict(zip(ids[order].tolist(), mean[order].tolist(), strict=True))


def _select(db: SqliteTables, sql: str, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    listed = sorted(numbers)
    for start in range(0, len(listed), _MOST_NUMBERS):
        rows += db.execute(sql.format(", ".join(map(str, listed[start : start + _MOST_NUMBERS]))))
    return rows
