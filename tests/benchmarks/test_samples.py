from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import floors, samples
from benchmarks.vaults import files, write_vault

SIZE = 30


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(write_vault(tmp_path / "vault", SIZE))


def is_timed(answer: dict[str, Any], repeat: int) -> bool:
    return all(len(seconds) == repeat and min(seconds) > 0 for seconds in answer.values())


@pytest.mark.slow
def test_a_first_index_takes_in_every_file_each_time(folder: str) -> None:
    one, other = samples.first_index(folder), samples.first_index(folder)
    assert one["files"] == other["files"] == len(list(files(SIZE)))
    assert one["chunks"] >= one["files"]
    assert min(one["seconds"], one["index_bytes"], one["note_bytes"]) > 0


@pytest.mark.slow
def test_notes_that_were_changed_are_changed_back(folder: str, tmp_path: Path) -> None:
    floors.create(tmp_path / "floor.sqlite").close()
    samples.changed(folder, str(tmp_path / "floor.sqlite"), size=SIZE, count=4, repeat=1)
    assert all((Path(folder) / file.ref).read_bytes() == file.text.encode() for file in files(SIZE))


@pytest.mark.slow
def test_every_kind_of_question_is_timed_on_both_sides(folder: str) -> None:
    answer = samples.query(folder, size=SIZE, count=2, repeat=1)
    assert answer["everywhere"].keys() == answer["narrowed"].keys() > {"Chinese question", "identifier"}
    assert all(is_timed(times, 2) for by_kind in answer.values() for times in by_kind.values())
