"""The folders of a vault, watched by Linux itself (inotify): whether anything in them changed, without a doubt.

The system queues an event before the call that changed the file returns, so after the whole queue is read, every
earlier write is known. `settle` raises for what the system does not report: folders on a network, folders mounted into
the vault, files with a second name elsewhere (a hard link), too many folders.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from memtool.vault.scan import SKIPPED_FOLDERS

# Written to, attributes, closed, moved, made, deleted; the folder itself deleted or moved; IN_ONLYDIR, IN_DONT_FOLLOW,
# IN_EXCL_UNLINK.
_WATCHED = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x01000000 | 0x02000000 | 0x04000000
# The folder itself deleted or moved; unmounted, overflow, no longer watched, a folder in it.
_NOT_IN_ORDER = 0x400 | 0x800 | 0x2000 | 0x4000 | 0x8000 | 0x40000000
_HEAD = struct.Struct("iIII")
_LOCAL = frozenset("ext2 ext3 ext4 xfs btrfs tmpfs zfs f2fs overlay bcachefs jfs".split())
_MOUNTS = Path("/proc/self/mountinfo")


class Tree:
    """The folders that a walk over the vault at *root* enters.

    Raises:
        OSError: this system has no inotify, or no more of it.
    """

    def __init__(self, root: Path) -> None:
        if sys.platform != "linux":
            raise OSError("only Linux reports all changes")
        self._root = os.fspath(root)
        self._system = ctypes.CDLL(None, use_errno=True)
        self._queue = self._checked(self._system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._folders: dict[int, str] = {}  # by the numbers of the watches
        self._is_whole = False
        self._mounts = b""

    def close(self) -> None:
        """Watch no more."""
        os.close(self._queue)

    def settle(self) -> None:
        """Watch every folder there is; what happens from now on is a change.

        Raises:
            OSError: some change might be missed.
        """
        mounts = _MOUNTS.read_bytes()
        if self.has_changed() or not self._is_whole or mounts != self._mounts:
            self._is_whole, self._mounts = False, mounts
            check_mounts(os.path.realpath(self._root), mounts)
            self._folders = {}
            waiting = [self._root]
            while waiting:
                waiting += self._watched(waiting.pop())
            self._is_whole = True

    def has_changed(self) -> bool:
        """Return whether anything may have changed since this was last asked."""
        changed = self._take()
        return changed or not self._is_whole or _MOUNTS.read_bytes() != self._mounts

    def _watched(self, folder: str) -> list[str]:
        """Watch *folder* and return the folders in it. It is watched before it is listed: nothing falls in between."""
        number = self._checked(self._system.inotify_add_watch(self._queue, os.fsencode(folder), _WATCHED))
        self._folders[number] = folder
        below = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below += [] if entry.name in SKIPPED_FOLDERS else [entry.path]
                else:
                    _check_names(entry.path, entry.stat(follow_symlinks=False))
        return below

    def _take(self) -> bool:
        """Read the queue, and return whether it holds anything that a walk would see."""
        changed = False
        for number, kind, name in self._events():
            if name.startswith(b"."):
                continue
            changed = True
            if kind & _NOT_IN_ORDER or not self._has_one_name(number, name):
                self._is_whole = False
        return changed

    def _has_one_name(self, number: int, name: bytes) -> bool:
        path = os.path.join(self._folders.get(number, ""), os.fsdecode(name))  # noqa: PTH118
        try:
            _check_names(path, os.lstat(path))
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def _events(self) -> Iterator[tuple[int, int, bytes]]:
        while True:
            try:
                events = os.read(self._queue, 1 << 18)
            except BlockingIOError:
                return
            at = 0
            while at < len(events):
                number, kind, _, length = _HEAD.unpack_from(events, at)
                at += _HEAD.size + length
                yield number, kind, events[at - length : at].rstrip(b"\0")

    @staticmethod
    def _checked(result: int) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result


def _check_names(path: str, about: os.stat_result) -> None:
    if about.st_nlink > 1 and stat.S_ISREG(about.st_mode):
        raise OSError(f"'{path}' may be written by another name")


def check_mounts(root: str, mounts: bytes) -> None:
    """Check that *root* lies on a disk of this machine, and that nothing is mounted into it.

    Raises:
        OSError: it does not, so that others may change it unseen.
    """
    kinds = {}
    for line in os.fsdecode(mounts).splitlines():
        fields, _, rest = line.partition(" - ")
        place = fields.split(" ")[4].encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")
        kinds[place] = rest.split(" ")[0]
    inside = [place for place in kinds if place.startswith(f"{root}/")]
    around = max((place for place in kinds if f"{root}/".startswith(f"{place.rstrip('/')}/")), key=len, default="")
    if inside or kinds.get(around) not in _LOCAL:
        raise OSError(f"'{(inside or [around])[0]}' is not on a disk of this machine alone")
