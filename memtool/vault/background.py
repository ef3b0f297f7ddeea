"""Starting a memtool command on a vault that outlives the process that started it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

# For Python: no module of ours comes from the working folder (-P) or from a PYTHONPATH (-E). It is -I without -s, since
# memtool may be installed for its user alone.
ISOLATED = ("-E", "-P")

# On Windows: DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, by their numbers because `subprocess` is imported late.
_CREATION_FLAGS = 0x00000008 | 0x00000200 if sys.platform == "win32" else 0
_YIELDING_FLAGS = 0x00004000 if sys.platform == "win32" else 0  # BELOW_NORMAL_PRIORITY_CLASS
_NICENESS = 10  # of what yields to the user's work, elsewhere; 19 is the most


def start_command(root: Path, environ: Mapping[str, str], *arguments: str, yielding: bool = False) -> None:
    """Start `memtool` with *arguments* on the vault at *root*, in the background and with nobody to talk to.

    One that is *yielding* gets less of the processor than what the user does meanwhile.
    """
    import subprocess

    process = subprocess.Popen(
        [sys.executable, *ISOLATED, "-m", "memtool", "--vault", str(root), *arguments],
        cwd=root,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        start_new_session=True,  # the client kills what is left of its hooks when it ends
        creationflags=_CREATION_FLAGS | (_YIELDING_FLAGS if yielding else 0),
    )
    if yielding and sys.platform != "win32":
        with suppress(OSError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS)
