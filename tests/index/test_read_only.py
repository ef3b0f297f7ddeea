from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from index.notebook import Notebook

from memtool.errors import Busy
from memtool.index import generations
from memtool.index.files import FileEngine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an index lies."""
    notebook = Notebook(tmp_path.resolve() / "vault")
    notebook.write("笔记.md", "# 灯塔\n\nThe lighthouse is white.\n" * 100)
    notebook.opened()
    return notebook.place.folder


def test_a_bug_of_who_reads_is_not_blamed_on_the_index(folder: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such column"), FileEngine(folder).current() as db:
        db.execute("SELECT keeper FROM note")
    with pytest.raises(UnicodeDecodeError), FileEngine(folder).current():
        b"\xff".decode()


def test_an_index_that_turns_out_to_be_damaged_while_it_is_read_cannot_be_used(folder: Path) -> None:
    path = generations.current(folder / "index")
    assert path
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))  # the first page is enough to open it
    with pytest.raises(Busy, match="the index cannot be used"), FileEngine(folder).current() as db:
        db.execute("SELECT * FROM note JOIN chunk").fetchall()


def test_where_there_is_no_index_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(Busy, match="there is no index yet"), FileEngine(tmp_path).current():
        raise AssertionError("there is none")
