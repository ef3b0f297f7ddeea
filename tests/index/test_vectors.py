from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from memtool.errors import Busy, NotWritable
from memtool.index import vectors
from memtool.index.semantic import text_hash
from memtool.index.vectors import VectorStore, delete_other_models
from memtool.processes import lock

D = 4


def _hashes(names: Iterable[str]) -> list[int]:
    return [text_hash(name) for name in names]


def _vectors(names: Iterable[str]) -> np.ndarray:
    """Make a vector that its name tells, so that a mixed-up row shows."""
    made = [np.random.default_rng(list(each.encode())).standard_normal(D) for each in names]
    return np.array(made, np.float32).reshape(-1, D)


def _put(store: VectorStore, *names: str) -> None:
    store.add(_hashes(names), _vectors(names))


def _add(folder: Path, *names: str, model: str = "m") -> None:
    with VectorStore(folder, model, D) as store:
        _put(store, *names)


def _missing(store: VectorStore, names: Iterable[str]) -> list[str]:
    by_hash = {text_hash(name): name for name in names}
    return [by_hash[each] for each in store.missing(by_hash)]


def _check(store: VectorStore, *names: str) -> None:
    """Check that the store holds these vectors, each its own."""
    rows = store.rows(_hashes(names))
    assert (rows >= 0).all()
    np.testing.assert_array_equal(store.matrix()[rows], _vectors(names))
    assert store.hashes()[rows].tolist() == _hashes(names)
    assert _missing(store, names) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".memtool" / "vectors"


@pytest.fixture
def store(folder: Path) -> Iterator[VectorStore]:
    with VectorStore(folder, "m", D) as store:
        yield store


def test_what_was_added_is_found_at_once_and_later(folder: Path, store: VectorStore) -> None:
    _put(store, "a", "b")
    _put(store, "c")
    _check(store, "c", "a", "b")
    assert _missing(store, ["a", "x", "c"]) == ["x"]
    with VectorStore(folder, "m", D) as again:
        _check(again, "a", "b", "c")
        assert again.notices == []


def test_what_is_there_is_not_added_again(store: VectorStore) -> None:
    _put(store, "a", "b")
    store.add(_hashes(["b", "c", "c", "a"]), _vectors(["x", "c", "c", "x"]))
    assert len(store) == 3
    _check(store, "a", "b", "c")


def test_the_matrix_cannot_be_written(store: VectorStore) -> None:
    _put(store, "a")
    with pytest.raises(ValueError, match="read-only"):
        store.matrix()[0, 0] = 1


@pytest.mark.parametrize("shape", [(1, D + 1), (2, D), (D,), (0, D)])
def test_vectors_that_do_not_match_are_refused(store: VectorStore, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="shape"):
        store.add([1], np.zeros(shape, np.float32))


def test_scores_are_dot_products_and_the_nearest_come_first(store: VectorStore) -> None:
    store.add([1, -2, 3], np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0.6, 0.8, 0, 0]]))
    np.testing.assert_allclose(store.scores([1, 0, 0, 0]), [1, 0, 0.6])
    rows, scores = store.nearest([1, 0, 0, 0], 2)
    assert store.hashes()[rows].tolist() == [1, 3]
    np.testing.assert_allclose(scores, [1, 0.6])
    assert len(store.nearest([1, 0, 0, 0], 99)[0]) == 3


def test_the_deviation_is_that_of_the_likenesses_between_the_texts(store: VectorStore) -> None:
    assert store.deviation() == 0.0
    _put(store, "a")
    assert store.deviation() == 0.0  # one text is like no other

    names = [str(number) for number in range(40)]
    _put(store, *names)

    matrix = _vectors(["a", *names])
    pairs = [one @ other for one, other in itertools.permutations(matrix, 2)]
    assert store.deviation() == pytest.approx(np.std(pairs), rel=1e-4)


def test_a_store_shows_what_stood_when_it_was_opened(folder: Path, store: VectorStore) -> None:
    _put(store, "a")
    _add(folder, "b")
    assert (len(store), _missing(store, ["a", "b"])) == (1, ["b"])
    _put(store, "c")
    _check(store, "a", "b", "c")


def test_other_models_can_be_deleted(folder: Path) -> None:
    for model in ("old", "new", "older"):
        _add(folder, "a", model=model)
    delete_other_models(folder, "new")
    assert {path.name.split("-")[0] for path in folder.glob("*-*")} == {"new"}
    with VectorStore(folder, "new", D) as store:
        _check(store, "a")


def test_deleting_where_there_is_nothing_is_nothing(folder: Path) -> None:
    delete_other_models(folder, "m")
    assert not folder.exists()


