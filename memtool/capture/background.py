"""Starting the worker in the background, so that a hook returns at once and nothing runs for longer than it must."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from memtool.capture.queue import only_worker
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
    import subprocess

    # -P: a module that lies in the working folder is not imported.
    command = [sys.executable, "-P", "-m", "memtool", "--vault", str(vault.root), "capture", "--drain"]
    subprocess.Popen(
        command,
        cwd=vault.root,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        start_new_session=True,  # the client kills what is left of its hooks when it ends
        creationflags=_CREATION_FLAGS,
    )
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


# On Windows: DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, by their numbers because `subprocess` is imported late.
_CREATION_FLAGS = 0x00000008 | 0x00000200 if sys.platform == "win32" else 0
