"""Transcripts of other clients: the same talk, recorded from real runs of Codex 0.169.0, Gemini CLI 0.61.0 and OpenCode
1.18.33 against scripted APIs. Long texts were cut and paths were changed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("clients")
IDS = {
    "codex": "01a2050e-55f3-7080-8610-0469c5824bea",
    "gemini": "0d3b5ef2-c360-485d-8ace-5a6e70c89b78",
    "opencode": "ses_dfaf3263bfferCxbqQV7Rnxbrx",
}
PROMPTS = (
    "Add the order model. For the order ids we take ULIDs, because they sort by time.",
    "No, not one test per case: always table-driven tests, please.",
    "订单号改主意了：改用 UUIDv7，不再用 ULID。",
)
PLACES = {
    "codex": f".codex/sessions/2026/11/22/rollout-2026-11-22T20-59-15-{IDS['codex']}.jsonl",
    "gemini": ".gemini/tmp/shop/chats/session-2026-11-22T20-57-0d3b5ef2.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
}


def lines_of(client: str) -> list[dict[str, Any]]:
    """Return the records of a transcript of lines."""
    return [json.loads(line) for line in (FOLDER / f"{client}.jsonl").read_text(encoding="utf-8").splitlines()]


def rows_of_opencode() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of OpenCode's database, by their tables."""
    rows: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "opencode.json").read_text(encoding="utf-8"))
    return rows


def write_lines(path: Path, records: list[Any]) -> Path:
    """Write *records* as a transcript at *path*."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_database(path: Path, tables: dict[str, list[dict[str, Any]]]) -> Path:
    """Write *tables* as a database of OpenCode at *path*."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        for name, rows in tables.items():
            db.execute(f"CREATE TABLE {name} ({', '.join(rows[0])})")
            marks = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO {name} VALUES ({marks})", [tuple(row.values()) for row in rows])
        db.commit()
    return path


def put(home: Path, client: str) -> Path:
    """Put the transcript of *client* where it would keep it below *home*."""
    path = home / PLACES[client]
    if client == "opencode":
        return write_database(path, rows_of_opencode())
    if client == "gemini":
        path.parent.mkdir(parents=True)
        (path.parent.parent / ".project_root").write_text("/home/ann/shop")
    return write_lines(path, lines_of(client))
