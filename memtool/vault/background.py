"""Starting a memtool command on a vault that outlives the process that started it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

# For Python: no module of ours comes from the working folder (-P) or from a PYTHONPATH (-E). It is -I without -s, since
# memtool may be installed for its user alone.
ISOLATED = ("-E", "-P")

# On Windows: DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, by their numbers because `subprocess` is imported late.
_CREATION_FLAGS = 0x00000008 | 0x00000200 if sys.platform == "win32" else 0


def start_command(root: Path, environ: Mapping[str, str], *arguments: str) -> None:
    """Start `memtool` with *arguments* on the vault at *root*, in the background and with nobody to talk to."""
    import subprocess

    subprocess.Popen(
        [sys.executable, *ISOLATED, "-m", "memtool", "--vault", str(root), *arguments],
        cwd=root,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        start_new_session=True,  # the client kills what is left of its hooks when it ends
        creationflags=_CREATION_FLAGS,
    )
