from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from fastapi.testclient import TestClient

from memtool.mcp.server import make_http_app
from memtool.web.app import make_app
from memtool.web.gate import Access
from memtool.web.life import Life

ACCEPT = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


@pytest.fixture
def client(desk: Desk) -> Iterator[TestClient]:
    """An agent's client that has passed the gate."""

    def open_workspace(folder: Path | None) -> Any:
        return desk.work._replace(folder=folder or desk.folder)

    app = make_app(open_workspace, Access("a token that nobody guesses", ["testserver"], 80), Life(), make_http_app)
    with TestClient(app) as client:
        yield client


def call(client: TestClient, path: str, method: str, **params: Any) -> Any:
    answer = client.post(path, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers=ACCEPT)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def begin(client: TestClient, path: str) -> Any:
    client_info = {"name": "test", "version": "1"}
    return call(client, path, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client_info)


@pytest.mark.slow
def test_an_agent_that_speaks_http_finds_what_is_remembered(client: TestClient, desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    desk.remember("登录令牌有效期为 24 小时。")
    assert begin(client, "/mcp")["serverInfo"]["name"] == "memtool"
    names = {tool["name"] for tool in call(client, "/mcp", "tools/list")["tools"]}
    assert {"context_search", "context_load", "context_save"} <= names
    arguments = {"project_path": str(tmp_path / "shop"), "query": "令牌 有效期", "all_projects": True}
    found = call(client, "/mcp", "tools/call", name="context_search", arguments=arguments)
    assert "登录令牌有效期为 24 小时" in found["content"][0]["text"]


@pytest.mark.slow
def test_the_other_profile_has_an_address_of_its_own(client: TestClient) -> None:
    begin(client, "/mcp/memory")
    names = {tool["name"] for tool in call(client, "/mcp/memory", "tools/list")["tools"]}
    assert {"memory_store", "memory_search", "memory_forget"} <= names
    assert "context_search" not in names


@pytest.mark.slow
def test_a_service_imports_neither_the_sdk_nor_what_renders_pages_before_somebody_asks() -> None:
    import subprocess

    code = "import sys, memtool.web.app, memtool.web.server; sys.exit(bool({'mcp', 'jinja2', 'nh3'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
