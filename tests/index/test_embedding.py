from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np
import pytest
from index.notebook import Notebook
from numpy.typing import NDArray
from scripted_embeddings import vector_of

from memtool.embeddings.known_scripts import ALL_SCRIPTS
from memtool.errors import Busy, ProviderFailed
from memtool.index.engine import Index
from memtool.index.semantic import chunks_skipped, chunks_waiting, embed, forget_unused, open_vectors
from memtool.index.vectors import VectorStore
from memtool.processes import lock

ON_BOTH_ENGINES = True
NOTE = "# Keys\n\n- the deploy key\n- the backup key\n"


class Recorder:
    """An embedder that remembers what it was given, and fails when it should."""

    dimension = 16
    scripts = ALL_SCRIPTS

    def __init__(self, name: str = "recorder") -> None:
        self.name = name
        self.texts: list[str] = []
        self.before: Callable[[], None] = lambda: None

    def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before()
        self.texts += texts
        return np.array([vector_of(text, self.dimension) for text in texts], np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed_notes([text])[0]
        return vector


def make(notebook: Notebook, embedder: Recorder, *, tidy: bool = False) -> list[str]:
    """Bring the vectors up to date, and return which texts were embedded for that."""
    before = len(embedder.texts)

    def run(index: Index) -> None:
        with open_vectors(index, embedder) as store:
            embed(index, embedder, store)
            if tidy:
                forget_unused(index, embedder, store)
            assert chunks_waiting(index.db, embedder.name) == 0

    notebook.use(run)
    return embedder.texts[before:]


def stored(notebook: Notebook, embedder: Recorder) -> int:
    with closing(notebook.use(lambda index: open_vectors(index, embedder))) as store:
        return len(store)


def lost(notebook: Notebook, embedder: Recorder) -> int:
    """Return how many pieces of chunks have no vector."""

    def count(index: Index) -> int:
        with open_vectors(index, embedder) as store:
            pieces = [row[0] for row in index.db.execute("SELECT hash FROM piece")]
            assert pieces
            return len(store.missing(pieces))

    return notebook.use(count)


def test_a_chunk_and_each_of_its_pieces_get_a_vector(notebook: Notebook) -> None:
    notebook.write("a.md", NOTE)

    assert make(notebook, Recorder()) == [
        "Keys\n# Keys\n\n- the deploy key\n- the backup key",
        "- the deploy key",
        "- the backup key",
    ]


def test_only_changed_text_is_embedded_again(notebook: Notebook) -> None:
    embedder = Recorder()
    notebook.write("a.md", NOTE)
    make(notebook, embedder)

    notebook.write("a.md", NOTE.replace("backup", "spare"))
    assert make(notebook, embedder) == ["Keys\n# Keys\n\n- the deploy key\n- the spare key", "- the spare key"]

    (notebook.root / "a.md").rename(notebook.root / "b.md")
    notebook.write("copy.md", NOTE.replace("backup", "spare"))
    assert make(notebook, embedder) == []

    notebook.use(lambda index: index, rebuild=True)
    assert make(notebook, embedder) == []
    assert lost(notebook, embedder) == 0


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_stopped(notebook: Notebook) -> None:
    embedder = Recorder()
    for number in range(300):
        notebook.write(f"{number:03}.md", f"note {number}")
    calls: list[int] = []

    def fail() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise ProviderFailed("the endpoint gave up")

    embedder.before = fail
    with pytest.raises(ProviderFailed):
        make(notebook, embedder)
    first = len(embedder.texts)

    again = make(notebook, embedder)

    assert 0 < first < 300
    assert len(embedder.texts) == len(set(embedder.texts)) == 300
    assert len(again) == 300 - first


@pytest.mark.slow
def test_the_progress_is_counted_in_chunks(notebook: Notebook) -> None:
    for number in range(150):
        notebook.write(f"{number:03}.md", f"note {number}")
    steps: list[tuple[int, int]] = []
    embedder = Recorder()

    def run(index: Index) -> int:
        with open_vectors(index, embedder) as store:
            return embed(index, embedder, store, lambda *step: steps.append(step))

    assert notebook.use(run) == 150
    assert steps == [(0, 150), (100, 150), (150, 150)]


def test_no_more_vectors_are_made_than_allowed(notebook: Notebook) -> None:
    embedder = Recorder()
    notebook.write("a.md", NOTE)

    def run(index: Index, at_most: int) -> int:
        with open_vectors(index, embedder) as store:
            return embed(index, embedder, store, at_most=at_most)

    assert notebook.use(lambda index: run(index, 2)) == 0
    assert notebook.use(lambda index: run(index, 3)) == 1
    notebook.use(lambda index: index, rebuild=True)
    assert notebook.use(lambda index: run(index, 0)) == 1  # all stand already


@pytest.mark.of_sqlite
@pytest.mark.parametrize("damage", ["deleted", "zeroed", "truncated"])
def test_vectors_that_are_lost_are_made_anew(notebook: Notebook, damage: str) -> None:
    embedder = Recorder()
    notebook.write("a.md", NOTE)
    made = make(notebook, embedder)
    folder = notebook.place.folder / "vectors"
    if damage == "deleted":
        shutil.rmtree(folder)
    for path in folder.glob("*"):
        path.write_bytes(bytes(5000) if damage == "zeroed" else path.read_bytes()[:70])

    assert make(notebook, embedder) == made
    assert lost(notebook, embedder) == 0


@pytest.mark.of_sqlite
@pytest.mark.slow
def test_the_vectors_of_another_model_stay_until_the_new_ones_stand(notebook: Notebook) -> None:
    notebook.write("a.md", NOTE)
    old, new = Recorder("old"), Recorder("new")
    make(notebook, old, tidy=True)

    def fail() -> None:
        raise ProviderFailed("the endpoint gave up")

    new.before = fail
    with pytest.raises(ProviderFailed):
        make(notebook, new, tidy=True)
    assert (stored(notebook, old), stored(notebook, new)) == (3, 0)

    new.before = lambda: None
    make(notebook, new, tidy=True)
    assert (stored(notebook, old), stored(notebook, new)) == (0, 3)
    assert make(notebook, old) == make(notebook, Recorder("third"))


@pytest.mark.of_sqlite
def test_vectors_of_texts_that_are_gone_go(notebook: Notebook) -> None:
    embedder = Recorder()
    for number in range(8):
        notebook.write(f"{number}.md", f"note {number}")
    make(notebook, embedder, tidy=True)
    for number in range(4):
        (notebook.root / f"{number}.md").unlink()

    make(notebook, embedder, tidy=True)

    assert stored(notebook, embedder) == 4
    assert lost(notebook, embedder) == 0


@pytest.mark.of_sqlite
@pytest.mark.parametrize("deed", [embed, forget_unused])
def test_vectors_are_made_and_collected_by_one_process_at_a_time(
    notebook: Notebook, deed: Callable[[Index, Recorder, VectorStore], object]
) -> None:
    embedder = Recorder()
    notebook.write("a.md", NOTE)
    make(notebook, embedder)

    def run(index: Index) -> None:
        with open_vectors(index, embedder) as store:
            deed(index, embedder, store)

    with lock(notebook.place.folder / "locks" / "vectors.lock"), pytest.raises(Busy):
        notebook.use(run)


def test_a_note_that_changes_while_it_is_embedded_is_embedded_next_time(notebook: Notebook) -> None:
    embedder = Recorder()
    notebook.write("a.md", NOTE)

    def change() -> None:
        embedder.before = lambda: None
        notebook.write("a.md", "# Keys\n\nonly one")
        assert notebook.opened().applied.changed == ["a.md"]

    embedder.before = change

    assert make(notebook, embedder)[3:] == ["Keys\n# Keys\n\nonly one"]  # the new chunk is waiting, so it comes next
    assert lost(notebook, embedder) == 0


def test_a_provider_that_gives_too_few_vectors_is_refused(notebook: Notebook) -> None:
    class Lazy(Recorder):
        def embed_notes(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return super().embed_notes(texts)[:-1]

    notebook.write("a.md", NOTE)

    with pytest.raises(ProviderFailed, match="2 vectors for 3 texts"):
        make(notebook, Lazy())


@pytest.mark.of_sqlite
def test_the_folder_of_the_locks_may_be_missing(notebook: Notebook) -> None:
    embedder = Recorder()
    notebook.write("a.md", NOTE)
    notebook.opened()
    shutil.rmtree(notebook.place.folder / "locks")

    assert len(make(notebook, embedder)) == 3


def test_notes_in_a_script_that_the_model_does_not_know_are_skipped_and_not_asked_again(notebook: Notebook) -> None:
    notebook.write("a.md", NOTE)
    notebook.write("b.md", "# 解密\n\n解密失败时返回错误，不要重试。\n")
    notebook.write("c.md", "# Rust\n\nRust 中的 panic 怎么处理：解密失败时返回错误，记录日志。\n")
    english = Recorder("english")
    english.scripts = frozenset({"latin"})

    made = make(notebook, english)

    assert made
    assert not any("解密" in text for text in made)
    assert notebook.use(lambda index: chunks_skipped(index.db, english.name)) == 2
    assert make(notebook, english) == []
    assert any("解密失败" in text for text in make(notebook, Recorder("of all languages")))


def test_a_vault_of_which_the_model_knows_no_script_is_looked_through_once(notebook: Notebook) -> None:
    notebook.write("b.md", "# 解密\n\n解密失败时返回错误，不要重试。\n")
    english = Recorder("english")
    english.scripts = frozenset({"latin"})

    assert make(notebook, english) == []

    def waiting(index: Index) -> int:
        with open_vectors(index, english):
            return chunks_waiting(index.db, english.name)

    assert notebook.use(waiting) == 0
