from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memtool import settings

if TYPE_CHECKING:
    from conftest import Guard

REAL_HOME = Path("~").expanduser()  # read before the guard moves it


def test_a_connection_beyond_this_machine_is_refused_and_remembered(guard: Guard) -> None:
    with pytest.raises(PermissionError), socket.socket() as unused:
        unused.connect(("192.0.2.1", 80))
    assert guard.violations == ["connects to ('192.0.2.1', 80)"]
    guard.violations.clear()


def test_a_name_is_not_looked_up(guard: Guard) -> None:
    with pytest.raises(PermissionError):
        socket.getaddrinfo("example.org", 443)
    assert guard.violations
    guard.violations.clear()


def test_this_machine_may_be_connected_to(guard: Guard) -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
        socket.create_connection(server.getsockname()).close()
    assert not guard.violations


def test_a_write_to_the_real_home_is_refused(guard: Guard) -> None:
    with pytest.raises(PermissionError):
        (REAL_HOME / "memtool-guard-test").write_text("never")
    assert len(guard.violations) == 1
    guard.violations.clear()


def test_the_users_folders_lie_in_a_temporary_one() -> None:
    environ = settings.environment()
    assert Path.home() != REAL_HOME
    assert settings.user_config_path(environ).is_relative_to(Path.home())
    assert settings.user_cache_path(environ).is_relative_to(Path.home())
