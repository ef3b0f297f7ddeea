from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from terminal import Memtool

NO_EMBEDDER = "no embedder is set up. Choose one with `[embeddings] provider`."
JWT = "areas/projects/shop/decisions/2026-01-19-jwt-rather-than-server-sessions.md"


def questions(folder: Path, *asked: Any) -> str:
    path = folder / "queries.jsonl"
    path.write_text("\n".join(json.dumps(question, ensure_ascii=False) for question in asked) + "\n", encoding="utf-8")
    return str(path)


def test_json_gives_each_metric_of_each_way(memtool: Memtool, sample: Path) -> None:
    asked = questions(
        sample.parent,
        {"query": "JWT server sessions", "relevant": [{"path": JWT, "lines": [10, 20]}]},
        {"id": "zh", "query": "解密失败", "relevant": ["areas/projects/tideline/knowledge/2026-02-05-解密失败排查.md"]},
        {"query": "xyzzyx", "relevant": ["nothing.md"]},
    )
    ran = memtool("eval", asked, "--json")
    assert (ran.code, ran.err) == (0, "")
    answer = ran.answer
    assert (answer["format"], answer["questions"]) == (1, 3)
    assert list(answer["results"]) == ["bm25"]
    assert list(answer["results"]["bm25"]) == ["hit@1", "recall@1", "recall@5", "recall@10", "mrr@10", "lines@6"]
    assert answer["results"]["bm25"]["recall@10"] == pytest.approx(2 / 3)
    assert answer["notices"] == [
        "no note is at 'nothing.md'",
        f"left out: vector, hybrid (adaptive), hybrid (rrf): {NO_EMBEDDER}",
    ]


@pytest.mark.slow
def test_a_person_gets_a_table(memtool: Memtool, sample: Path) -> None:
    code, out, err = memtool("eval", questions(sample, {"query": "JWT", "relevant": [JWT]}), "--mode", "bm25")
    assert (code, err) == (0, "")
    assert out.startswith("1 question\n")
    assert "recall@5" in out
    assert "bm25" in out


@pytest.mark.parametrize(
    "line",
    [
        "x", "[]", "{}", '{"query": "x"}', '{"query": "x", "relevant": []}', '{"query": 1, "relevant": ["a"]}',
        '{"query": "x", "relevant": [1]}', '{"query": "x", "relevant": [{}]}',
        '{"query": "x", "relevant": [{"path": "a", "lines": [1]}]}', "[" * 100_000,
        '{"query": "x", "relevant": [{"path": "a", "lines": ["a", 2]}]}',
        '{"query": "x", "relevant": [{"path": "a", "lines": [1, 1e999]}]}',
    ],
)  # fmt: skip
def test_what_is_no_question_is_named_by_its_line(memtool: Memtool, sample: Path, line: str) -> None:
    (sample / "q.jsonl").write_text(f'{{"query": "x", "relevant": ["a.md"]}}\n{line}\n')
    code, out, err = memtool("eval", str(sample / "q.jsonl"))
    assert (code, out) == (2, "")
    assert err.startswith("memtool: line 2 is not a question with its answers\n")


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"", "the file holds no questions"), (b"\xff\xfe{", "the file is not UTF-8")]
)
def test_a_file_without_questions_is_a_usage_error(
    memtool: Memtool, sample: Path, content: bytes, sentence: str
) -> None:
    (sample / "q.jsonl").write_bytes(content)
    code, out, err = memtool("eval", str(sample / "q.jsonl"))
    assert (code, out) == (2, "")
    assert sentence in err


def test_a_mode_that_cannot_be_measured_says_why(memtool: Memtool, sample: Path) -> None:
    code, _, err = memtool("eval", questions(sample, {"query": "JWT", "relevant": [JWT]}), "--mode", "vector")
    assert code == 31
    assert err.startswith("memtool: no embedder is set up\n")


def test_a_suite_is_measured_on_notes_of_its_own(memtool: Memtool, sample: Path, tmp_path: Path) -> None:
    paragraph = {"context": "部署密钥放在保险库里。", "qas": [{"id": 1, "question": "部署密钥？", "answers": [1]}]}
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"data": [{"title": "t", "paragraphs": [paragraph]}]}), encoding="utf-8")
    before = sorted(sample.rglob("*"))

    answer = memtool("eval", "--suite", str(suite), "--json").answer["suites"]["suite"]
    printed = memtool("eval", "--suite", str(suite), "--mode", "bm25").out

    assert answer["results"]["bm25"]["hit@1"] == 1
    assert answer["notices"] == [f"left out: vector, hybrid (adaptive), hybrid (rrf): {NO_EMBEDDER}"]
    assert printed.startswith("suite: 1 question\n")
    assert sorted(sample.rglob("*")) == before
    assert memtool("eval").code == 2
    assert memtool("eval", str(suite), "--suite", str(suite)).code == 2
