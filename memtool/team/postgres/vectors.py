"""The vectors of one vault and model in PostgreSQL, in half precision, and what is near to a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Self

import numpy as np

from memtool.index import limits as index_limits
from memtool.index.filters import Filter
from memtool.index.tables import Semantic, best_admitted
from memtool.team import limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from memtool.team.postgres.tables import PostgresTables

_GRAPH = "WITH (m = 24, ef_construction = 128)"  # of 400 neighbours it finds 99 %; with pgvector's defaults 92
_LIKENESS = "-(embedding::public.vector <#> %s::public.vector)"  # the question is not rounded to half precision


class PostgresVectors:
    """The vectors of one model."""

    def __init__(self, tables: PostgresTables, model: int, dimension: int) -> None:
        self.dimension = dimension
        self.notices: list[str] = []
        self._tables = tables
        self._db = tables.db
        self._key = (tables.vault, model)
        self._model = model

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._about()[0])

    def close(self) -> None:
        """Do nothing: the connection is somebody else's."""

    def missing(self, hashes: Iterable[int]) -> list[int]:
        """Return those of *hashes* that have no vector yet, each once, in their order."""
        wanted = list(dict.fromkeys(hashes))
        find = "SELECT hash FROM memtool.vector WHERE vault = %s AND model = %s AND hash = ANY(%s)"
        known = {row[0] for row in self._db.execute(find, (*self._key, wanted))}
        return [each for each in wanted if each not in known]

    def add(self, hashes: Sequence[int], vectors: ArrayLike) -> None:
        """Keep a vector for each of *hashes* that has none yet."""
        matrix = np.asarray(vectors, np.float32)
        if matrix.shape != (len(hashes), self.dimension):
            raise ValueError(f"vectors of shape {matrix.shape} for {len(hashes)} hashes of {self.dimension} numbers")
        with self._tables.writing():
            place = {each: at for at, each in enumerate(hashes)}
            new = self.missing(hashes)
            if not new:
                return
            added = matrix[[place[each] for each in new]]
            count, mean, _ = self._about()
            find = "SELECT coalesce(max(number), -1) FROM memtool.vector WHERE vault = %s AND model = %s"
            last = (self._db.execute(find, self._key).fetchone() or (-1,))[0]
            self._db.execute(
                "INSERT INTO memtool.vector"
                " SELECT %s, %s, * FROM unnest(%s::int8[], %s::int4[], %s::text[]::halfvec[])",
                (*self._key, new, list(range(last + 1, last + 1 + len(new))), list(map(_text, added))),
            )
            self._describe(count, mean, added)

    def _describe(self, count: int, mean: Sequence[float], new: NDArray[np.float32]) -> None:
        """Keep the mean of the vectors, which was *mean* for *count* of them, and how far they are apart."""
        total = count + len(new)
        mean = ((np.asarray(mean or np.zeros(self.dimension)) * count + new.sum(axis=0)) / total).tolist()
        self._db.execute(
            "INSERT INTO memtool.vault_model (vault, model, vectors, mean, deviation) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (vault, model) DO UPDATE SET vectors = excluded.vectors, mean = excluded.mean,"
            " deviation = excluded.deviation",
            (*self._key, total, mean, self._deviation(total)),
        )

    def _deviation(self, count: int) -> float:
        """Return the standard deviation of the likenesses between some of *count* texts, from the first to the last."""
        find = "SELECT embedding::text FROM memtool.vector WHERE vault = %s AND model = %s AND number = ANY(%s)"
        step = -(-count // index_limits.VECTOR_SAMPLE)
        rows = self._db.execute(find, (*self._key, list(range(0, count, step)))).fetchall()
        sample = np.array([np.fromstring(row[0][1:-1], np.float32, sep=",") for row in rows])
        likenesses = (sample @ sample.T)[~np.eye(len(sample), dtype=bool)]
        return float(likenesses.std()) if len(likenesses) else 0.0

    def _about(self) -> tuple[int, Sequence[float], float]:
        """Return how many vectors there are, their mean, and how far they are apart; of several vaults, on average."""
        find = (
            f"SELECT vectors, mean, deviation FROM memtool.vault_model WHERE vault {self._tables.which} AND model = %s"
            " AND vectors > 0"
        )
        found: list[tuple[int, Sequence[float], float]] = self._db.execute(find, (self._model,), binary=True).fetchall()
        if len(found) < 2:
            return found[0] if found else (0, [], 0.0)
        counts = [count for count, _, _ in found]
        means = np.average(np.array([mean for _, mean, _ in found], np.float32), axis=0, weights=counts)
        return sum(counts), means.tolist(), float(np.average([each for _, _, each in found], weights=counts))

    def semantic(self, db: object, query: NDArray[np.float32], wanted: Filter, also: Iterable[int]) -> Semantic:  # noqa: ARG002
        """Return the likeness to *query* of the nearest chunks that are *wanted*, and of the chunks *also*."""
        count, mean, deviation = self._about()
        if not count:
            return Semantic({}, 0.0, 0.0)
        asked = _exact_text(query)
        alike = self.nearest(query, index_limits.NEAREST, exact=count <= limits.EXACT)
        others = list(also)
        chunks = (
            f"SELECT chunk_id FROM memtool.piece WHERE vault {self._tables.which} AND hash = ANY(%s)"
            " UNION SELECT unnest(%s::int8[])"
        )
        pieces = self._pieces(chunks, ([*alike], others))
        near = {chunk_id for chunk_id, _, content_hash in pieces if content_hash in alike}
        likeness = self._likeness(pieces, asked, alike)
        found = best_admitted(self._tables, {chunk: likeness[chunk] for chunk in likeness if chunk in near}, wanted)
        if (
            wanted.narrows and len(found) < index_limits.CANDIDATES
        ):  # so that looking at all that the filter admits is cheap
            condition, values = wanted.where()
            rows = self._tables.execute(f"SELECT c.id FROM chunk AS c WHERE {condition}", values)
            pieces = self._pieces("SELECT unnest(%s::int8[])", ([row[0] for row in rows],))
            found = dict(islice(self._likeness(pieces, asked, alike).items(), index_limits.CANDIDATES))
        more = {chunk_id: likeness[chunk_id] for chunk_id in sorted(set(others) - found.keys()) if chunk_id in likeness}
        return Semantic(found | more, float(np.asarray(mean, np.float32) @ query), deviation)

    def read(self, hashes: Sequence[int]) -> tuple[list[int], NDArray[np.float32]]:
        """Return those of *hashes* that have a vector, and the vectors as rows: (found, dimension)."""
        find = (
            "SELECT hash, public.halfvec_send(embedding) FROM memtool.vector"
            " WHERE vault = %s AND model = %s AND hash = ANY(%s)"
        )
        found: list[int] = []
        parts = [np.empty((0, self.dimension), np.float32)]
        for start in range(0, len(hashes), limits.ROWS_AT_ONCE):
            asked = (*self._key, list(hashes[start : start + limits.ROWS_AT_ONCE]))
            rows = self._db.execute(find, asked, binary=True).fetchall()
            found += [row[0] for row in rows]
            # Four bytes for its length stand before the numbers.
            numbers = np.frombuffer(b"".join(row[1][4:] for row in rows), ">f2").astype(np.float32)
            parts.append(numbers.reshape(-1, self.dimension))
        return found, np.concatenate(parts)

    def nearest(self, query: NDArray[np.float32], count: int, *, exact: bool) -> dict[int, float]:
        """Return the likeness of the *count* vectors nearest to *query*, by their hash; if not *exact*, by HNSW."""
        distance = f"embedding::halfvec({self.dimension}) <#> %s::halfvec({self.dimension})"
        order = f"({distance}) + 0" if exact else distance  # a sum is no order that an index knows
        # By its number, or its own index would not be seen.
        of_model = f"vault {self._tables.which} AND model = {self._model}"
        find = f"SELECT hash, {_LIKENESS} FROM memtool.vector WHERE {of_model} ORDER BY {order} LIMIT {count}"
        return dict(self._db.execute(find, (_exact_text(query), _text(query)), binary=True).fetchall())

    def _pieces(self, chunks: str, values: Sequence[object]) -> list[tuple[int, int, int]]:
        """Return chunk, place and hash of all that has a vector in what the statement *chunks* gives."""
        which = f"vault {self._tables.which} AND chunk_id IN ({chunks})"
        find = f"SELECT chunk_id, place, hash FROM memtool.piece WHERE {which}"
        return self._db.execute(find, values, binary=True).fetchall()

    def _likeness(
        self, pieces: Sequence[tuple[int, int, int]], asked: str, known: Mapping[int, float]
    ) -> dict[int, float]:
        """Return the likeness of the chunks of *pieces*, best first: the mean of its own and that of its best piece.

        A chunk that has only one of the two is judged by that. What is *known* of hashes is not asked for again.
        """
        alike = dict(known)
        if unknown := list({content_hash for _, _, content_hash in pieces} - alike.keys()):
            compare = (
                f"SELECT hash, {_LIKENESS} FROM memtool.vector"
                f" WHERE vault {self._tables.which} AND model = %s AND hash = ANY(%s)"
            )
            alike |= self._db.execute(compare, (asked, self._model, unknown), binary=True).fetchall()
        sides: dict[int, dict[bool, float]] = {}  # of a chunk: whether it is the whole, and how alike that is
        for chunk_id, place, content_hash in pieces:
            if (likeness := alike.get(content_hash)) is not None:
                both = sides.setdefault(chunk_id, {})
                both[place == 0] = max(likeness, both.get(place == 0, likeness))
        means = {chunk_id: sum(both.values()) / len(both) for chunk_id, both in sides.items()}
        return dict(sorted(means.items(), key=lambda each: (-each[1], each[0])))

    def forget_unused(self) -> None:
        """Drop the vectors of texts that are gone if they are more than a quarter, and those of other models."""
        vault, model = self._key
        unused = (
            "vault = %s AND model = %s AND NOT EXISTS"
            " (SELECT 1 FROM memtool.piece AS p WHERE p.vault = v.vault AND p.hash = v.hash)"
        )
        with self._tables.writing():
            found = self._db.execute(f"SELECT count(*) FROM memtool.vector AS v WHERE {unused}", self._key).fetchone()
            if found and found[0] * 4 > len(self):
                self._db.execute(f"DELETE FROM memtool.vector AS v WHERE {unused}", self._key)
                self._db.execute(
                    "UPDATE memtool.vault_model SET (vectors, mean) ="
                    " (SELECT count(*), coalesce(avg(embedding::public.vector)::real[], '{}')"
                    " FROM memtool.vector WHERE vault = %s AND model = %s) WHERE vault = %s AND model = %s",
                    (*self._key, *self._key),
                )
            for table in ("vector", "vault_model"):
                self._db.execute(f"DELETE FROM memtool.{table} WHERE vault = %s AND model <> %s", (vault, model))

    def complete(self) -> None:
        """Make the index of the model's vectors, of all vaults, where they are many and it is not there yet."""
        name = f"vector_hnsw_{self._model}"
        made = self._db.execute("SELECT to_regclass(%s) IS NOT NULL", (f"memtool.{name}",)).fetchone()
        if len(self) <= limits.EXACT or made == (True,):
            return
        self._tables.analyze("vector", "piece")
        with self._db.transaction():
            self._db.execute("SET LOCAL role = none")
            self._db.execute("SET LOCAL statement_timeout = 0")
            self._db.execute("SET LOCAL maintenance_work_mem = '512MB'")
            self._db.execute(
                f"CREATE INDEX IF NOT EXISTS {name} ON memtool.vector USING hnsw"
                f" ((embedding::halfvec({self.dimension})) halfvec_ip_ops) {_GRAPH} WHERE model = {self._model}"
            )


def open_vectors(tables: PostgresTables, name: str, dimension: int) -> PostgresVectors:
    """Return the vectors of the model *name*, which the database gets to know if it does not yet."""
    find = "SELECT id FROM memtool.model WHERE name = %s"
    while (found := tables.db.execute(find, (name,)).fetchone()) is None:
        with tables.writing():
            insert = "INSERT INTO memtool.model (name, dimension) VALUES (%s, %s) ON CONFLICT DO NOTHING"
            tables.db.execute(insert, (name, dimension))
    return PostgresVectors(tables, found[0], dimension)


def _exact_text(vector: NDArray[np.float32]) -> str:
    """Return *vector* as pgvector reads it, in full precision."""
    return f"[{','.join(map(str, vector.tolist()))}]"


def _text(vector: NDArray[np.float32]) -> str:
    """Return *vector* as pgvector reads it, in half precision."""
    return f"[{','.join(map(repr, vector.astype(np.float16).tolist()))}]"