def test_files_of_others_are_left_alone(folder: Path) -> None:
    _add(folder, "a", model="old")
    (folder / "notes.1.txt").write_text("mine", encoding="utf-8")
    delete_other_models(folder, "new")
    assert {path.name for path in folder.iterdir()} == {"notes.1.txt", "vectors.lock"}


def test_files_and_folders_are_for_the_owner_only(folder: Path) -> None:
    with VectorStore(folder, "m", D) as store:
        _put(store, "a")
        modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


# Garbage


def test_much_garbage_goes(folder: Path, store: VectorStore) -> None:
    _put(store, *"abcdefgh")
    before = store.matrix()
    assert store.collect_garbage(set(_hashes(["b", "g", "other"]))) == 6
    assert len(store) == 2
    _check(store, "b", "g")
    assert _missing(store, list("abg")) == ["a"]
    np.testing.assert_array_equal(before, _vectors(list("abcdefgh")))  # a map that someone holds stays good
    assert len(list(folder.glob("*.f32"))) == 1
    _put(store, "z")
    _check(store, "b", "g", "z")


def test_a_reader_of_the_old_generation_keeps_its_rows(folder: Path, store: VectorStore) -> None:
    _put(store, *"abcd")
    with VectorStore(folder, "m", D) as reader:
        store.collect_garbage(set(_hashes("d")))
        _put(store, "e")
        _check(reader, *"abcd")
        assert _missing(reader, ["e"]) == ["e"]


def test_a_writer_that_opened_the_old_generation_adds_to_the_new_one(folder: Path, store: VectorStore) -> None:
    _put(store, *"abcd")
    with VectorStore(folder, "m", D) as collector:
        collector.collect_garbage(set(_hashes("d")))
    _put(store, "e", "a")
    _check(store, "d", "e", "a")
    assert len(store) == 3


# Damage


def _only(folder: Path) -> Path:
    [path] = folder.glob("*.f32")
    return path


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _from_the_future(path: Path) -> None:
    content = path.read_bytes()
    assert b"memtool vectors 3" in content
    path.write_bytes(content.replace(b"memtool vectors 3", b"memtool vectors 9"))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": _truncate,
    "emptied": lambda path: os.truncate(path, 0),
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "noise": lambda path: path.write_bytes(b"noise" * 1000),
    "removed": Path.unlink,
    "from the future": _from_the_future,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_counts_as_empty_and_is_made_anew(folder: Path, damage: Callable[[Path], object]) -> None:
    names = [str(number) for number in range(50)]
    _add(folder, *names)
    damage(_only(folder))
    with VectorStore(folder, "m", D) as store:
        assert _missing(store, ["0", "x"]) == ["0", "x"]
        assert store.scores([1, 0, 0, 0]).shape == (0,)
        assert [notice.partition(" (")[0] for notice in store.notices] == (
            [] if damage is Path.unlink else ["the stored vectors of 'm' are unusable"]
        )
        _put(store, *names[:2])
        _check(store, *names[:2])
    with VectorStore(folder, "m", D) as store:
        _check(store, *names[:2])
        assert store.notices == []
    assert len(list(folder.glob("*.f32"))) == 1


def test_a_file_of_another_model_is_not_taken_for_ours(tmp_path: Path, folder: Path) -> None:
    _add(folder, "a")
    _add(tmp_path / "other", "a", "b", model="other")
    shutil.copy(_only(tmp_path / "other"), _only(folder))
    with VectorStore(folder, "m", D) as store:
        assert _missing(store, ["a"]) == ["a"]
        assert len(store.notices) == 1


# Crashes


class Killed(BaseException):
    """Stands for a process that ends at once: no handler for errors catches it."""


def _killed_at(patch: pytest.MonkeyPatch, module: object, name: str, nth: int, work: Callable[[], None]) -> bool:
    """Do *work*, but end it when it comes to a function for the *nth* time; return whether it came so far."""
    original, times = getattr(module, name), itertools.count()

    def counted(*args: object, **kwargs: object) -> object:
        if next(times) == nth:
            raise Killed
        return original(*args, **kwargs)

    patch.setattr(module, name, counted)
    try:
        work()
    except Killed:
        return True
    return False


def _write_a_lot(folder: Path) -> None:
    with VectorStore(folder, "m", D) as store:
        _put(store, "a", "b")
        _put(store, "c", "d")
        store.collect_garbage(set(_hashes("ad")))
        _put(store, "e")


PLACES: list[tuple[object, str]] = [
    (os, "replace"), (os, "fsync"), (os, "open"), (vectors, "_sync"), (Path, "open"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), PLACES)
