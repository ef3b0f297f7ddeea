"""An agent with a project, and the tools of memtool."""

from __future__ import annotations

from pathlib import Path

import pytest
from desk import Desk
from mcp_server.agent import Agent

from memtool.mcp.server import make_server


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """The folder of the project `shop`."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return str(folder)


@pytest.fixture
def agent(desk: Desk) -> Agent:
    """An agent that has all tools, at the desk's vault."""

    def open_workspace(folder: Path | None) -> object:
        return desk.work._replace(folder=folder or desk.folder)

    return Agent(make_server("all", open_workspace))  # type: ignore[arg-type]
