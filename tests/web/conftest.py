"""A service of a new vault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from web.service import Service

if TYPE_CHECKING:
    from memtool.vault.layout import Vault


@pytest.fixture
def service(vault: Vault) -> Iterator[Service]:
    """A service of a new vault, which ends with the test."""
    started = Service(vault)
    yield started
    started.end()
