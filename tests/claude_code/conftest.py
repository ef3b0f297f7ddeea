"""The real client, in a box, against a scripted API. Without the client these tests are skipped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from claude_code.api import ScriptedApi
from claude_code.box import Box
from claude_code.owner import Owner
from claude_code.planted import leaks_in
from claude_code.processes import kill_processes_of

from scripts.clients import find_client

CLIENT = find_client()  # read before the guard forgets the variables of memtool


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of the client as slow."""
    own = Path(__file__).parent
    for item in items:
        if item.path.parent == own:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A new user with a project and the client; at the end none of their processes may be left."""
    if sys.platform != "linux":
        pytest.skip("lists processes by /proc")
    if CLIENT is None:
        pytest.skip("there is no Claude Code client: `python3 scripts/clients.py` installs it")
    box = Box(tmp_path / "box", CLIENT)
    yield box
    try:
        box.wait_until_idle()
    finally:
        kill_processes_of(box.root)


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    """A Messages API on the loopback."""
    with ScriptedApi() as api:
        yield api


@pytest.fixture
def owner(box: Box) -> Iterator[Owner]:
    """A user with a vault. After each test nothing secret is in it, nothing went wrong and no work is left."""
    owner = Owner(box)
    yield owner
    box.wait_until_idle()
    assert leaks_in(owner.vault) + leaks_in(box.home / ".cache") == []
    assert owner.problems() == []
