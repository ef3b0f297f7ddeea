"""The store of vectors: which texts have one, and which of them are near a question.

    <model>.f32     a header of 64 bytes; then for each text the hash of its content and its vector, little-endian

Vectors are a cache by content hash: what is damaged or foreign counts as empty, and the next writer begins anew.
A row is never moved or changed, so whoever opened a file can use it for as long as it likes. New rows are written
behind the last one and synced before the number in the header takes them in: a crash between the two leaves a tail that
the next writer writes over. Rows go by a new file, put in the place of the old one. Writers hold a lock; readers none.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from memtool.errors import NotWritable
from memtool.index import limits
from memtool.index.schema import HASH
from memtool.index.tables import Semantic, best_admitted
from memtool.processes import lock
from memtool.vault.state import make_state_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from memtool.index.filters import Filter
    from memtool.index.schema import SqliteTables


_HEADER = struct.Struct("<56sQ")  # the format, the model and the dimension, then the number of rows
_FILE = re.compile(r"[a-z0-9-]+-[0-9a-f]{12}\.[\w.-]+")
_LOCK = "vectors.lock"  # one for all models of a folder, and never removed
_LISTS = "SELECT p.chunk_id, p.hashes FROM piece_list AS p"


class VectorStore:
    """The vectors of one *model* in *folder*, as they were when the store was opened or last written by this object.

    Nothing is written, or waited for, before the first `add`. A content hash is a number of 64 bits with a sign. Row
    numbers hold until this object writes. *notices* say what was found damaged.
    """

    def __init__(self, folder: Path, model: str, dimension: int) -> None:
        self.dimension = dimension
        self.notices: list[str] = []
        self._model = model
        self._path = folder / _file_name(model)
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._size

    def close(self) -> None:
        """Let go of the file. Matrices that were handed out stay usable."""
        self._map: mmap.mmap | None = None
        self._size = 0
        self._by_hash: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None  # the hashes in order, their rows
        self._deviation: float | None = None

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
            hashes = self.hashes()
            order = np.argsort(hashes)
            self._by_hash = hashes[order], order
        known, rows = self._by_hash
        places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        return np.where(known[places] == asked, rows[places], -1)

    def hashes(self) -> NDArray[np.int64]:
        """Return the content hash of every row: (len(store),)."""
        import numpy as np

        return np.ascontiguousarray(self._table()[:, : HASH // 4]).view("<i8").reshape(-1)

    def matrix(self) -> NDArray[np.float32]:
        """Return all vectors as a read-only view of the mapped file: (len(store), dimension)."""
        return self._table()[:, HASH // 4 :]

    def scores(self, query: ArrayLike) -> NDArray[np.float32]:
        """Return the dot product of *query* with every row: (len(store),)."""
        import numpy as np

        scores: NDArray[np.float32] = self.matrix() @ np.asarray(query, np.float32)
        return scores

    def deviation(self) -> float:
        """Return the standard deviation of the similarities between stored texts.

        It is the scale on which this model's similarities are judged.
        """
        import numpy as np

        if self._deviation is None:
            sample = self.matrix()[:: -(-len(self) // limits.VECTOR_SAMPLE) or 1]
            likenesses = (sample @ sample.T)[~np.eye(len(sample), dtype=bool)]
            self._deviation = float(likenesses.std()) if len(likenesses) else 0.0
        return self._deviation

    def nearest(self, query: ArrayLike, n: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the *n* rows that are nearest to *query*, best first, and their scores."""
        return highest(self.scores(query), n)

    def semantic(self, db: SqliteTables, query: NDArray[np.float32], wanted: Filter, also: Iterable[int]) -> Semantic:
        """Return the likeness to *query* of the nearest chunks of *db* that are *wanted*, and of the chunks *also*."""
        scores = self.scores(query)
        rows, _ = highest(scores, limits.NEAREST)
        lists = _LISTS + " WHERE p.chunk_id IN (SELECT chunk_id FROM piece WHERE hash IN ({}))"
        near = self._likeness(_select(db, lists, self.hashes()[rows].tolist()), scores)
        found = best_admitted(db, near, wanted)
        if wanted.narrows and len(found) < limits.CANDIDATES:  # looking at all that it admits is cheap
            condition, values = wanted.where()
            all_of = db.execute(f"{_LISTS} JOIN chunk AS c ON c.id = p.chunk_id WHERE {condition}", values).fetchall()
            found = dict(islice(self._likeness(all_of, scores).items(), limits.CANDIDATES))
        more = _select(db, _LISTS + " WHERE p.chunk_id IN ({})", set(also) - found.keys())
        mean = float(scores.mean()) if len(scores) else 0.0
        return Semantic(found | self._likeness(more, scores), mean, self.deviation())

    def _likeness(self, lists: Sequence[tuple[int, bytes]], scores: NDArray[np.float32]) -> dict[int, float]:
        """Return for each chunk, best first, the mean of its own likeness and that of its best paragraph or bullet.

        *lists* are rows of `piece_list`. A chunk that has only one of the two, or no other vector yet, is judged by it.
        """
        import numpy as np

        if not lists:
            return {}
        chunk_ids, hashes = zip(*lists, strict=True)
        rows = self.rows(np.frombuffer(b"".join(hashes), "<i8"))
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
            if not (new := self.missing(hashes)):
                return
            rows = matrix[[place[each] for each in new]]
            table = np.concatenate([np.array(new, "<i8").view("<f4").reshape(len(new), -1), rows], axis=1)
            if self._map is None:
                self._replace([table.tobytes()], len(new))
                return
            with self._path.open("r+b") as file:
                file.seek(_HEADER.size + len(self) * self._row_bytes)
                file.write(table.tobytes())
                _sync(file)
                file.seek(0)
                file.write(self._header(len(self) + len(new)))
                _sync(file)
            self._open()

    def complete(self) -> None:
        """Do nothing: vectors are ready as soon as they are written."""

    def collect_garbage(self, keep: set[int]) -> int:
        """Drop the vectors whose hash is not in *keep*, if they are more than a quarter; return how many went.

        Raises:
            NotWritable, Busy: as `add`.
        """
        import numpy as np

        with self._writing():
            kept = np.flatnonzero(np.isin(self.hashes(), np.fromiter(keep, np.int64, len(keep))))
            unused = len(self) - len(kept)
            if unused * 4 <= len(self):
                return 0
            table = self._table()
            steps = range(0, len(kept), limits.AT_ONCE)
            blocks = (table[kept[at : at + limits.AT_ONCE]].tobytes() for at in steps)
            self._replace(blocks, len(kept))
            return unused

    @property
    def _row_bytes(self) -> int:
        return HASH + self.dimension * 4

    def _table(self) -> NDArray[np.float32]:
        """Return the rows, each a hash and its vector: (len(store), 2 + dimension)."""
        import numpy as np

        width = self._row_bytes // 4
        if self._map is None:
            return np.empty((0, width), np.float32)
        return np.frombuffer(self._map, "<f4", len(self) * width, _HEADER.size).reshape(-1, width)

    def _open(self) -> None:
        self.close()
        try:
            with self._path.open("rb") as file:
                header = file.read(_HEADER.size)
                size = _HEADER.unpack(header)[1] if len(header) == _HEADER.size else 0
                if header != self._header(size):
                    self._note_unusable("they are of another model or version")
                elif os.fstat(file.fileno()).st_size < _HEADER.size + size * self._row_bytes:
                    self._note_unusable("their file is cut off")
                else:
                    self._map, self._size = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), size
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            self._note_unusable(str(error.strerror))

    def _note_unusable(self, reason: str) -> None:
        notice = f"the stored vectors of '{self._model}' are unusable ({reason}); indexing makes them anew"
        if notice not in self.notices:
            self.notices.append(notice)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            make_state_folder(self._path.parent)
            with lock(self._path.with_name(_LOCK)):
                self._open()
                yield
        except OSError as error:
            raise NotWritable(f"cannot write vectors in '{self._path.parent}': {error}") from None

    def _replace(self, blocks: Iterable[bytes], size: int) -> None:
        """Put a new file in the place of the old one. Windows refuses while somebody reads that: a later call does."""
        new = self._path.with_suffix(".new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
        with open(os.open(new, flags, 0o600), "wb") as file:
            file.write(self._header(size))
            file.writelines(blocks)
            _sync(file)
        self.close()
        os.replace(new, self._path)
        self._open()

    def _header(self, size: int) -> bytes:
        model = hashlib.sha256(self._model.encode()).hexdigest()[:16]
        return _HEADER.pack(f"memtool vectors 3 {model} {self.dimension}".ljust(56).encode(), size)


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
            for path in folder.iterdir():
                if _FILE.fullmatch(path.name) and path.name != _file_name(keep):
                    with contextlib.suppress(OSError):  # Windows keeps what a reader has open
                        path.unlink()
    except OSError as error:
        raise NotWritable(f"cannot write vectors in '{folder}': {error}") from None


def highest(scores: NDArray[np.float32], n: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the places of the *n* highest of *scores*, best first, and these scores."""
    import numpy as np

    n = max(0, min(n, len(scores)))
    places = np.argpartition(scores, len(scores) - n)[len(scores) - n :] if n else np.empty(0, np.int64)
    places = places[np.lexsort((places, -scores[places]))]
    return places, scores[places]


def _file_name(model: str) -> str:
    readable = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:40]
    return f"{readable}-{hashlib.sha256(model.encode()).hexdigest()[:12]}.f32"


def _select(db: SqliteTables, sql: str, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
    return db.execute(sql.format(", ".join(map(str, sorted(numbers))))).fetchall()


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
