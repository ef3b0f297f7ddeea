from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.vaults import File, files, note, write, write_vault
from memtool.index.rows import note_row
from memtool.vault.scan import scan

SIZE = 300


@cache
def all_files() -> list[File]:
    return list(files(SIZE, seed=7))


def notes() -> list[File]:
    return [file for file in all_files() if file.ref.endswith(".md")]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, other = (write_vault(tmp_path / name, 60, seed=7) for name in ("one", "other"))
    assert contents(one) == contents(other)
    assert scan(one).stamps == scan(other).stamps
    assert contents(one) != contents(write_vault(tmp_path / "third", 60, seed=8))


def test_these_bytes_are_the_same_on_every_machine() -> None:
    # If this fails because the generator was changed on purpose, measurements of before cannot be compared any more.
    assert note(4, seed=7).ref == "notes/01/000004-561208.md"
    assert "\ntitle: Becor erdafloment renination or boveral\ndate: 2023-06-09\n" in note(4, seed=7).text


@pytest.mark.slow
def test_every_note_has_a_place_of_its_own_and_memtool_reads_them_all(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", SIZE, seed=7)
    found = scan(vault)
    assert len(notes()) == SIZE
    assert found.stamps.keys() == {file.ref for file in all_files()}
    assert not found.problems
    assert not any(note_row(file.ref, file.text.encode()).problem for file in all_files())


def test_a_revision_changes_the_text_and_the_stamp_but_not_the_place(tmp_path: Path) -> None:
    first, second = note(5, seed=7), note(5, seed=7, revision=1)
    assert first.ref == second.ref
    assert first.text != second.text
    write(tmp_path, first)
    _, before_ns = scan(tmp_path).stamps[first.ref]
    write(tmp_path, second)
    _, after_ns = scan(tmp_path).stamps[first.ref]
    assert after_ns > before_ns


@pytest.mark.slow
def test_a_vault_holds_what_real_ones_hold() -> None:
    everything = "\n".join(file.text for file in all_files())
    kinds = {row.kind for file in all_files() for row in note_row(file.ref, file.text.encode()).chunks}
    assert kinds >= {"session", "daily", "project", "rules", "decision", "change", "knowledge", "note", "fact"}
    assert any(file.ref.startswith("archive/") for file in all_files())
    assert re.search(r"[\u4e00-\u9fff]{8}", everything)
    assert re.search(r"\b[a-z]+[A-Z][a-z]+[A-Z][a-z]+\b", everything)
    assert re.search(r"\bE\d{4}\b", everything)
    with_matter = sum(file.text.startswith("---\n") for file in notes())
    assert SIZE * 0.5 < with_matter < SIZE
