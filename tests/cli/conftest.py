"""Fixtures for the command line."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hook.agent import Agent, agent_in
from terminal import Ran

from memtool.cli.main import run
from memtool.resources import shipped

if TYPE_CHECKING:
    from terminal import Memtool


@pytest.fixture
def memtool(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Memtool:
    """`memtool`, run in this process: a function of its arguments and of what it reads on stdin."""
    monkeypatch.setenv("MEMTOOL_EMBEDDINGS_PROVIDER", "none")
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8", errors="replace"))
        return Ran(run(list(arguments)), *capsys.readouterr())

    return call


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample vault, and the folder in which the commands are run."""
    folder = Path(
        shutil.copytree(shipped("sample_vault"), tmp_path / "sample vault", ignore=shutil.ignore_patterns(".*"))
    )
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is a vault, and the folder in which the commands are run."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "memtool.toml").write_text("")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """A session in the vault, and in the folder, in which the commands are run."""
    agent = agent_in(tmp_path)
    for name in ("HOME", "USERPROFILE", "MEMTOOL_VAULT", "MEMTOOL_CONFIG", "MEMTOOL_CACHE"):
        monkeypatch.setenv(name, agent.environ[name])
    monkeypatch.chdir(agent.project)
    return agent
