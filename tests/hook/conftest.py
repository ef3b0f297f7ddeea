from __future__ import annotations

import pytest

from memtool.capture import background
from memtool.vault.layout import Vault


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Vault]:
    """The vaults for which a worker was started; none is started here."""
    started: list[Vault] = []

    def start(vault: Vault, _: object) -> bool:
        started.append(vault)
        return True

    monkeypatch.setattr(background, "start_worker", start)
    return started
