"""Real clients, in a box, against scripted APIs. Where one is missing its tests are skipped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from claude_code.api import ScriptedApi
from claude_code.planted import leaks_in
from claude_code.processes import kill_processes_of
from other_agents.api import other_apis
from other_agents.box import Agent, Box

from memtool.capture.log import ERROR, read_log
from scripts.clients import PACKAGES, find_client

PROGRAMS = {name: find_client(name) for name in PACKAGES}  # read before the guard forgets the variables of memtool
Client: TypeAlias = Callable[[str], Agent]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of real clients as slow."""
    own = Path(__file__).parent
    for item in items:
        if item.path.parent == own:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    """The APIs of all clients on the loopback."""
    with other_apis() as api:
        yield api


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A new user with a project; at the end no process is left, nothing went wrong and no secret is in the vault."""
    if sys.platform != "linux":
        pytest.skip("lists processes by /proc")
    box = Box(tmp_path / "box")
    yield box
    try:
        box.wait_until_idle()
    finally:
        kill_processes_of(box.root)
    if box.vault.exists():
        assert leaks_in(box.vault) == []
    logs = [box.vault / ".memtool", *(path.parent for path in (box.home / ".cache" / "memtool").rglob("hook.log"))]
    assert [entry.message for entry in read_log(logs, box.began_at) if entry.level == ERROR] == []


@pytest.fixture
def client(box: Box, api: ScriptedApi) -> Client:
    """Return the client of a name, set up to ask the API."""

    def get(name: str) -> Agent:
        program = PROGRAMS[name]
        if program is None:
            pytest.skip(f"there is no {PACKAGES[name].title}: `python3 scripts/clients.py {name}` installs it")
        agent = Agent(name, program)
        box.set_up(agent, api.url)
        return agent

    return get
