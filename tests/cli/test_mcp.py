from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memtool import settings
from memtool.history.template import make_vault
from memtool.processes import ISOLATED

CALL = """
import asyncio, sys
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
import os

async def save():
    server = StdioServerParameters(command=sys.executable, args=sys.argv[2:], env=dict(os.environ), cwd=sys.argv[1])
    async with Client(server) as client:
        await client.call_tool("context_save", {"project_path": sys.argv[1], "entries": [
            {"type": "decision", "content": "订单号我们用 ULID，因为它能按时间排序。"}]})

asyncio.run(save())
"""


@pytest.mark.slow
def test_a_vault_in_the_agents_folder_does_not_draw_the_memory_to_itself(tmp_path: Path) -> None:
    """A repository from a stranger may hold a `memtool.toml`."""
    own = make_vault(tmp_path / "own").vault.root
    strange = make_vault(tmp_path / "clone").vault.root
    before = sorted(strange.rglob("*.md"))
    environ = {**settings.environment(), "MEMTOOL_CONFIG": str(tmp_path / "config.toml")}
    (tmp_path / "config.toml").write_text(f"vault = {json.dumps(str(own))}\n", encoding="utf-8")
    words = [sys.executable, "-c", CALL, str(strange), *ISOLATED, "-m", "memtool", "mcp"]
    subprocess.run(words, env=environ, check=True, timeout=60, capture_output=True)
    assert sorted(strange.rglob("*.md")) == before
    assert "订单号我们用 ULID" in "".join(path.read_text(encoding="utf-8") for path in own.rglob("*.md"))
