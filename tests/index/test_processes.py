from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from index.notebook import Notebook, fill, finds_all

from memtool.errors import Busy, NotWritable
from memtool.index import limits, schema
from memtool.processes import lock

TESTS = Path(__file__).parents[1]


def test_while_another_process_writes_the_last_state_is_used(built: Notebook) -> None:
    built.write("new.md", "new")
    with lock(built.place.folder / "locks" / "index.lock"):
        index = built.opened()
        assert index.behind
        assert finds_all(built)

    assert not built.opened().behind
    assert built.find("new")[:1] == ["new.md"]


def test_while_another_process_builds_the_first_index_there_is_none(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_PATIENCE", 0.0)
    (notebook.place.folder / "locks").mkdir(parents=True)
    with lock(notebook.place.folder / "locks" / "index.lock"), pytest.raises(Busy):
        notebook.opened()


def test_a_database_that_is_held_is_busy_and_not_damaged(built: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    before = built.generation()
    built.write("new.md", "new")
    true = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **more: true(*args, **more | {"timeout": 0.0}))
    with closing(true(before, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy):
            built.opened()

    assert built.generation() == before


def limited(pages: int) -> Callable[..., sqlite3.Connection]:
    """A connection to a database that may have so many pages: SQLite then says that the disk is full."""
    true = schema.connect

    def connect(path: Path, **mode: str) -> sqlite3.Connection:
        db = true(path, **mode)
        db.execute(f"PRAGMA max_page_count = {pages}")
        return db

    return connect


@pytest.mark.slow
@pytest.mark.parametrize("pages", [1, 5, 20, 30])
def test_a_full_disk_while_building_is_said_and_leaves_nothing(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    fill(notebook, 200)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "connect", limited(pages))
        with pytest.raises(NotWritable, match="full"):
            notebook.opened()
        assert notebook.index_files() == []

    assert finds_all(notebook, 3)


@pytest.mark.slow
def test_a_full_disk_while_refreshing_is_said_and_keeps_the_last_state(
    built: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = built.generation()
    large = built.write("large.md", "\n\n".join(f"large{number} " * 50 for number in range(500)))
    with monkeypatch.context() as patch:
        patch.setattr(schema, "connect", limited(before.stat().st_size // 4096))
        with pytest.raises(NotWritable, match="full"):
            built.opened()
    large.unlink()

    assert finds_all(built)
    assert built.generation() == before


@pytest.mark.slow
def test_a_full_disk_while_healing_is_said(built: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    built.generation().write_bytes(b"garbage" * 1000)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "connect", limited(5))
        with pytest.raises(NotWritable, match="full"):
            built.opened()

    assert finds_all(built)


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_is_said(built: Notebook) -> None:
    built.write("large.md", "\n\n".join(f"large{number} " * 50 for number in range(2000)))
    code = (
        f"from index.notebook import Notebook; from pathlib import Path; Notebook(Path({str(built.root)!r})).opened()"
    )

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS,
        preexec_fn=limit,
    )

    assert "NotWritable" in done.stderr.strip().rsplit("\n", 1)[-1]
    assert finds_all(built)


def test_a_disk_that_refuses_the_pointer_leaves_the_last_index(
    built: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = built.generation()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", partial(_refused, 28, "No space left on device"))
        with pytest.raises(NotWritable, match="No space left"):
            built.use(lambda index: index, rebuild=True)

    assert built.generation() == before
    assert finds_all(built)


def _refused(number: int, sentence: str, *_: object) -> None:
    raise OSError(number, sentence)


# What a process does that others may see, or that a power cut may divide: each may be its last deed.
CRASHES = """
import os, shutil, sqlite3, sys
from pathlib import Path
from index.notebook import Notebook, fill, finds_all
from memtool.index import limits
from memtool.index.schema import SqliteTables

root, scene, last = Path(sys.argv[1]), sys.argv[2], [0]

def deed(true):
    def do(*args, **more):
        last[0] -= 1
        if not last[0]:
            os._exit(9)
        return true(*args, **more)
    return do

class Database(SqliteTables):
    execute, executemany = deed(sqlite3.Connection.execute), deed(sqlite3.Connection.executemany)
    executescript, close = deed(sqlite3.Connection.executescript), deed(sqlite3.Connection.close)

def arm(at):
    last[0], connect = at, sqlite3.connect
    sqlite3.connect = lambda *args, **more: connect(*args, **{**more, "factory": Database})
    os.replace, os.fsync, os.unlink, os.mkdir = map(deed, (os.replace, os.fsync, os.unlink, os.mkdir))

def prepare(folder):
    notebook = Notebook(folder)
    fill(notebook, 3)
    limits.AT_ONCE = 1 if scene == "batches" else 2_000
    if scene not in ("first", "batches"):
        notebook.write("gone.md", "gone")
        notebook.write("n0.md", "another text")
        notebook.opened()
        fill(notebook, 3)
        (folder / "gone.md").unlink()
    return notebook

at, code = 0, 9
while code == 9:
    at += 1
    folder = root / f"{scene}{at}"
    notebook = prepare(folder)
    notes = {path: path.read_bytes() for path in folder.glob("*.md")}
    child = os.fork()
    if not child:
        arm(at)
        notebook.use(lambda index: index, rebuild=scene == "rebuild")
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), code
    assert {path: path.read_bytes() for path in folder.glob("*.md")} == notes, at
    assert finds_all(notebook, 3) and notebook.find("gone") == [], at
    notebook.use(lambda index: index, rebuild=True)
    assert len([name for name in notebook.index_files() if name.endswith(".sqlite")]) == 1, at
    shutil.rmtree(folder)
print(at)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the crashing process is a fork")
@pytest.mark.parametrize("scene", ["first", "batches", "refresh", "rebuild"])
def test_a_process_that_is_killed_at_any_deed_leaves_an_index_that_is_used_or_rebuilt(
    tmp_path: Path, scene: str
) -> None:
    command = [sys.executable, "-c", CRASHES, str(tmp_path), scene]

    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TESTS)

    assert done.stderr == ""
    assert int(done.stdout) > 15


SEARCHING = """
import sys
from pathlib import Path
from index.notebook import Notebook

root, name = Path(sys.argv[1]), sys.argv[2]
notebook = Notebook(root, patience=60.0)
for turn in range(12):
    notebook.write(f"{name}.md", f"turn {name}turn{turn} shared")
    notebook.write(f"{name}/{turn}.md", f"{name}new{turn}")
    if turn > 2:
        (root / name / f"{turn - 3}.md").unlink()
    assert notebook.find(f"{name}turn{turn}")[:1] == [f"{name}.md"], turn
    assert notebook.find(f"{name}new{turn}")[:1] == [f"{name}/{turn}.md"], turn
    assert turn < 3 or f"{name}/{turn - 3}.md" not in notebook.find(f"{name}new{turn - 3}"), turn
    assert notebook.find("shared")
    if turn == 6 and name == "b":
        notebook.use(lambda index: index, rebuild=True)
"""


@pytest.mark.slow
def test_three_processes_write_and_search_one_vault_at_once(notebook: Notebook) -> None:
    fill(notebook, 100)
    command = [sys.executable, "-c", SEARCHING, str(notebook.root)]
    running = [
        subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True, cwd=TESTS) for name in ("a", "b", "c")
    ]

    assert [process.communicate()[1] for process in running] == ["", "", ""]

    assert finds_all(notebook, 100)
    assert sorted(notebook.find("shared")) == ["a.md", "b.md", "c.md"]
    assert len(notebook.use(lambda index: list(index.stamps()))) == 100 + 3 * (1 + 3)
