"""Starting the worker in the background, so that a hook returns at once and nothing runs for longer than it must."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from memtool.capture.queue import only_worker
from memtool.vault.background import start_command
from memtool.vault.layout import Vault

_START = 5.0  # seconds in which a process that was started takes its lock


def start_worker(vault: Vault, environ: Mapping[str, str]) -> bool:
    """Start a worker that outlives us, unless one is at work or about to be; return whether it was started.

    A worker looks at the queue once more after it has let go of its lock, so that no job is left behind.
    """
    with only_worker(vault) as alone:
        if not alone or _is_starting(vault):
            return False
        _start_path(vault).touch(mode=0o600)
    start_command(vault.root, environ, "capture", "--drain")
    return True


def forget_start(vault: Vault) -> None:
    """Say that the worker that was started is at work now: from here on its lock tells."""
    with suppress(OSError):
        _start_path(vault).unlink()


def _is_starting(vault: Vault) -> bool:
    """Whether a worker was started a moment ago. It has not looked at the queue yet, so that it will see every job."""
    with suppress(OSError):
        return abs(time.time() - _start_path(vault).stat().st_mtime) < _START
    return False


def _start_path(vault: Vault) -> Path:
    return vault.state_path / "locks" / "worker.starting"
