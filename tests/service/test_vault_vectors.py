from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from index.notebook import TODAY, Notebook

from memtool.index.engine import Index
from memtool.index.engines import engine_of
from memtool.index.filters import Filter
from memtool.index.semantic import embed, open_vectors
from memtool.recall.prompts.meaning import Near, Nearness
from memtool.service.model import VaultVectors
from memtool.settings import Settings
from memtool.settings.sections import IndexSettings
from memtool.team.engine import PostgresEngine
from memtool.team.postgres.connection import Database
from memtool.workspace import Workspace

AXES = {"north": 0, "east": 1, "up": 2}


class Compass:
    """An embedder of three words: the vector of a text points to those that it holds, and a little to all."""

    name, dimension, scripts = "compass", 3, frozenset({"latin"})

    def embed_notes(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        vector = np.full(3, 0.1, np.float32)
        for word, axis in AXES.items():
            vector[axis] += text.count(word)
        return vector / np.linalg.norm(vector)


COMPASS = Compass()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def notebook(tmp_path: Path, request: pytest.FixtureRequest) -> Notebook:
    root = tmp_path.resolve() / "v"
    if request.param == "sqlite":
        notebook = Notebook(root)
        notebook.place = notebook.place._replace(folder=work_of(notebook).index_folder)
    else:
        notebook = Notebook(
            root, engine=PostgresEngine(Database(request.getfixturevalue("shared_database"), str(root)))
        )
    notebook.write("areas/projects/a/knowledge/1.md", "# one\n\n- north\n- east\n")
    notebook.write("areas/projects/a/knowledge/2.md", "# two\n\nnorth\n")
    notebook.write("areas/projects/b/knowledge/3.md", "# three\n\nup\n")
    notebook.write("areas/global/knowledge/4.md", "# four\n\nup up east\n")
    return notebook


def near(notebook: Notebook, text: str, project: str, asked: list[int], fits: set[int] | None = None) -> Nearness:
    vectors = held(notebook, fits)
    return vectors.near([COMPASS.embed_query(text)], project, lambda: asked)


def held(notebook: Notebook, fits: set[int] | None = None) -> VaultVectors:
    make_vectors(notebook)
    with closing(engine_of(work_of(notebook)).follow(COMPASS)) as followed, followed.opened() as (db, store):
        return VaultVectors(db, store, Filter(TODAY), lambda chunk_id: fits is None or chunk_id in fits)


def make_vectors(notebook: Notebook) -> None:
    def make(index: Index) -> None:
        with open_vectors(index, COMPASS) as store:
            embed(index, COMPASS, store)

    notebook.use(make)


def work_of(notebook: Notebook) -> Workspace:
    engine, root, index = notebook.place.engine, notebook.root, IndexSettings()
    if isinstance(engine, PostgresEngine):
        index = IndexSettings(engine="postgres", dsn=engine.database.address, name=engine.database.vault)
    return Workspace(
        notebook.place.vault, Settings(index=index), {"MEMTOOL_CACHE": str(root.parent / "cache")}, root, root
    )


def ids(notebook: Notebook) -> dict[str, int]:
    rows = "SELECT n.title, c.id FROM chunk AS c JOIN note AS n ON n.id = c.note_id"
    return dict(notebook.use(lambda index: index.db.execute(rows).fetchall()))


def test_the_nearest_are_those_of_the_project_and_of_none(notebook: Notebook) -> None:
    known = ids(notebook)
    assert near(notebook, "up", "a", []).nearest[0].chunk_id == known["four"]
    assert known["three"] not in {each.chunk_id for each in near(notebook, "up", "a", []).nearest}
    assert near(notebook, "up", "", []).nearest[0].chunk_id == known["three"]


def test_a_chunk_is_as_near_as_the_nearest_of_its_bullets(notebook: Notebook) -> None:
    one = ids(notebook)["one"]
    [told] = near(notebook, "east", "a", [one]).asked
    alone = float(COMPASS.embed_query("east") @ COMPASS.embed_query("- east"))
    assert told.chunk_id == one
    assert told.cosine == pytest.approx(alone, abs=1e-3)  # vectors are kept in half precision


def test_what_was_asked_for_is_told_wherever_it_stands_if_it_is_known(notebook: Notebook) -> None:
    known = ids(notebook)
    told = near(notebook, "up", "a", [known["three"], 99_999, -1, known["two"]]).asked
    assert [each.chunk_id for each in told] == [known["three"], known["two"]]


def test_a_chunk_that_the_model_does_not_fit_is_not_told(notebook: Notebook) -> None:
    known = ids(notebook)
    told = near(notebook, "up", "", [known["three"], known["two"]], fits={known["two"], known["one"]})
    assert [each.chunk_id for each in told.asked] == [known["two"]]
    assert {each.chunk_id for each in told.nearest} == {known["two"], known["one"]}


def test_an_empty_vault_is_near_to_nothing(notebook: Notebook) -> None:
    shutil.rmtree(notebook.root / "areas")
    assert near(notebook, "up", "", [1]) == Nearness()


def test_two_texts_count_as_the_nearer_of_them(notebook: Notebook) -> None:
    known, vectors = ids(notebook)["two"], held(notebook)

    def told(*texts: str) -> Near:
        return vectors.near([*map(COMPASS.embed_query, texts)], "", lambda: [known]).asked[0]

    assert told("north", "up").cosine == max(told("north").cosine, told("up").cosine)


def test_who_follows_an_index_sees_each_change_once(notebook: Notebook) -> None:
    make_vectors(notebook)
    with closing(engine_of(work_of(notebook)).follow(COMPASS)) as followed:

        def nearest() -> int:
            with followed.opened() as (db, store):
                vectors = VaultVectors(db, store, Filter(TODAY), lambda _: True)
            return vectors.near([COMPASS.embed_query("east up")], "b", list).nearest[0].chunk_id

        states = [followed.state(), followed.state()]
        assert nearest() == ids(notebook)["four"]
        notebook.write("areas/projects/b/knowledge/5.md", "# five\n\neast up east up\n")
        make_vectors(notebook)
        states.append(followed.state())
        assert nearest() == ids(notebook)["five"]
        (notebook.root / "areas/projects/b/knowledge/5.md").unlink()
        make_vectors(notebook)
        states.append(followed.state())
        assert nearest() == ids(notebook)["four"]
    assert [one == other for one, other in pairwise(states)] == [True, False, False]


def test_both_engines_hold_the_same_numbers(notebook: Notebook) -> None:
    make_vectors(notebook)
    text = "# two\n\nnorth"
    with closing(engine_of(work_of(notebook)).follow(COMPASS)) as followed, followed.opened() as (db, store):
        rows = store.rows([each for _, _, hashes in db.pieces(Filter(TODAY)) for each in hashes])
        held = store.matrix()[rows]
    assert (rows >= 0).all()
    rounded = COMPASS.embed_query(text).astype(np.float16).astype(np.float32)
    assert rounded.tolist() in held.tolist()
