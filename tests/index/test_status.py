from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from index.notebook import Notebook

from memtool.index.engine import Index, once
from memtool.processes import lock

ON_BOTH_ENGINES = True


def test_broken_notes_are_named_when_they_are_met_and_not_again(notebook: Notebook) -> None:
    for number in range(5):
        notebook.write(f"{number}.md", b"\xff")

    notices = notebook.use(Index.notices)

    assert [notice.split(":")[0] for notice in notices[:3]] == ["0.md", "1.md", "2.md"]
    assert notices[3:] == ["and 2 more files that cannot be read well: see `memtool doctor`"]
    assert notebook.use(Index.notices) == []
    notebook.write("3.md", b"\xfe")
    assert [notice.split(":")[0] for notice in notebook.use(Index.notices)] == ["3.md"]


@pytest.mark.of_sqlite
def test_a_new_index_and_a_busy_one_are_said(notebook: Notebook) -> None:
    assert notebook.use(Index.notices) == []  # the first is nothing to speak of
    assert notebook.use(Index.notices, rebuild=True) == ["the index was built anew: you asked for it"]
    notebook.write("a.md", "text")
    with lock(notebook.place.folder / "locks" / "index.lock"):
        assert notebook.use(Index.notices) == ["another process is indexing: the newest notes may be missing"]


def test_what_is_said_once_is_said_once(tmp_path: Path) -> None:
    assert once(tmp_path, ["no model", "no key"]) == ["no model", "no key"]
    assert once(tmp_path, ["no key", "no network"]) == ["no network"]

    shutil.rmtree(tmp_path / "said")
    (tmp_path / "said").touch()  # it cannot be remembered
    assert once(tmp_path, ["no key"]) == once(tmp_path, ["no key"]) == ["no key"]
