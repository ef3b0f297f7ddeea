from __future__ import annotations

from pathlib import Path

import pytest

from memtool.index import generations


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


def finished(folder: Path) -> Path:
    path = generations.begin(folder)
    path.write_bytes(b"content")
    generations.make_current(path)
    return path


def test_a_new_one_counts_only_when_it_is_finished(folder: Path) -> None:
    old = finished(folder)
    new = generations.begin(folder)
    assert generations.current(folder) == old

    generations.make_current(new)

    assert generations.current(folder) == new
    assert old.exists()


def test_files_are_for_the_owner_only(folder: Path) -> None:
    path = finished(folder)

    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "pointer",
    [
        b"",
        b"\n",
        b"deadbeef.sqlite",
        b"../../secret.sqlite",
        b"/etc/passwd",
        b"current",
        b".",
        b"\xff\xfe",
        b"a\x00b",
        b"x" * 9999,
    ],
)
def test_a_pointer_to_anything_else_points_nowhere(folder: Path, pointer: bytes) -> None:
    finished(folder)
    (folder.parent / "secret.sqlite").write_bytes(b"")
    (folder / "current").write_bytes(pointer)

    assert generations.current(folder) is None


def test_leftovers_go_and_the_files_of_others_stay(folder: Path) -> None:
    finished(folder)
    generations.begin(folder)
    kept = finished(folder)
    journals = [kept.with_name(f"{kept.name}{end}") for end in ("-wal", "-shm")]
    for path in (*journals, folder / "0badf00d.sqlite-wal", folder / "photos.sqlite", folder / "notes.md"):
        path.touch()

    generations.remove_others(folder)

    left = {path.name for path in folder.iterdir()}
    assert left == {"current", kept.name, *(path.name for path in journals), "photos.sqlite", "notes.md"}


def test_a_folder_that_is_a_symlink_is_refused(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    finished(elsewhere)
    folder.symlink_to(elsewhere)

    assert generations.current(folder) is None
    with pytest.raises(OSError, match="symlink"):
        generations.begin(folder)


def test_a_generation_that_is_a_symlink_is_not_opened(folder: Path, tmp_path: Path) -> None:
    path = finished(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")

    assert generations.current(folder) is None


def test_nothing_is_written_through_a_symlink(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = generations.begin(folder)
    (folder / "current.tmp").symlink_to(victim)
    (folder / "current").symlink_to(victim)

    generations.make_current(path)

    assert victim.read_text() == "precious"
    assert generations.current(folder) == path
