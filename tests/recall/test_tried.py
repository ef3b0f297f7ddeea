"""What was tried since a check began to fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from client_transcripts import prompt, write_transcript

from memtool.recall.tried import Tried, tried_since

CHECK = "pytest tests/auth -q"


def ran(name: str, command: str, *, failed: bool) -> list[dict[str, Any]]:
    """Return a command and how it ended."""
    call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": name, "content": "…", "is_error": failed}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {}},
    ]


def changed(name: str, file: str, old: str, new: str, *, failed: bool = False) -> list[dict[str, Any]]:
    """Return an edit and how it ended."""
    given = {"file_path": f"/src/shop/{file}", "old_string": old, "new_string": new}
    call = {"type": "tool_use", "id": name, "name": "Edit", "input": given}
    result = {"type": "tool_result", "tool_use_id": name, "content": "…", "is_error": failed}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {}},
    ]


def tried(tmp_path: Path, *records: list[dict[str, Any]], command: str = CHECK) -> Tried:
    path = write_transcript(tmp_path / "s1.jsonl", [prompt("修好登录"), *(one for some in records for one in some)])
    return tried_since(path, command)


def test_the_edits_since_the_first_failure_are_told_each_once(tmp_path: Path) -> None:
    found = tried(
        tmp_path,
        changed("0", "before.ts", "a", "b"),
        ran("1", f"cd /src/shop && {CHECK} 2>&1 | tail -5", failed=True),
        changed("2", "jwt.ts", "leeway = 0\nend", "leeway = 30  # 时间差\nend"),
        changed("3", "gone.ts", "x", "y", failed=True),
        ran("4", CHECK, failed=True),
        changed("5", "jwt.ts", "leeway = 0\nend", "leeway = 30  # 时间差\nend"),
        changed("6", "old.ts", "dead code", ""),
        ran("7", "ls", failed=True),
    )
    assert found == Tried(2, ("jwt.ts: leeway = 30 # 时间差", "old.ts"))


def test_a_pass_in_between_begins_anew(tmp_path: Path) -> None:
    edit = changed("2", "jwt.ts", "a", "b = 1")
    found = tried(tmp_path, ran("1", CHECK, failed=True), edit, ran("3", CHECK, failed=False))
    assert found == Tried()


def test_a_script_that_the_command_runs_and_a_command_that_checks_nothing_say_nothing(tmp_path: Path) -> None:
    script, edit = "python test_issue.py", changed("2", "test_issue.py", "a", "print(1)")
    assert tried(tmp_path, ran("1", script, failed=True), edit, command=script).edits == ()
    (tmp_path / "s1.jsonl").unlink()
    grep = "grep -n 令牌 jwt.ts"
    assert tried(tmp_path, ran("1", grep, failed=True), edit, command=grep) == Tried()
