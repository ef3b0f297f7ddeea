"""One lock for several processes.

The system takes the lock back when its holder dies, so that no lock is ever stale. `filelock` does the same, but
importing it costs more time than a whole hook may take (docs/decisions/0003-own-file-lock.md).
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from memtool.errors import Busy

_PAUSE = 0.02  # seconds between two tries


@contextlib.contextmanager
def lock(path: Path, *, timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock file *path* for the length of a `with` block.

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
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
