"""A service of a new vault, and a browser without one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from closed_home import close
from desk import Desk
from fastapi.testclient import TestClient
from trees import Tree
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


@pytest.fixture(scope="module")
def lasting(new_vault: Tree, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of a new vault, for all tests of a module: one takes the processor a second to start."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        close(patch, home)
        started = Service(open_vault(new_vault.write(home / "vault")))
    yield started
    started.end()


@pytest.fixture
def service(vault: Vault) -> Iterator[Service]:
    """A service of a new vault, which ends with the test."""
    started = Service(vault)
    yield started
    started.end()
