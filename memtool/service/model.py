"""The process that holds the model and the vectors of a vault, for prompts and for searches."""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import functools
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtool import __file__ as own_file, settings as settings_module
from memtool.embeddings import Embedder, open_embedder
from memtool.embeddings.known_scripts import fits
from memtool.errors import MemtoolError
from memtool.index.engines import engine_of
from memtool.index.files import stamp
from memtool.index.filters import Filter
from memtool.recall.answers.statements import passages
from memtool.recall.limits import LONGEST_TEXT
from memtool.recall.prompts.finding import is_given_anyway
from memtool.recall.prompts.meaning import Near, Nearness
from memtool.service_client import Fields
from memtool.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtool.index.tables import HeldVectors, Tables


class WarmModel:
    """The model and the vectors of a vault, which follow its index.

    Raises:
        MemtoolError: there is no model on this machine.
    """

    def __init__(self, work: Workspace) -> None:
        settings = work.settings
        embedder = open_embedder(settings.embeddings, settings.keys.embeddings, work.cache, may_download=False)
        self._at = work
        self._warm = Warm(embedder)
        engine = engine_of(work)
        self._keeps_files = engine.keeps_files
        self._followed = engine.follow(embedder)
        self._seen: object = None
        self._looks = 0
        self._program = stamp(Path(own_file))
        self._making: threading.Thread | None = None
        self.look()
        if not self.is_empty():
            embedder.embed_query("warm")

    def answer(self, request: Fields, more: Callable[[], Fields]) -> Fields:
        """Return the answer to a prompt (`near`), or the vector of a question (`vector`)."""
        if request.get("ask") == "vector":
            vector = self._warm.embedder.embed_query(_text(request.get("text")))
            encoded = base64.b64encode(vector.astype("<f4").tobytes()).decode()
            return {"model": self._warm.embedder.name, "vector": encoded}
        if request.get("ask") != "near":
            raise ValueError(f"unknown request {request.get('ask')!r}")
        texts, project = request.get("texts"), request.get("project")
        if not isinstance(texts, list) or not isinstance(project, str):
            raise TypeError("the request lacks its texts or its project")
        asked = functools.cache(lambda: _numbers(more().get("chunks")))
        near = self._warm.near([*map(_text, texts)], project, asked)
        asked()  # the peer sends both lines before it reads the answer
        return {"near": near and [[[each.chunk_id, round(each.cosine, 4)] for each in part] for part in near]}

    def look(self) -> bool:
        """Follow what has changed; return whether the model is still wanted."""
        self._looks += 1
        if self._looks % 5 == 0 and not self._is_wanted():  # reading the settings costs more than a look
            return False
        with contextlib.suppress(MemtoolError, OSError):
            self._follow()
        return self._at.vault.root.is_dir()

    def is_empty(self) -> bool:
        """Return whether a server holds no vector for it. Before a process starts, only files were looked at."""
        return not self._keeps_files and not len(self._warm)

    def close(self) -> None:
        """Let go of the index."""
        self._followed.close()

    def _follow(self) -> None:
        from memtool.index.semantic import chunks_waiting

        today = self._at.now().date()
        seen = (today, self._followed.state())
        if seen == self._seen:
            return
        with self._followed.opened() as (db, store):
            self._warm.follow(db, store, today)
            waiting = chunks_waiting(db, self._warm.embedder.name)
        self._seen = seen
        if waiting and len(self._warm) and not (self._making and self._making.is_alive()):
            self._making = threading.Thread(target=self._make_vectors, daemon=True)
            self._making.start()

    def _make_vectors(self) -> None:
        """Make the vectors of what was written since. Whoever asks meanwhile is answered all the same."""
        from memtool.index.engine import place_of, use_index
        from memtool.index.semantic import embed, open_vectors

        embedder = self._warm.embedder

        def make(index: Any) -> None:  # noqa: ANN401  (an `Index`, imported only here)
            with open_vectors(index, embedder) as store:
                embed(index, embedder, store, at_most=400)  # `memtool index` makes the rest

        with contextlib.suppress(MemtoolError, OSError):
            use_index(place_of(self._at), make)

    def _is_wanted(self) -> bool:
        """Return whether memtool, the model and the settings are those that this began with."""
        try:
            settings = settings_module.load(self._at.vault.settings_path, self._at.environ)
            model = open_embedder(settings.embeddings, settings.keys.embeddings, self._at.cache, may_download=False)
        except MemtoolError:
            return False
        is_same = settings.search.mode != "bm25" and model.name == self._warm.embedder.name
        return is_same and stamp(Path(own_file)) == self._program


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is not a string")
    return value[:4_000]  # a model reads less


