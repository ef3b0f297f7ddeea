"""The client's own memory is searched and shown, and never changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from terminal import Memtool

TEXT = """---
name: refund-retries
description: Refunds are retried with an idempotency key
metadata:
  type: project
---

Retries use the same key. **Why:** 重试不能重复扣款。
"""


@pytest.fixture
def memory(tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "client"))
    folder = tmp_path / "client" / "projects" / "-src-shop" / "memory"
    folder.mkdir(parents=True)
    (folder / "refund-retries.md").write_text(TEXT, encoding="utf-8")
    (notes / ".memtool").mkdir()
    (notes / ".memtool" / "projects.json").write_text(json.dumps({"/src/shop": ["shop", "/src/shop", 0, True]}))
    return folder / "refund-retries.md"


def test_the_clients_memory_is_found_in_its_project_and_shown(memtool: Memtool, memory: Path) -> None:
    before = (memory.read_bytes(), memory.stat().st_mtime_ns)
    for words in (("idempotency", "key"), ("重复扣款",), ("refund-retries",)):
        (hit,) = memtool("search", *words, "--json", "--kind", "memory", "--project", "shop").answer["hits"]
        assert hit["path"] == memory.as_posix()
    assert memtool("show", memory.as_posix()).out == TEXT
    assert memtool("show", "refund-retries", "--json").answer["kind"] == "memory"
    assert (memory.read_bytes(), memory.stat().st_mtime_ns) == before


def test_it_can_be_left_out(memtool: Memtool, memory: Path, notes: Path) -> None:
    (notes / "memtool.toml").write_text('[index]\nclient_memory = "no"\n')
    assert memtool("search", "idempotency", "--json").answer["hits"] == []
    assert memtool("show", memory.as_posix()).code == 25


def test_nothing_else_of_the_client_is_shown(memtool: Memtool, memory: Path) -> None:
    secret = memory.parents[1] / "session.jsonl"
    secret.write_text("secret")
    assert memtool("show", str(secret)).code == 25
