"""The files of the index. A rebuild makes a new generation aside; one rename makes it the current one.

Every generation is a file of its own name, so that the journal of one can never be taken for that of another,
and a reader that still holds an old one is not disturbed:

    .memtool/index/current            holds a name
    .memtool/index/3f2a9c01.sqlite    the file it names
    .memtool/index/begun              the name of one that is being built, in steps that may be gone on with
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

_SUFFIX = ".sqlite"
_JOURNALS = ("", "-wal", "-shm", "-journal")


def current(folder: Path) -> Path | None:
    """Return the file of the current generation, or None before there is one."""
    return _named(folder / "current")


def begun(folder: Path) -> Path | None:
    """Return the file of a generation whose building was interrupted, or None."""
    path = _named(folder / "begun")
    return path if path != current(folder) else None


def begin(folder: Path) -> Path:
    """Return the path of a new, still empty generation.

    Raises:
        OSError: it cannot be made, or *folder* is a symlink.
    """
    if folder.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "its folder is a symlink")
    make_folder(folder)
    path = folder / f"{os.urandom(4).hex()}{_SUFFIX}"
    path.touch(mode=0o600)
    return path


def make_folder(folder: Path) -> None:
    """Make *folder*, and the one that it lies in; no more, or a vault on a disk that is gone would be made anew.

    Raises:
        OSError: it cannot be made.
    """
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def keep_begun(path: Path) -> None:
    """Let the generation at *path* be found by `begun` until there is a current one: what it holds is whole."""
    _point(path.with_name("begun"), path)


def make_current(path: Path) -> None:
    """Let the finished generation at *path* be the current one, from one moment to the next."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    _point(path.with_name("current"), path)


def remove_others(folder: Path) -> None:
    """Delete all generations but the current one. Where a system refuses (open files on Windows), they wait."""
    kept = current(folder)
    (folder / "begun").unlink(missing_ok=True)
    for path in folder.iterdir():
        name, suffix, journal = path.name.partition(_SUFFIX)
        if _is_generation(name + suffix) and journal in _JOURNALS and not (kept and kept.name == name + suffix):
            with contextlib.suppress(OSError):
                path.unlink()


def _named(pointer: Path) -> Path | None:
    try:
        name = pointer.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
    path = pointer.with_name(name) if _is_generation(name) else pointer
    # A vault that was cloned may hold symlinks; it does not choose what memtool reads, writes and deletes.
    ours = path != pointer and not pointer.parent.is_symlink() and not path.is_symlink()
    return path if ours and path.is_file() else None


def _point(pointer: Path, path: Path) -> None:
    temporary = pointer.with_name(f"{pointer.name}.tmp")
    temporary.unlink(missing_ok=True)
    with temporary.open("x", encoding="ascii") as file:
        file.write(path.name + "\n")
    os.replace(temporary, pointer)


def _is_generation(name: str) -> bool:
    return len(name) == 8 + len(_SUFFIX) and name.endswith(_SUFFIX) and set(name[:8]) <= set("0123456789abcdef")
