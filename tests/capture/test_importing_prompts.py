from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtool.capture.importing import read_history

KEY = "ghp_" + "a1B2" * 9


def entry(display: str, session: str, seconds: int, project: str = "/src/shop") -> str:
    return json.dumps({"display": display, "timestamp": seconds * 1000, "project": project, "sessionId": session})


def unchanged(text: str) -> str:
    return text


def test_prompts_are_gathered_by_session_oldest_first(tmp_path: Path) -> None:
    lines = [
        entry("later", "b", 1_770_000_300),
        entry("给登录接口加限流", "a", 1_770_000_100),
        entry("why?", "a", 1_770_000_200),
    ]
    (tmp_path / "history.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    first, second = read_history(tmp_path / "history.jsonl", unchanged)
    assert (first.session_id, [step.text for step in first.steps]) == ("a", ["给登录接口加限流", "why?"])
    assert (second.session_id, second.cwd) == ("b", "/src/shop")
    assert first.ended_at
    assert first.ended_at.timestamp() == 1_770_000_200


def test_commands_are_no_prompts_and_secrets_go(tmp_path: Path) -> None:
    lines = [entry("/clear", "a", 1), entry("!ls", "a", 2), entry(f"use {KEY}", "b", 3)]
    (tmp_path / "history.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (only,) = read_history(tmp_path / "history.jsonl", lambda text: text.replace(KEY, "[redacted]"))
    assert [step.text for step in only.steps] == ["use [redacted]"]


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", "null", "[" * 100_000, '{"display": 3, "sessionId": "a", "timestamp": 1}',
     '{"display": "x", "sessionId": "", "timestamp": 1}', '{"display": "x", "sessionId": "a", "timestamp": "1"}',
     '{"display": "x", "sessionId": "a", "timestamp": 1e400}', '{"display": "x", "sessionId": "a", "timestamp": -1}'],
)  # fmt: skip
def test_a_line_that_is_none_is_passed_over(tmp_path: Path, line: str) -> None:
    (tmp_path / "history.jsonl").write_text(f"{line}\n{entry('ok', 'b', 5)}\n", encoding="utf-8")
    assert [one.session_id for one in read_history(tmp_path / "history.jsonl", unchanged)] == ["b"]


def test_a_list_that_is_missing_is_empty(tmp_path: Path) -> None:
    assert read_history(tmp_path / "history.jsonl", unchanged) == []
    (tmp_path / "history.jsonl").mkdir()
    assert read_history(tmp_path / "history.jsonl", unchanged) == []
