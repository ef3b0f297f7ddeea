"""Search by meaning: which vectors there are for a query, and which chunks mean what it means."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtool.errors import MemtoolError, ProviderMissing
from memtool.index.engine import Index
from memtool.index.filters import Filter
from memtool.index.lexical import admitted
from memtool.index.schema import HASH
from memtool.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.embeddings import Embedder
    from memtool.index.schema import SqliteTables
    from memtool.index.tables import Tables, VectorShelf
    from memtool.index.vectors import VectorStore

CANDIDATES = 100  # chunks
NEAREST = 400  # vectors that are looked at to find them: a chunk has several
_MOST_NUMBERS = 10_000  # in one SQL statement
_LISTS = "SELECT p.chunk_id, p.hashes FROM piece_list AS p"
_MADE_WHILE_SEARCHING = 100  # vectors; more than that waits for `memtool index`


class Vectors(NamedTuple):
    """An embedder and the vectors that it made of this vault."""

    embedder: Embedder
    store: VectorShelf


class Semantic(NamedTuple):
    """The semantic side of a search: the likeness of chunks, best first.

    *mean* is the likeness of any text of the vault to the query, *deviation* that of the vault's texts to each other.
    """

    scores: dict[int, float]
    mean: float
    deviation: float


def semantic_search(db: Tables, vectors: Vectors, text: str, wanted: Filter, also: Iterable[int]) -> Semantic:
    """Return the likeness of the chunks nearest to *text*, and of the chunks *also*, which words have found."""
    return db.semantic(vectors.store, vectors.embedder.embed_query(text), wanted, also)


def likenesses(
    db: SqliteTables, store: VectorStore, query: NDArray[np.float32], wanted: Filter, also: Iterable[int]
) -> Semantic:
    """Return the answer of `semantic_search`, from the vectors in files and SQLite's rows about them."""
    scores = store.scores(query)
    lists = _LISTS + " WHERE p.chunk_id IN (SELECT chunk_id FROM piece WHERE hash IN ({}))"
    near = _likeness(_select(db, lists, _nearest_hashes(store, scores)), store, scores)
    found = best_admitted(db, near, wanted)
    if wanted.narrows and len(found) < CANDIDATES:  # the filter is narrow, so that looking at all it admits is cheap
        condition, values = wanted.where()
        rows = db.execute(f"{_LISTS} JOIN chunk AS c ON c.id = p.chunk_id WHERE {condition}", values).fetchall()
        found = dict(islice(_likeness(rows, store, scores).items(), CANDIDATES))
    more = _select(db, _LISTS + " WHERE p.chunk_id IN ({})", set(also) - found.keys())
    mean = float(scores.mean()) if len(scores) else 0.0
    return Semantic(found | _likeness(more, store, scores), mean, store.deviation())


def best_admitted(db: Tables, near: dict[int, float], wanted: Filter) -> dict[int, float]:
    """Return the first candidates of *near* that the filter lets through, without asking about those behind them."""
    found: dict[int, float] = {}
    chunk_ids = list(near)
    for start in range(0, len(chunk_ids), CANDIDATES):
        part = chunk_ids[start : start + CANDIDATES]
        allowed = admitted(db, part, wanted)
        found |= {chunk_id: near[chunk_id] for chunk_id in part if chunk_id in allowed}
        if len(found) >= CANDIDATES:
            break
    return dict(islice(found.items(), CANDIDATES))


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


class Chosen(NamedTuple):
    """The mode of a search, and its vectors. *lasting* notices are worth saying once, *passing* ones each time."""

    mode: str
    vectors: Vectors | None = None
    lasting: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """All that the user should know of the choice."""
        return self.lasting + self.passing


def words_only(error: MemtoolError) -> str:
    """Return the notice that there are no vectors, and why."""
    return f"search is by words only: {error}. {error.hint}".strip()


class VectorSource:
    """The vectors that the searches of one run may use, opened when the first of them needs it.

    *only_warm* never loads a model of this machine into this process: the warm helper has it, or words decide.
    """

    def __init__(self, index: Index, settings: Settings, cache: Path, *, only_warm: bool = False) -> None:
        self._index = index
        self._settings = settings
        self._cache = cache
        self._only_warm = only_warm and settings.embeddings.provider == "fastembed"
        self._opened: tuple[Vectors, tuple[str, ...]] | None = None

    def choose(self, text: str, mode: str) -> Chosen:
        """Return with what to search for *text*: with *mode*, else with `bm25` and why.

        Raises:
            MemtoolError: the mode `vector` was asked for and there are no vectors.
        """
        switched_off = mode == "hybrid" and self._settings.embeddings.provider == "none"
        if mode == "bm25" or switched_off:
            return Chosen("bm25")
        if isinstance(self._embedder, MemtoolError):
            return self._instead(mode, self._embedder)
        from memtool.embeddings.known_scripts import fits

        if mode == "hybrid" and not fits(self._embedder.scripts, text):
            return Chosen("bm25", passing=("searched by words only: the model does not know the query's language",))
        try:
            if self._opened is None:
                self._opened = self._opened_now(self._embedder, text)
            vectors, notices = self._opened
        except MemtoolError as error:
            return self._instead(mode, error)
        return Chosen(mode, vectors, passing=notices)

    def _instead(self, mode: str, error: MemtoolError) -> Chosen:
        if mode == "vector":
            raise error
        return Chosen("bm25", lasting=(words_only(error),))

    @cached_property
    def _embedder(self) -> Embedder | MemtoolError:
        from memtool.embeddings import open_embedder

        try:
            key = self._settings.keys.embeddings
            embedder = open_embedder(self._settings.embeddings, key, self._cache, may_download=False)
            from memtool.embeddings.helper import WarmEmbedder, helper_place  # most machines have no model

            place = helper_place(self._cache, self._index.place.vault.root)
            return WarmEmbedder(embedder, place, only_warm=self._only_warm)
        except MemtoolError as error:
            return error

    def _opened_now(self, embedder: Embedder, text: str) -> tuple[Vectors, tuple[str, ...]]:
        from memtool.index.embedding import chunks_waiting, embed, open_vectors

        store = open_vectors(self._index, embedder)
        with contextlib.ExitStack() as unless_it_serves:
            unless_it_serves.callback(store.close)
            waiting = chunks_waiting(self._index.db, embedder.name)
            if waiting and not self._only_warm and (len(store) or waiting <= _MADE_WHILE_SEARCHING):
                # An endpoint that is down is asked for the query first: it gives up on that much sooner than on notes.
                embedder.embed_query(text)
                with contextlib.suppress(MemtoolError):
                    embed(self._index, embedder, store, at_most=_MADE_WHILE_SEARCHING)
                waiting = chunks_waiting(self._index.db, embedder.name)
            if not len(store) and not waiting:
                raise ProviderMissing("the model knows the script of no note")
            if not len(store):
                reason = "; ".join(store.notices) or "there are no vectors yet"
                raise ProviderMissing(reason, hint="Run `memtool index` to make them.")
            notices = list(store.notices)
            if waiting:
                notices.append(f"{waiting:,} chunks have no vector yet: run `memtool index`")
            unless_it_serves.pop_all()
        return Vectors(embedder, store), tuple(notices)
