from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.others.__main__ import measured, questions
from benchmarks.others.tools import Place, words
from memtool.index.evaluation import Expected, KnownQuestion

ASKED = [KnownQuestion("1", "Why is `pool_size` 解密失败?", (Expected("areas/密钥.md"),))]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place with three notes."""
    (tmp_path / "vault" / "areas").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    for name, text in {"密钥": "解密失败时先看 pool_size", "a": "the pool_size", "b": "无关"}.items():
        (tmp_path / "vault" / "areas" / f"{name}.md").write_text(text, encoding="utf-8")
    return Place(tmp_path / "vault", tmp_path / "home", tmp_path / "no bins", tmp_path, "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why is the `max_connections` 200?", ["max_connections", "200"]),
        ("解密失败时怎么办", ["解密", "密失", "失败", "败时", "时怎", "怎么", "么办"]),
        ("E0308 和 C++ 的 E0308", ["e0308", "c"]),
        ("Where is it?", []),
    ],
)
def test_an_agent_greps_for_telling_words_and_for_pairs_of_chinese_characters(
    question: str, expected: list[str]
) -> None:
    assert words(question) == expected


def test_grep_finds_the_note_and_leaves_no_process_behind(place: Place) -> None:
    row = measured("grep", place, ASKED)
    assert (row["recall@5"], row["mrr@10"], row["questions"]) == (1.0, 1.0, 1)
    assert (row["processes"], row["left"]) == (0, 0)


def test_questions_are_spread_over_the_set_and_have_an_answer(tmp_path: Path) -> None:
    kinds = ["zh", "adversarial", "zh", "zh", "zh"]
    lines = [{"query": f"问{at}", "category": kind, "relevant": ["a.md"]} for at, kind in enumerate(kinds)]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert [each.query for each in questions(tmp_path, 1000)] == ["问0", "问2", "问3", "问4"]
    assert [each.query for each in questions(tmp_path, 2)] == ["问0", "问3"]
