from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from index.notebook import LONG_AGO_NS, Notebook, finds_all

from memtool.errors import NotWritable
from memtool.index import generations, schema, sqlite
from memtool.index.engine import Index


@pytest.mark.slow
def test_an_index_that_is_zeroed_anywhere_is_built_anew(built: Notebook) -> None:
    content = built.generation().read_bytes()
    anew = 0
    for start in range(0, len(content), 4096):
        built.generation().write_bytes(content[:start] + bytes(4096) + content[start + 4096 :])

        assert finds_all(built), start

        path = built.generation()
        anew += path.read_bytes() != content
        shutil.rmtree(built.place.generations)
        generations.make_current(_put(generations.begin(built.place.generations), content))
    assert anew > 5


def _put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_an_index_with_garbage_in_it_is_built_anew(built: Notebook, seed: int) -> None:
    dice = random.Random(seed)
    content = bytearray(built.generation().read_bytes())
    for _ in range(40):
        at = dice.randrange(len(content) - 100)
        content[at : at + 100] = dice.randbytes(100)
    built.generation().write_bytes(content)

    assert finds_all(built)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [bytes(8192), b"# not a database\n" * 500, random.Random(1).randbytes(8192)],
    ids=["zeros", "text", "garbage"],
)
def test_an_index_that_was_replaced_is_built_anew_and_says_so(built: Notebook, content: bytes) -> None:
    built.generation().write_bytes(content)

    assert built.opened().rebuilt.startswith("it was damaged")
    assert built.opened().rebuilt == ""
    assert finds_all(built)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("PRAGMA user_version = 99", "a newer memtool made it"),
        ("PRAGMA user_version = 0", "unfinished"),
        ("UPDATE meta SET value = 'text 0' WHERE key = 'fingerprint'", "cut in another way"),
        ("DELETE FROM meta", "cut in another way"),
        ("DROP TABLE meta", "damaged"),
        ("DROP TABLE note", "damaged"),
        ("DROP TABLE chunk_terms", "damaged"),
        ("DROP TABLE settled", "damaged"),
        ("UPDATE settled SET scan = x'00'", ""),
        ("DROP TABLE word", ""),  # only what is asked for is missed
        ("DELETE FROM chunk", ""),
    ],
)
def test_an_index_of_another_kind_is_built_anew(built: Notebook, change: str, reason: str) -> None:
    with closing(sqlite3.connect(built.generation())) as db, db:
        db.execute(change)

    found = built.use(lambda index: (index.rebuilt, index.db.execute("SELECT * FROM chunk_terms").fetchall()))

    assert reason in found[0]
    if reason:
        assert finds_all(built)


def test_a_newer_index_is_not_touched_until_the_new_one_stands(
    built: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(built.generation())) as db:
        db.execute("PRAGMA user_version = 99")
    before = built.generation()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlite, "_apply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        built.opened()

    assert set(built.index_files()) == {"current", before.name}


@pytest.mark.slow
def test_everything_derived_may_be_deleted(built: Notebook) -> None:
    shutil.rmtree(built.place.folder)

    assert finds_all(built)


@pytest.mark.slow
def test_asking_for_it_builds_the_index_anew(built: Notebook) -> None:
    before = built.generation()

    index = built.use(lambda index: index, rebuild=True)

    assert index.rebuilt == "you asked for it"
    assert len(index.applied.added) == 12
    assert not before.exists()
    assert finds_all(built)


def test_a_reader_keeps_what_it_has_open_while_the_index_is_built_anew(built: Notebook) -> None:
    def read(index: Index) -> int:
        built.write("new.md", "new")
        assert built.use(lambda other: len(other.stamps()), rebuild=True) == 13
        return len(index.stamps())

    assert built.use(read) == 12
    assert built.find("new")[:1] == ["new.md"]


@pytest.mark.slow
def test_a_generation_that_goes_between_two_steps_is_no_damage(
    built: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = schema.misfit

    def overtaken(db: sqlite3.Connection, daily: str) -> str:
        answer = true(db, daily)
        monkeypatch.undo()
        built.use(lambda index: index, rebuild=True)
        return answer

    monkeypatch.setattr(schema, "misfit", overtaken)

    assert finds_all(built)


def test_on_a_full_disk_an_index_that_is_current_is_used(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.write("a.md", "解密 alpha", mtime_ns=LONG_AGO_NS)
    young = notebook.write("young.md", "gamma")  # its stamp is not trusted yet, so it must be read
    assert notebook.find("解密") == ["a.md"]
    connect = schema.connect

    def full(path: Path, *, mode: str = "rw") -> sqlite3.Connection:
        if mode != "rw":
            return connect(path, mode=mode)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
        raise error

    monkeypatch.setattr(schema, "connect", full)
    before = notebook.index_files()
    assert notebook.find("解密") == ["a.md"]
    about = young.stat()
    notebook.write("young.md", "delta", mtime_ns=about.st_mtime_ns)
    with pytest.raises(NotWritable):
        notebook.find("解密")
    notebook.write("young.md", "gamma", mtime_ns=about.st_mtime_ns)
    assert notebook.find("gamma") == ["young.md"]
    notebook.write("b.md", "beta")
    with pytest.raises(NotWritable):
        notebook.find("解密")
    assert notebook.index_files() == before
    with pytest.raises(NotWritable):
        notebook.use(lambda index: index, rebuild=True)
