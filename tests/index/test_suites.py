from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtool.errors import UsageError
from memtool.index.evaluation import Expected, read_suites

SQUAD = {
    "data": [
        {
            "title": "密钥",
            "paragraphs": [
                {
                    "context": "部署密钥放在保险库里。",
                    "qas": [
                        {"id": "1", "question": "部署密钥放在哪里？", "answers": [{"text": "保险库"}]},
                        {"id": "2", "question": "谁知道？", "answers": []},
                    ],
                },
                {
                    "context": "The cache is flushed at midnight.",
                    "qas": [{"id": "3", "question": "When is the cache flushed?", "answers": [{"text": "midnight"}]}],
                },
            ],
        }
    ]
}


def write_folder(folder: Path) -> Path:
    (folder / "vault" / "notes").mkdir(parents=True)
    (folder / "vault" / "notes" / "a.md").write_text("the key", encoding="utf-8")
    asked = [{"query": "key?", "relevant": ["notes/a.md"]}]
    asked.append(asked[0] | {"query": "no?", "category": "adversarial"})
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    return folder


def test_paragraphs_of_squad_are_notes_and_what_has_no_answer_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "xquad.zh.json").write_text(json.dumps(SQUAD, ensure_ascii=False), encoding="utf-8")

    (suite,) = read_suites(tmp_path / "xquad.zh.json")

    asked = [(question.query, question.relevant) for question in suite.questions]
    first, second = suite.notes
    assert asked == [
        ("部署密钥放在哪里？", (Expected(first),)),
        ("When is the cache flushed?", (Expected(second),)),
    ]
    folder = suite.write(tmp_path / "vault")
    assert (folder / first).read_text(encoding="utf-8") == "# 密钥\n\n部署密钥放在保险库里。\n"


def test_a_folder_holds_sets_of_both_kinds(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(SQUAD), encoding="utf-8")
    write_folder(tmp_path / "a")

    suites = list(read_suites(tmp_path))

    assert [(suite.name, len(suite.questions), len(suite.notes)) for suite in suites] == [("a", 1, 1), ("b", 2, 2)]
    assert suites[0].notes == {"notes/a.md": "the key"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"data": [{"paragraphs": 3}]}', '{"data": [1]}'])
def test_what_is_no_set_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")

    for path in (tmp_path / "x.json", tmp_path, tmp_path / "nothing"):
        with pytest.raises(UsageError, match="is no set of questions"):
            list(read_suites(path))


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no set of questions"):
        list(read_suites(tmp_path))
