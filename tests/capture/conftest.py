from __future__ import annotations

from pathlib import Path

import pytest
from capture_desk import Desk

from memtool.vault.layout import Vault


@pytest.fixture
def desk(tmp_path: Path, vault: Vault) -> Desk:
    return Desk(tmp_path, vault)
