from __future__ import annotations

from pathlib import Path

import pytest
from hook.agent import Agent, agent_in

from memtool.capture import queue
from memtool.vault.layout import Vault


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Vault]:
    """The vaults for which a worker was started; none is started here."""
    started: list[Vault] = []

    def start(vault: Vault, _: object) -> bool:
        started.append(vault)
        return True

    monkeypatch.setattr(queue, "start_worker", start)
    return started


@pytest.fixture
def agent(tmp_path: Path, workers: list[Vault], monkeypatch: pytest.MonkeyPatch) -> Agent:
    """A session in a copy of the sample vault, which is indexed."""
    agent = agent_in(tmp_path)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, agent.environ[name])
    workers.clear()
    return agent
