"""What a warm helper holds for prompts and searches: a model, and the vectors of one vault."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtool.embeddings.scripts import fits
from memtool.index.filters import Filter
from memtool.index.nearness import Nearness, VaultVectors
from memtool.recall.prompts.finding import LONGEST, is_given_anyway
from memtool.recall.prompts.meaning import texts_of
from memtool.recall.prompts.passages import passages

if TYPE_CHECKING:
    from memtool.embeddings import Embedder
    from memtool.index.vectors import VectorStore


class Warm:
    """The vectors of a vault and the model that made them. It follows the index and the store when told to."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._vectors: VaultVectors | None = None
        self._known: dict[int, bool] = {}  # chunks, and whether they may be given

    def __len__(self) -> int:
        return len(self._vectors or ())

    def follow(self, db: sqlite3.Connection, store: VectorStore, today: dt.date) -> None:
        """Read the index *db* and its vectors anew. Chunks that were there before need no second look."""
        rows = db.execute("SELECT c.id FROM chunk AS c").fetchall()
        known = self._known
        new = [row[0] for row in rows if row[0] not in known]
        self._known = {row[0]: known[row[0]] for row in rows if row[0] in known} | self._examined(db, new)
        self._vectors = VaultVectors(db, store, Filter(today), lambda chunk_id: self._known.get(chunk_id, False))

    def near(self, texts: Sequence[str], project: str, asked: Callable[[], Sequence[int]]) -> Nearness | None:
        """Return what is near to *texts*; None if the model does not know their script."""
        if not self._vectors or not texts or not all(fits(self.embedder.scripts, text) for text in texts):
            return None
        return self._vectors.near([self.embedder.embed_query(text) for text in texts], project, asked)

    def _examined(self, db: sqlite3.Connection, chunk_ids: Sequence[int]) -> dict[int, bool]:
        least, most = min(chunk_ids, default=0), max(chunk_ids, default=-1)
        rows = db.execute(
            "SELECT c.id, n.ref, c.kind, c.text FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
            " WHERE c.id BETWEEN ? AND ? AND length(c.text) <= ?",
            (least, most, LONGEST),
        )
        return dict.fromkeys(chunk_ids, False) | {
            chunk_id: not is_given_anyway(ref) and fits(self.embedder.scripts, text) and bool(passages(text, kind))
            for chunk_id, ref, kind, text in rows
        }


class InProcess:
    """`Meaning` of one prompt, asked in this process: what benchmarks and a service do."""

    def __init__(self, warm: Warm, prompt: str) -> None:
        self._warm = warm
        self._texts = texts_of(prompt)
        self._project = ""

    def begin(self, project: str) -> None:
        """See `memtool.recall.prompts.meaning.Meaning`."""
        self._project = project

    def nearness(self, chunk_ids: Sequence[int]) -> Nearness | None:
        """See `memtool.recall.prompts.meaning.Meaning`."""
        return self._warm.near(self._texts, self._project, lambda: chunk_ids)
