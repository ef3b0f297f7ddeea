from __future__ import annotations

from pathlib import Path

import pytest
from index.notebook import Notebook

from memtool.errors import NotWritable
from memtool.index import engine
from memtool.vault.layout import open_vault, state_folder


def test_what_is_derived_lies_in_the_vault_under_the_name_of_this_user(notebook: Notebook, tmp_path: Path) -> None:
    vault = notebook.place.vault

    mine = state_folder(vault, lambda: tmp_path / "mine")

    assert mine.parent == vault.state_path
    assert mine == state_folder(vault, lambda: tmp_path / "mine")
    assert mine != state_folder(vault, lambda: tmp_path / "yours")
    assert mine.stat().st_mode & 0o777 == 0o700


def test_an_index_that_came_with_the_vault_is_not_opened(notebook: Notebook, tmp_path: Path) -> None:
    notebook.write("a.md", "alpha")
    place = notebook.place._replace(folder=state_folder(notebook.place.vault, lambda: tmp_path / "theirs"))
    assert engine.use_index(place, lambda index: len(index.applied.added)) == 1

    place = notebook.place._replace(folder=state_folder(notebook.place.vault, lambda: tmp_path / "mine"))

    assert engine.use_index(place, lambda index: len(index.applied.added)) == 1


@pytest.mark.parametrize("name", ["", "../../../etc", "a/b", "x" * 5000, "\u00e9" * 16])
def test_a_name_that_memtool_did_not_draw_is_drawn_anew(notebook: Notebook, tmp_path: Path, name: str) -> None:
    (tmp_path / "machine").write_text(name, encoding="utf-8")

    folder = state_folder(notebook.place.vault, lambda: tmp_path)

    assert folder.parent == notebook.place.vault.state_path
    assert folder == state_folder(notebook.place.vault, lambda: tmp_path)


def test_without_a_cache_the_vault_still_has_its_index(notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    folder = state_folder(notebook.place.vault, lambda: tmp_path / "file")

    assert folder.parent == notebook.place.vault.state_path
    assert folder == state_folder(notebook.place.vault, lambda: tmp_path / "file")


def test_a_vault_that_cannot_be_written_is_indexed_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.md").write_text("alpha")
    (root / ".memtool").touch()  # no folder can be made there
    vault = open_vault(root)
    before = {path: path.stat() for path in root.rglob("*")}
    monkeypatch.chdir(tmp_path)

    for cache in (tmp_path / "cache", Path("relative")):
        folder = state_folder(vault, lambda cache=cache: cache)  # type: ignore[misc]
        place = engine.Place(vault, folder)
        assert engine.use_index(place, lambda index: list(index.stamps())) == ["a.md"]
        assert folder == state_folder(vault, lambda cache=cache: cache)  # type: ignore[misc]

    assert before == {path: path.stat() for path in root.rglob("*")}


def test_a_state_folder_that_is_a_symlink_is_not_used(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / ".memtool").symlink_to(tmp_path)

    assert state_folder(open_vault(root), lambda: tmp_path / "cache").is_relative_to(tmp_path / "cache")


def test_a_cache_that_cannot_be_written_either_is_said_in_a_sentence(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / ".memtool").touch()

    with pytest.raises(NotWritable, match=r"neither .* nor .* can be written"):
        state_folder(open_vault(root), lambda: root / ".memtool")
