"""A service of a new vault, and a browser without one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from desk import Desk
from fastapi.testclient import TestClient
from web.service import Service

from memtool.settings import load
from memtool.vault.layout import Vault, open_vault
from memtool.web.app import make_app
from memtool.web.gate import Access
from memtool.web.life import Life
from memtool.workspace import Workspace


@pytest.fixture
def client(desk: Desk) -> Iterator[TestClient]:
    """A browser that has passed the gate."""

    def opened(_folder: object) -> Workspace:
        vault = open_vault(desk.vault.root)
        settings = load(vault.settings_path, {**desk.environ, "XDG_CONFIG_HOME": str(desk.home / "config")})
        return desk.work._replace(vault=vault, settings=settings._replace(embeddings=desk.settings.embeddings))

    access = Access("a token that nobody guesses", ["testserver"], 80)
    with TestClient(make_app(opened, access, Life()), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def service(vault: Vault) -> Iterator[Service]:
    """A service of a new vault, which ends with the test."""
    started = Service(vault)
    yield started
    started.end()
