"""Decisions that anybody can measure with: each is made in one session, and many others of the project follow it.

They are invented. The questions and the patterns of their answers were written before anything was measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple


class Decided(NamedTuple):
    """What a user decided, what a colleague asks about it later, and a pattern of the answer."""

    prompt: str
    done: str
    question: str
    answer: str


DECISIONS = (
    Decided(
        "Money is kept as integer cents from now on, because floats lose pennies. Change the ledger.",
        "The ledger keeps integer cents now; 12 tests pass.",
        "How do we keep amounts of money?",
        r"integer cents",
    ),
    Decided(
        "Use pnpm instead of npm in this repository, the lock file of npm breaks the cache of the runner.",
        "Replaced npm by pnpm in package.json and in the workflow.",
        "Why did we leave npm?",
        r"pnpm.{0,200}(lock file|cache)|(lock file|cache).{0,200}pnpm",
    ),
    Decided(
        "Never call the payment gateway in tests. Record its replies once and play them back.",
        "Added recorded replies in tests/recorded and a guard that refuses the network.",
        "May a test talk to the payment gateway?",
        r"never call the payment gateway|record(ed)? (its )?replies",
    ),
    Decided(
        "Session tokens live for fifteen minutes. The refresh token goes into an HttpOnly cookie.",
        "auth/tokens.py issues tokens of 15 minutes; the refresh token is in a cookie.",
        "How long does a session token live?",
        r"fifteen minutes|15 minutes",
    ),
    Decided(
        "The export must stream its rows. Building the whole file in memory killed the worker at 2 GB.",
        "The export yields rows in batches of 500.",
        "What killed the worker during exports?",
        r"in memory|2 GB",
    ),
    Decided(
        "We keep Redis only for the queue. Nothing else may go in there, it is flushed on each deploy.",
        "Moved the rate limits out of Redis into PostgreSQL.",
        "What is Redis used for here?",
        r"Redis only for the queue|flushed on each deploy",
    ),
    Decided(
        "订单号一律用 UUIDv7，不要再用自增主键，因为分片以后会重复。",
        "订单表已经改用 UUIDv7，迁移脚本在 migrations/0042.sql。",
        "订单号为什么不用自增主键？",
        r"UUIDv7.{0,80}(分片|重复)|(分片|重复).{0,80}UUIDv7|分片以后会重复",
    ),
    Decided(
        "日志里不要写手机号，只保留后四位。",
        "日志过滤器已经加好，手机号只剩后四位。",
        "日志里手机号怎么处理？",
        r"后四位",
    ),
)

_PARTS = "invoice search report upload webhook scheduler avatar coupon audit locale 库存 发票 报表 物流".split()
_ASKS = (
    "The {part} page is slow with {n} rows, find out why.",
    "Add a filter by date to the {part} list, case {n}.",
    "The {part} job failed last night with code {n}. Look into it.",
    "{part} 接口返回 {n}，看看怎么回事。",
)
_ENDS = (
    "The {part} query had no index on `{part}_{n}`; it takes 40 ms now and all tests pass.",
    "Added the filter to src/{part}.ts with 3 tests.",
    "The cause was a missing variable {n} in deploy/{part}.yaml; the job passes again.",
    "{part} 的原因是超时 {n} 毫秒太短，已经改好。",
)
_BEGAN = datetime(2026, 2, 2, 9, tzinfo=UTC)


def write_sessions(folder: Path, cwd: str, others: int, seed: int = 23) -> Iterator[Path]:
    """Write the transcripts of a project, oldest first: a session for each decision, then *others* of daily work."""
    draw = Random(seed)
    talks = [(decided.prompt, decided.done) for decided in DECISIONS]
    for _ in range(others):
        which, part, number = draw.randrange(len(_ASKS)), draw.choice(_PARTS), draw.randrange(100, 1000)
        talks.append(tuple(text.format(part=part, n=number) for text in (_ASKS[which], _ENDS[which])))  # type: ignore[arg-type]
    folder.mkdir(parents=True, exist_ok=True)
    for number, (asked, done) in enumerate(talks):
        path = folder / f"{number:08x}-0000-4000-8000-{number:012x}.jsonl"
        records = _records(path.stem, cwd, _BEGAN + timedelta(hours=3 * number), asked, done)
        path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), encoding="utf-8")
        yield path


def holds(decided: Decided, text: str) -> bool:
    """Return whether *text* answers the question about what was *decided*."""
    return re.search(decided.answer, text, re.IGNORECASE | re.DOTALL) is not None


def _records(session: str, cwd: str, at: datetime, asked: str, done: str) -> Iterator[dict[str, Any]]:
    edit = {"type": "tool_use", "id": "edit", "name": "Edit"}
    edit["input"] = {"file_path": f"{cwd}/src/main.py", "old_string": "a", "new_string": "b"}  # type: ignore[assignment]
    told = {"type": "tool_result", "tool_use_id": "edit", "content": "The file has been updated."}
    talk = (("user", asked), ("assistant", [edit]), ("user", [told]), ("assistant", [{"type": "text", "text": done}]))
    for number, (kind, content) in enumerate(talk):
        message = {"role": kind, "content": content, "id": f"{session}-{number}"}
        stamp = (at + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")
        common = {"sessionId": session, "cwd": cwd, "timestamp": stamp, "uuid": f"{session}-{number}"}
        yield {"type": kind, "isSidechain": False, "message": message, "version": "2.1.330"} | common
