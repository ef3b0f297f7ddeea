from __future__ import annotations

import re
import statistics
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from benchmarks.vaults import File, files, note, some_numbers, write, write_vault
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
def test_a_larger_vault_begins_with_the_notes_of_a_smaller_one() -> None:
    assert list(files(40, seed=7)) == all_files()[: len(list(files(40, seed=7)))]


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


def test_no_note_comes_from_the_future() -> None:
    # The index would rightly read it again before every search.
    assert max(note(number).day for number in (2, 54_952, 60_002, 99_952)) < date(2026, 2, 1)


def test_a_vault_that_is_finished_is_used_again(tmp_path: Path) -> None:
    vault = write_vault(tmp_path / "vault", 5, seed=7)
    kept = contents(vault)
    assert contents(write_vault(vault, 5, seed=8)) == kept


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


def test_half_of_the_notes_have_about_a_kilobyte_and_a_few_very_much_more() -> None:
    lengths = sorted(len(file.text.encode()) for file in notes())
    assert 700 < statistics.median(lengths) < 1500
    assert lengths[-1] > 10_000
    assert lengths[SIZE * 9 // 10] < 5_000


def test_a_few_words_are_in_many_notes_and_most_words_are_in_hardly_any() -> None:
    frequency = Counter(word for file in notes() for word in set(words_of(file)))
    common = [word for word, count in frequency.items() if count > SIZE / 5]
    rare = [word for word, count in frequency.items() if count <= 2]
    assert {"test", "token", "deploy"}.intersection(common)
    assert 20 < len(common) < len(frequency) / 20
    assert len(rare) > len(frequency) / 2


def test_some_notes_are_chosen_by_the_seed_each_once() -> None:
    chosen = some_numbers(1_000, 10)
    assert chosen == some_numbers(1_000, 10)
    assert len(set(chosen)) == 10
    assert 0 <= min(chosen) <= max(chosen) < 1_000


def words_of(file: File) -> list[str]:
    return re.findall(r"[a-z]+", file.text.lower())
