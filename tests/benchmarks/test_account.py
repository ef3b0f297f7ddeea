"""The account of weights and word lists: nothing that decides is without a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.account import entries as account
from benchmarks.account.entries import Entry, entries
from benchmarks.account.table import PAGE, Row, parse_rows, render


def test_each_number_and_each_list_has_a_row_with_its_value() -> None:
    rows = parse_rows(PAGE.read_text("utf-8"))
    missing = [each for each in entries() if each.name not in rows or rows[each.name].value != each.value]
    assert missing == [], "run `python -m benchmarks.account`"


def test_the_account_has_no_row_for_what_is_gone() -> None:
    assert set(parse_rows(PAGE.read_text("utf-8"))) <= {each.name for each in entries()}


def test_numbers_of_a_module_are_entries_and_limits_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "memtool" / "recall"
    room.mkdir(parents=True)
    (room / "weights.py").write_text("FLOOR = 0.3\n_A, _B = 2, -1.5\nNAME = '权重'\nON = True\n", encoding="utf-8")
    (room / "limits.py").write_text("LARGEST = 9  # bytes\n", encoding="utf-8")
    monkeypatch.setattr(account, "CLONE", tmp_path)
    monkeypatch.setattr(account, "PACKAGE", tmp_path / "memtool")
    numbers = [each for each in entries() if each.name.startswith("memtool")]
    assert numbers == [
        Entry("memtool.recall.weights.FLOOR", "0.3"),
        Entry("memtool.recall.weights._A", "2"),
        Entry("memtool.recall.weights._B", "-1.5"),
    ]


def test_the_page_is_read_as_it_was_written() -> None:
    row = Row("memtool.recall.weights.FLOOR", "0.3", "answered +3.0", "questions", "2026-11-24")
    assert parse_rows(render([row])) == {row.name: row}
