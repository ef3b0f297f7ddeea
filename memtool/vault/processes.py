"""Other processes: a lock against them, and commands of memtool that are started in the background.

The system takes the lock back when its holder dies, so that no lock is ever stale. `filelock` does the same, but
importing it costs more time than a whole hook may take (docs/decisions/0003-file-locks.md).
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from memtool.errors import Busy

_PAUSE = 0.02  # seconds between two tries
# For Python: no module of ours comes from the working folder (-P) or from a PYTHONPATH (-E). It is -I without -s, since
# memtool may be installed for its user alone.
ISOLATED = ("-E", "-P")

# On Windows: DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, by their numbers because `subprocess` is imported late.
_CREATION_FLAGS = 0x00000008 | 0x00000200 if sys.platform == "win32" else 0
_YIELDING_FLAGS = 0x00004000 if sys.platform == "win32" else 0  # BELOW_NORMAL_PRIORITY_CLASS
_NICENESS = 10  # of what yields to the user's work, elsewhere; 19 is the most


@contextlib.contextmanager
def lock(path: Path, *, timeout: float = 10.0) -> Iterator[int]:
    """Hold the lock file *path* for the length of a `with` block, and give its handle.

    Raises:
        Busy: another process held it for *timeout* seconds.
        OSError: the lock file cannot be made.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + timeout
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                raise Busy(f"another process has held '{path.name}' for {timeout:g} seconds")
            time.sleep(_PAUSE)
        yield handle
    finally:
        _unlock(handle)
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(_handle: int) -> None:
        """Closing it is enough."""

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)  # a program that inherited it may go on


def start_command(root: Path, environ: Mapping[str, str], *arguments: str, yielding: bool = False) -> None:
    """Start `memtool` with *arguments* on the vault at *root*, in the background and without input and output.

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
        with contextlib.suppress(OSError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS)
