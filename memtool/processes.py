"""Other processes: a lock against them, the journal of its holder, and commands that are started in the background.

The system takes the lock back when its holder dies, so that no lock is ever stale. `filelock` does the same, but
importing it costs more time than a whole hook may take (docs/decisions/0003-file-locks.md).

The journal is kept in the lock's own file, so that the next holder completes what a kill has cut off; the file is empty
while its lock is free. git inherits the lock: its next holder knows that every git of the last one has ended as well.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memtool.errors import Busy
from memtool.named_tuple import NamedTuple

# For Python: no module of ours comes from the working folder (-P) or from a PYTHONPATH (-E). It is -I without -s, since
# memtool may be installed for its user alone.
ISOLATED = ("-E", "-P")

# On Windows: DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, by their numbers because `subprocess` is imported late.
_CREATION_FLAGS = 0x00000008 | 0x00000200 if sys.platform == "win32" else 0
_YIELDING_FLAGS = 0x00004000 if sys.platform == "win32" else 0  # BELOW_NORMAL_PRIORITY_CLASS

_open: dict[int, Path] = {}  # the lock files that this process holds, and the vault of each


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
            time.sleep(0.02)
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
            os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + 10)  # of 19 at most


class CutOff(NamedTuple):
    """The work of a lock's holder that was killed: when it wrote last, which files, and its plans."""

    at: float
    refs: tuple[str, ...]
    plans: tuple[dict[str, Any], ...]


def cut_off(handle: int) -> CutOff | None:
    """Return the work of the last holder of the lock *handle* if it was killed, else None."""
    os.lseek(handle, 0, os.SEEK_SET)
    lines = os.read(handle, 64 << 20).split(b"\n")
    if lines == [b""]:
        return None
    plans = []
    for line in lines:
        with contextlib.suppress(ValueError, RecursionError):
            plans += [plan] if line.startswith(b"{") and isinstance(plan := json.loads(line), dict) else []
    refs = (os.fsdecode(line) for line in lines if line and not line.startswith(b"{"))
    return CutOff(os.fstat(handle).st_mtime, tuple(dict.fromkeys(refs)), tuple(plans))


@contextlib.contextmanager
def journal(handle: int, root: Path) -> Iterator[None]:
    """Keep the journal of changes of the vault at *root* within a `with` block that holds the lock *handle*.

    What ends the process, such as an interrupt, leaves it to the next holder.
    """
    _open[handle] = root
    try:
        begin(handle)
        yield
        os.ftruncate(handle, 0)
    except Exception:
        os.ftruncate(handle, 0)
        raise
    finally:
        del _open[handle]


def begin(handle: int) -> None:
    """Begin the journal anew, unless it still holds the entries of the last holder."""
    if os.fstat(handle).st_size == 0:
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, b"\n")


def note_write(path: Path) -> None:
    """Note that *path* is about to be written or removed, if a journal of its vault is kept."""
    for handle, root in tuple(_open.items()):
        with contextlib.suppress(ValueError, OSError):
            ref = path.relative_to(root).as_posix()
            if not ref.startswith((".", "{")):  # what is derived is made anew
                os.write(handle, os.fsencode(f"{ref}\n"))


def note_plan(root: Path, plan: dict[str, Any]) -> None:
    """Note a *plan* for the vault at *root*, for `memtool.history.mending`."""
    for handle, about in tuple(_open.items()):
        if about == root:
            os.write(handle, json.dumps(plan).encode() + b"\n")


def handles() -> tuple[int, ...]:
    """Return the locks that a program which changes a vault inherits."""
    return tuple(_open)
