"""Leftovers of killed runs in a vault: hidden temporary files of memtool, and locks of git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_TEMPORARY = re.compile(r"\.memtool-[0-9a-f]{8}\.tmp")  # see memtool.vault.files
_GIT_LOCKS = ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/main.lock")
_OLD = 3600.0  # seconds; nobody writes a file, or commits, for an hour


def find_leftovers(root: Path, now: float) -> list[Path]:
    """Return the files below the vault at *root* that a killed run left there over an hour ago, in stable order."""
    return sorted(path for path in _candidates(root) if _is_old_file(path, now))


def remove_leftovers(root: Path, now: float) -> list[Path]:
    """Remove them; return those that are gone."""
    removed = []
    for path in find_leftovers(root, now):
        with suppress(OSError):
            path.unlink()
            removed.append(path)
    return removed


def _candidates(root: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name != ".git"]
        yield from (Path(folder, name) for name in names if _TEMPORARY.fullmatch(name))
    if not (root / ".git").is_symlink():
        yield from (root / ".git" / name for name in _GIT_LOCKS)


def _is_old_file(path: Path, now: float) -> bool:
    with suppress(OSError):
        about = path.lstat()
        # The time of its last renaming or linking counts, too: a temporary name may be that of an old note.
        return not path.is_dir() and now - max(about.st_mtime, about.st_ctime) > _OLD
    return False
