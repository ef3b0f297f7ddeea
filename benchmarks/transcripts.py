"""Made-up transcripts of any size, always the same: what was asked, answered, edited, run, and what failed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

_START = datetime(2026, 2, 10, 9, 0, tzinfo=UTC)
_PROMPTS = (
    "The refund endpoint charges customers twice when the gateway answers late. Find out why and fix it.",
    "登录接口在令牌过期后返回 500，请改成 401 并补上测试。",
    "Move the retry loop out of the handler, and don't use mocks in its tests.",
    "把连接池的上限写进配置，默认 20，不要再写死在代码里。",
)
_ANSWERS = (
    "The root cause is the retry in `gateway.ts`: a timeout counts as a failure although the charge went through.",
    "I'll send an idempotency key rather than lock the order, because two services write it.",
    "原因是 `verify_token` 把过期和签名错误都当成异常抛出。我改成返回 401，并在 `auth_test.py` 里补了三个用例。",
    "All 14 tests pass now. The remaining open point is the rate limit of the login route, which I have not touched.",
    "决定采用 PgBouncer 而不是在应用里限流，因为迁移任务也要占用连接。配置项是 `max_connections = 200`。",
)
_FILES = ("src/gateway.ts", "src/auth/令牌.py", "tests/auth_test.py", "deploy/pgbouncer.ini", "docs/decisions.md")


def write_transcript(path: Path, kilobytes: int, cwd: str, seed: int = 0) -> None:
    """Write a transcript of at least so many *kilobytes* to *path*; most of it is output of tools, as in real ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with path.open("w", encoding="utf-8") as file:
        for record in _records(path.stem, cwd, Random(seed)):
            line = json.dumps(record, ensure_ascii=False) + "\n"
            file.write(line)
            size += len(line.encode())
            if size >= kilobytes * 1024:
                return


def _records(session: str, cwd: str, random: Random) -> Iterator[dict[str, Any]]:
    number = 0
    while True:
        for kind, content in _turn(cwd, random, number):
            number += 1
            at = (_START + timedelta(seconds=7 * number)).isoformat().replace("+00:00", "Z")
            common = {
                "sessionId": session,
                "cwd": cwd,
                "timestamp": at,
                "uuid": f"{session}-{number}",
                "version": "2.1.330",
            }
            message = {"role": kind, "content": content, "id": f"message-{number}"}
            yield {"type": kind, "isSidechain": False, "message": message, **common}


def _turn(cwd: str, random: Random, number: int) -> Iterator[tuple[str, Any]]:
    file = f"{cwd}/{random.choice(_FILES)}"
    output = "\n".join(f"{line:>5}  {random.getrandbits(200):x}" for line in range(40))
    yield "user", f"{random.choice(_PROMPTS)} (case {number})"
    yield "assistant", [_tool(f"read-{number}", "Read", {"file_path": file})]
    yield "user", [_result(f"read-{number}", output)]
    yield "assistant", [_tool(f"test-{number}", "Bash", {"command": "npm test", "description": "Run the tests"})]
    failure = f"Exit code 1\nError: expected 401, got 500 in case {number}\n{output}"
    yield "user", [_result(f"test-{number}", failure, is_error=random.random() < 0.3)]
    yield "assistant", [_tool(f"edit-{number}", "Edit", {"file_path": file, "old_string": "a", "new_string": "b"})]
    yield "user", [_result(f"edit-{number}", "The file has been updated.")]
    yield "assistant", [{"type": "text", "text": f"{random.choice(_ANSWERS)} Case {number} is done."}]


def _tool(name: str, tool: str, asked: dict[str, str]) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": asked}


def _result(name: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content, "is_error": is_error}
