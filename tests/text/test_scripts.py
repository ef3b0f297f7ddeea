from __future__ import annotations

import re
from pathlib import Path

import pytest

import memtool
from memtool.text import scripts
from memtool.text.scripts import CJK_TEXT, HAN, IDEOGRAPHS, UNSPACED, WIDE, is_ideograph, is_unspaced


def test_letters_of_scripts_without_spaces_are_known() -> None:
    assert [char for char in "密碼々か゛カ한ㄱไທမក⺀豈ｶ𠀀" if not is_unspaced(char)] == []


def test_ideographs_have_a_meaning_each() -> None:
    assert all(map(is_ideograph, "密碼한𠀀"))
    assert not any(map(is_ideograph, "かカaไ々。"))


@pytest.mark.parametrize("ranges", [UNSPACED, IDEOGRAPHS, HAN, WIDE, CJK_TEXT])
def test_a_table_of_ranges_is_in_order_and_a_class_for_patterns(ranges: str) -> None:
    firsts, lasts = ranges[::3], ranges[2::3]
    assert set(ranges[1::3]) == {"-"}
    edges = [edge for pair in zip(firsts, lasts, strict=True) for edge in pair]
    assert edges == sorted(edges)
    known = re.compile(f"[{ranges}]")
    sample = {chr(ord(edge) + step) for edge in edges for step in (-1, 0, 1) if ord(edge) + step < 0x10FFFF}
    assert [char for char in sample if scripts._is_in(ranges, char) != bool(known.match(char))] == []


def test_no_other_module_has_a_table_of_its_own() -> None:
    folder = Path(memtool.__file__).parent
    tables = {folder / "text" / "scripts.py", folder / "embeddings" / "known_scripts.py"}  # what a model knows, by name
    boundary = re.compile(r"(?i)(?:\\u|0x)(?:2e80|3040|3400|4e00|9fff|ac00|d7a3|d7ff|f900)")
    found = {path for path in folder.rglob("*.py") if boundary.search(path.read_text(encoding="utf-8"))}
    assert found <= tables
