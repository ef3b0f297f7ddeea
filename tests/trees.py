"""Files and folders for tests: written at a path of many parts, or read once and written again and again."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path
from typing import NamedTuple

from desk import Desk

from memtool.vault.layout import Vault


def write(where: Path | Vault | Desk, ref: str, text: str) -> Path:
    """Write *text* at *ref* in a folder or a vault, byte by byte, with the folders on the way; return the path."""
    vault = where.vault if isinstance(where, Desk) else where
    path = (vault.root if isinstance(vault, Vault) else vault) / ref
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


class Tree(NamedTuple):
    """A folder's content: path, mode, and the bytes of a file. `shutil.copytree` takes four times as long to write it.

    A folder comes before what lies in it.
    """

    parts: tuple[tuple[str, int, bytes | None], ...]

    def write(self, folder: Path) -> Path:
        """Make the new *folder* with all that is in it, and return it."""
        folder.mkdir(parents=True)
        for path, mode, content in self.parts:
            place = f"{folder}{os.sep}{path}"
            if content is None:
                os.mkdir(place, mode)  # noqa: PTH102  (a path takes as long to make as a folder)
            else:
                with open(place, "xb", opener=partial(os.open, mode=mode)) as file:
                    file.write(content)
        return folder


def tree_of(folder: Path) -> Tree:
    """Return what lies in *folder*, which has no links."""
    parts = []
    for path in sorted(folder.rglob("*")):
        content = None if path.is_dir() else path.read_bytes()
        parts.append((str(path.relative_to(folder)), stat.S_IMODE(path.stat().st_mode), content))
    return Tree(tuple(parts))
