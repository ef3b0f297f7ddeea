"""The server killed, or a connection cut, in the middle of work: nothing wrong is answered, and all goes on after."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index.notebook import Notebook, fill, finds_all
from postgres_server import PostgresServer, Unavailable

from memtool.embeddings.known_scripts import ALL_SCRIPTS
from memtool.errors import DatabaseUnavailable
from memtool.index import limits
from memtool.index.engine import Index, use_index
from memtool.index.semantic import chunks_waiting, embed, forget_unused, open_vectors
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import Database, migrate
from memtool.team.postgres.tables import PostgresTables
from memtool.team.postgres.vectors import PostgresVectors

psycopg = pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that a test may kill and start again."""
    try:
        with PostgresServer() as server:
            migrate(server.dsn)
            yield server
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def notes(server: PostgresServer, tmp_path: Path) -> Notebook:
    """Nine notes, not yet in the index."""
    root = tmp_path.resolve() / "notes"
    notes = Notebook(root, patience=30.0, engine=PostgresEngine(Database(server.dsn, str(root))))
    fill(notes, 9)
    return notes


class Model:
    """An embedder that does something at its n-th call."""

    dimension, scripts = 8, ALL_SCRIPTS

    def __init__(self, name: str, deed: Any = None, at: int = 0) -> None:
        self.name = name
        self._deed, self._at, self._calls = deed, at, itertools.count(1)

    def embed_notes(self, texts: Sequence[str]) -> Any:
        if next(self._calls) == self._at:
            self._deed()
        return np.array([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Any:
        vector = np.random.default_rng(len(text)).normal(size=self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.mark.parametrize("file", [0, 4, 8])
def test_a_first_index_goes_on_after_the_server_was_killed(
    server: PostgresServer, notes: Notebook, file: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AT_ONCE", 3)
    killing = notes.place._replace(progress=lambda done, _: server.kill() if done == file else None)
    with pytest.raises(DatabaseUnavailable):
        use_index(killing, lambda index: index)
    with pytest.raises(DatabaseUnavailable, match="the database cannot be used now"):
        notes.opened()
    server.start()
    index = notes.opened()
    assert (index.resumed, len(index.applied.added)) == (file // 3 * 3, 9 - file // 3 * 3)
    assert finds_all(notes, 9)


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_write_that_the_kill_cut_off_is_done_by_the_next(
    server: PostgresServer, notes: Notebook, rebuild: bool
) -> None:
    notes.opened()
    notes.write("n3.md", "zanzibar 解密")
    (notes.root / "n4.md").unlink()
    killing = notes.place._replace(progress=lambda done, total: server.kill() if done == total else None)
    with pytest.raises(DatabaseUnavailable):
        use_index(killing, lambda index: notes.find("zanzibar") and index.db.row(), rebuild=rebuild)  # type: ignore[attr-defined]
    server.start()
    assert notes.find("zanzibar") == ["n3.md"]
    assert "n4.md" not in notes.find("common", limit=20)
    assert len(notes.find("common", limit=20)) == 7


def test_a_model_is_changed_although_the_server_was_killed_meanwhile(
    server: PostgresServer, notes: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtool.index.limits.CHUNKS_AT_ONCE", 2)

    def make(model: Model) -> Any:
        def fill_up(index: Index) -> int:
            with open_vectors(index, model) as store:
                embed(index, model, store)
                forget_unused(index, model, store)
                return len(store)

        return fill_up

    def vectors(index: Index) -> dict[str, tuple[int, int]]:
        opened = {name: Model(name) for name in ("old", "new")}
        return {
            name: (len(open_vectors(index, model)), chunks_waiting(index.db, name)) for name, model in opened.items()
        }

    count = notes.use(make(Model("old")))
    with pytest.raises(DatabaseUnavailable):
        notes.use(make(Model("new", server.kill, at=3)))
    server.start()
    half = notes.use(vectors)
    assert half["old"] == (count, 0)
    assert 0 < half["new"][0] < count
    assert half["new"][1] == 5
    assert notes.use(make(Model("new"))) == count
    assert notes.use(vectors)["new"] == (count, 0)
    assert notes.use(vectors)["old"][0] == 0


def test_a_kill_while_vectors_get_their_index_leaves_it_to_the_next_run_before_the_switch(
    server: PostgresServer, notes: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtool.team.limits.EXACT", 2)
    model = Model("indexed")

    def make(index: Index) -> None:
        with open_vectors(index, model) as store:
            embed(index, model, store)

    def plan_and_nearest(index: Index) -> tuple[str, bool]:
        store = open_vectors(index, model)
        assert isinstance(store, PostgresVectors)
        store._db.execute("SET enable_seqscan = off; SET enable_sort = off")
        query = model.embed_query("common")
        near = [sorted(store.nearest(query, 3, exact=exact).values()) for exact in (False, True)]
        index_of_it = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'memtool' AND indexname = %s"
        row = store._db.execute(index_of_it, (f"vector_hnsw_{store._model}",)).fetchone()
        return row[0] if row else "", near[0] == near[1]

    notes.opened()
    with monkeypatch.context() as killing:
        killing.setattr(PostgresTables, "analyze", lambda *_: server.kill())  # what comes just before
        with pytest.raises(DatabaseUnavailable):
            notes.use(make)
    server.start()
    assert notes.use(plan_and_nearest)[0] == ""
    notes.use(make)
    definition, is_right = notes.use(plan_and_nearest)
    assert "USING hnsw" in definition
    assert is_right
    assert finds_all(notes, 9)


def test_a_connection_that_is_cut_is_one_sentence_and_the_next_search_works(
    server: PostgresServer, notes: Notebook
) -> None:
    notes.opened()

    def cut(index: Index) -> Any:
        with psycopg.connect(server.dsn, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        return index.stamps()

    with pytest.raises(DatabaseUnavailable):
        notes.use(cut)
    assert finds_all(notes, 9)
