"""Folders that are read once and written for each test: `shutil.copytree` takes four times as long."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path
from typing import NamedTuple


class Tree(NamedTuple):
    """What lies in a folder, folders before what is in them: path, mode, and the bytes of a file."""

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
