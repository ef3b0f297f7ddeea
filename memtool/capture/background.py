"""Starting the worker in the background, so that a hook returns at once and nothing runs for longer than it must."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from memtool.capture.queue import only_worker
from memtool.vault.layout import Vault


def start_worker(vault: Vault, environ: Mapping[str, str]) -> bool:
    """Start a worker that outlives us, unless one is at work; return whether it was started.

    A worker looks at the queue once more after it has let go of its lock, so that no job is left behind.
    """
    with only_worker(vault) as alone:
        if not alone:
            return False
    import subprocess

    # -P: a module that lies in the working folder is not imported.
    command = [sys.executable, "-P", "-m", "memtool", "--vault", str(vault.root), "capture", "--drain"]
    subprocess.Popen(
        command,
        cwd=vault.root,
        env={**environ, "MEMTOOL_BACKGROUND": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        start_new_session=True,  # the client kills what is left of its hooks when it ends
        creationflags=_CREATION_FLAGS,
    )
    return True


# On Windows: DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, by their numbers because `subprocess` is imported late.
_CREATION_FLAGS = 0x00000008 | 0x00000200 if sys.platform == "win32" else 0