def _numbers(value: object) -> Sequence[int]:
    if not isinstance(value, list) or not all(type(each) is int and abs(each) < 1 << 62 for each in value):
        raise TypeError("the ids of chunks are not numbers")
    return value


class Warm:
    """The vectors of a vault and the model that made them. `follow` reads both anew."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._vectors: VaultVectors | None = None
        self._known: dict[int, bool] = {}  # chunks, and whether they may be given

    def __len__(self) -> int:
        return len(self._vectors or ())

    def follow(self, db: Tables, store: HeldVectors, today: dt.date) -> None:
        """Read the index *db* and its vectors anew. Chunks that were there before need no second look."""
        rows = db.execute("SELECT c.id FROM chunk AS c").fetchall()
        known = self._known
        new = [row[0] for row in rows if row[0] not in known]
        self._known = {row[0]: known[row[0]] for row in rows if row[0] in known} | self._examined(db, new)
        self._vectors = VaultVectors(db, store, Filter(today), lambda chunk_id: self._known.get(chunk_id, False))

    def near(self, texts: Sequence[str], project: str, asked: Callable[[], Sequence[int]]) -> Nearness | None:
        """Return the chunks near to *texts*; None if the model does not know their script."""
        if not self._vectors or not texts or not all(fits(self.embedder.scripts, text) for text in texts):
            return None
        return self._vectors.near([self.embedder.embed_query(text) for text in texts], project, asked)

    def _examined(self, db: Tables, chunk_ids: Sequence[int]) -> dict[int, bool]:
        least, most = min(chunk_ids, default=0), max(chunk_ids, default=-1)
        rows = db.execute(
            "SELECT c.id, n.ref, c.kind, c.text FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
            " WHERE c.id BETWEEN ? AND ? AND length(c.text) <= ?",
            (least, most, LONGEST_TEXT),
        )
        return dict.fromkeys(chunk_ids, False) | {
            chunk_id: not is_given_anyway(ref) and fits(self.embedder.scripts, text) and bool(passages(text, kind))
            for chunk_id, ref, kind, text in rows
        }


class VaultVectors:
    """The vectors of all chunks of an index that a model fits and that may be given, as they were when it was made."""

    def __init__(self, db: Tables, store: HeldVectors, wanted: Filter, fits: Callable[[int], bool]) -> None:
        """Read which chunk has which vectors. *fits* tells of a chunk whether the model knows its script."""
        import numpy as np

        rows = [row for row in db.pieces(wanted) if fits(row[0])]
        lists = [hashes for _, _, hashes in rows]
        places = store.rows(np.concatenate(lists)) if lists else np.empty(0, np.int64)
        sizes = np.array([len(hashes) for hashes in lists], np.int64)
        starts = np.cumsum([0, *sizes[:-1]]) if rows else np.empty(0, np.int64)
        has_all = np.minimum.reduceat(places, starts) >= 0 if rows else np.empty(0, bool)
        kept = np.repeat(has_all, sizes)
        self._matrix = store.matrix()
        self._rows = places[kept]
        self._starts = np.cumsum([0, *sizes[has_all][:-1]]) if has_all.any() else np.empty(0, np.int64)
        self._ids = np.array([row[0] for row in rows], np.int64)[has_all]
        self._projects = np.array([row[1] for row in rows], object)[has_all]

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
        scope = (
            np.flatnonzero((self._projects == project) | (self._projects == "")) if project else np.arange(len(self))
        )

        def near(at: int) -> Near:
            return Near(int(self._ids[at]), float(cosines[at]))

        best = scope[np.argsort(-cosines[scope], kind="stable")[:20]]
        ids = np.array(asked()[:100], np.int64)
        places = np.searchsorted(self._ids, ids)
        known = places < len(self)
        known[known] = self._ids[places[known]] == ids[known]
        return Nearness(tuple(map(near, best.tolist())), tuple(map(near, places[known].tolist())))
