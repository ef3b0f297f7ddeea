from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.helps.__main__ import main, table
from benchmarks.helps.invented import DECISIONS, holds, write_sessions
from benchmarks.helps.measures import Row
from benchmarks.helps.memory import READ, Transcripts


def transcript(folder: Path, name: str, *texts: str) -> Path:
    path = folder / f"{name}.jsonl"
    records = ({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}} for text in texts)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def test_without_memory_the_lines_with_most_of_the_words_are_read(tmp_path: Path) -> None:
    one = transcript(tmp_path, "one", "The pool has a limit.\nThe pool of 解密 connections is 20.", "Nothing here.")
    other = transcript(tmp_path, "other", "connections are slow " * 300)

    found = Transcripts([one, other])

    assert found.read("How many connections has the pool?").splitlines()[0] == "The pool of 解密 connections is 20."
    assert found.read("解密失败").splitlines() == ["The pool of 解密 connections is 20."]
    assert len(found.read("connections")) <= READ
    assert found.read("xyzzy") == ""
    assert found.best("pool 解密", 2) == ["one"]


def test_the_last_word_of_a_decision_is_asked_for_and_not_in_the_question() -> None:
    assert not [each.question for each in DECISIONS if holds(each, each.question)]
    assert not [each.prompt for each in DECISIONS if not holds(each, each.prompt)]


def test_a_decision_is_found_in_its_own_session_only(tmp_path: Path) -> None:
    paths = list(write_sessions(tmp_path / "sessions", str(tmp_path), 40))

    holding = [[path for path in paths if holds(each, path.read_text(encoding="utf-8"))] for each in DECISIONS]

    assert holding == [[path] for path in paths[: len(DECISIONS)]]


def test_rows_are_a_table_of_markdown() -> None:
    lines = table([Row("questions", "3 of 4", "1", "0", "0")]).splitlines()

    assert lines[-1] == "| questions | 3 of 4 | 1 | 0 | 0 |"
    assert {line.count("|") for line in lines} == {6}


def test_what_is_private_and_missing_is_skipped_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--shared", str(tmp_path / "nowhere"), "--only", "next-day,prompts,issues"]) == 0

    printed = capsys.readouterr()
    assert [line.split(":")[:2] for line in printed.err.splitlines()] == [
        [name, " skipped"] for name in ("next-day", "prompts", "issues")
    ]
    assert len(printed.out.splitlines()) == 2