def test_a_killed_writer_leaves_a_store_that_is_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str
) -> None:
    for nth in itertools.count():
        here = folder / str(nth)
        with monkeypatch.context() as patch:
            if not _killed_at(patch, module, name, nth, partial(_write_a_lot, here)):
                break
        with VectorStore(here, "m", D) as store:
            there = [each for each in "abcde" if each not in _missing(store, "abcde")]
            assert "".join(there) in ("", "ab", "abcd", "ad", "ade")
            _check(store, *there)
        _write_a_lot(here)
        with VectorStore(here, "m", D) as store:
            _check(store, *"ade")
            assert store.notices == []
        assert len(list(here.glob("*.f32"))) == 1
    assert nth > 0


def test_rows_that_no_one_named_are_written_over(folder: Path, store: VectorStore) -> None:
    _put(store, "a")
    with _only(folder).open("ab") as file:
        file.write(b"\x07" * 100)  # as after a crash before the number of rows was written
    _put(store, "b", "c")
    _check(store, "a", "b", "c")


@pytest.mark.slow
def test_a_killed_process_leaves_its_commits(folder: Path) -> None:
    script = f"""
import os, numpy
from pathlib import Path
from memtool.index import vectors
from memtool.index.vectors import VectorStore
store = VectorStore(Path({str(folder)!r}), "m", {D})
store.add([{text_hash("a")}], numpy.ones((1, {D})))
store.add([{text_hash("b")}], numpy.ones((1, {D})))
vectors._sync = lambda *_: os._exit(9)  # when the rows are written and not counted yet
store.add([{text_hash("c")}], numpy.ones((1, {D})))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    with VectorStore(folder, "m", D) as store:
        assert _missing(store, ["a", "b", "c"]) == ["c"]


# Several processes


def test_a_writer_waits_for_its_turn_and_a_reader_does_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _add(folder, "a")
    monkeypatch.setattr(vectors, "lock", lambda path: lock(path, timeout=0))
    with lock(folder / "vectors.lock"), VectorStore(folder, "m", D) as store:
        _check(store, "a")
        for write in (
            lambda: _put(store, "b"),
            lambda: store.collect_garbage(set()),
            lambda: delete_other_models(folder, "x"),
        ):
            with pytest.raises(Busy):
                write()
        _check(store, "a")


@pytest.mark.slow
def test_several_processes_write_and_none_loses_a_vector(folder: Path) -> None:
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_vectors import _hashes, _vectors, D
from memtool.index.vectors import VectorStore
from memtool.processes import lock
me = sys.argv[1]
with VectorStore(Path({str(folder)!r}), "m", D) as store:
    for number in range(20):
        names = [f"{{me}}-{{number}}", f"shared-{{number}}", f"garbage-{{me}}-{{number}}"]
        # What to keep is known only while nobody adds, so both happen under one lock, as in memtool.index.semantic.
        with lock(Path({str(folder.parents[1] / "outer.lock")!r}), timeout=60):
            store.add(_hashes(names), _vectors(names))
            if number % 7 != 3:
                continue
            rows = store.rows(_hashes(names))
            assert (store.matrix()[rows] == _vectors(names)).all()
            garbage = _hashes(f"garbage-{{who}}-{{number}}" for who in "xyz" for number in range(20))
            store.collect_garbage(set(store.hashes().tolist()) - set(garbage))
"""
    running = [subprocess.Popen([sys.executable, "-c", script, each]) for each in "xyz"]
    assert [process.wait() for process in running] == [0, 0, 0]
    with VectorStore(folder, "m", D) as store:
        _check(store, *(f"{who}-{number}" for who in ("x", "y", "z", "shared") for number in range(20)))
        assert store.notices == []


# Folders that cannot be written


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with VectorStore(tmp_path / "file" / "vectors", "m", D) as store:
        assert _missing(store, ["a"]) == ["a"]
        with pytest.raises(NotWritable, match="cannot write vectors"):
            _put(store, "a")


def test_a_full_disk_is_one_sentence_and_loses_nothing(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(store, "a")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(NotWritable, match="No space left"):
            _put(store, "b")
        with pytest.raises(NotWritable, match="No space left"):
            store.collect_garbage(set())
    _check(store, "a")
    _put(store, "b")
    _check(store, "a", "b")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_can_be_read(folder: Path) -> None:
    _add(folder, "a")
    folder.chmod(0o500)
    try:
        with VectorStore(folder, "m", D) as store:
            _check(store, "a")
            with pytest.raises(NotWritable):
                _put(store, "b")
            _check(store, "a")
    finally:
        folder.chmod(0o700)
