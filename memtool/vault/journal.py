"""What is done under a lock, noted in the lock's own file: so that the next holder completes what a kill has cut off.

The file is empty but while its lock is held. Programs that are started meanwhile and change the vault, which is git,
inherit the lock: whoever gets it next knows that they have ended as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from memtool.named_tuple import NamedTuple

_LARGEST = 67_108_864  # bytes
_open: dict[int, Path] = {}  # the lock files that this process holds, and the vault of each


class CutOff(NamedTuple):
    """What the holder of a lock did who was killed: when it wrote last, which files, and what it was about to do."""

    at: float
    refs: tuple[str, ...]
    plans: tuple[dict[str, Any], ...]


def cut_off(handle: int) -> CutOff | None:
    """Return what the last holder of the lock *handle* did; None if it was not killed."""
    os.lseek(handle, 0, os.SEEK_SET)
    lines = os.read(handle, _LARGEST).split(b"\n")
    if lines == [b""]:
        return None
    plans = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            plans += [plan] if line.startswith(b"{") and isinstance(plan := json.loads(line), dict) else []
    refs = (os.fsdecode(line) for line in lines if line and not line.startswith(b"{"))
    return CutOff(os.fstat(handle).st_mtime, tuple(dict.fromkeys(refs)), tuple(plans))


@contextmanager
def journal(handle: int, root: Path) -> Iterator[None]:
    """Keep the journal of what is done to the vault at *root* within a `with` block that holds the lock *handle*.

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
    """Begin the journal anew, unless it still holds what the holder before has left."""
    if os.fstat(handle).st_size == 0:
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, b"\n")


def note_write(path: Path) -> None:
    """Note that *path* is about to be written or removed, if a journal of its vault is kept."""
    for handle, root in tuple(_open.items()):
        with suppress(ValueError, OSError):
            ref = path.relative_to(root).as_posix()
            if not ref.startswith((".", "{")):  # what is derived is made anew
                os.write(handle, os.fsencode(f"{ref}\n"))


def note_plan(root: Path, plan: dict[str, Any]) -> None:
    """Note what is about to be done to the vault at *root*, for `memtool.vault.mending`."""
    for handle, about in tuple(_open.items()):
        if about == root:
            os.write(handle, json.dumps(plan).encode() + b"\n")


def handles() -> tuple[int, ...]:
    """Return the locks that a program which changes a vault inherits."""
    return tuple(_open)
