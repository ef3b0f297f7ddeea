"""Copies of Markdown files: the source is only read, and what already lies at the target is never overwritten."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SUFFIXES = (".md", ".markdown")
PASSED_OVER = ("bower_components", "node_modules", "site-packages", "__pycache__")  # and names with a leading dot
MOST_FILES = 20_000
LARGEST_FILE = 10 * 1024 * 1024  # bytes; memtool reads no larger note


@dataclass
class Copies:
    """The outcome of copying the files that were found."""

    paths: list[Path] = field(default_factory=list)  # all copies, new and old
    new: int = 0
    different: int = 0  # were there already with other content, and were left as they are
    left_out: list[str] = field(default_factory=list)  # a sentence for each


def copy_markdown(
    source: Path,
    target: Path,
    *,
    passed_over: Collection[Path] = (),
    suffixes: tuple[str, ...] = SUFFIXES,
    most_files: int = MOST_FILES,
) -> Copies:
    """Copy the files below *source* whose names end in *suffixes* to *target*, keeping the tree.

    Symlinks are not followed. *passed_over* are files and folders to leave out, such as the vault itself.
    """
    copies = Copies()
    # All are found before the first is copied: the target may lie below the source.
    for path in list(_find(source, passed_over, suffixes, copies.left_out)):
        if len(copies.paths) == most_files:
            copies.left_out.append(f"there are more than {most_files:,} files; the rest was left out")
            break
        try:
            _copy(path, target / path.relative_to(source), copies)
        except OSError as error:
            copies.left_out.append(f"'{path}' cannot be copied: {error.strerror}")
    return copies


def _find(
    source: Path, passed_over: Collection[Path], suffixes: tuple[str, ...], left_out: list[str]
) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        left_out.append(f"'{error.filename}' cannot be read: {error.strerror}")

    for folder, subfolders, names in os.walk(source, onerror=unreadable):
        here = Path(folder)
        subfolders[:] = sorted(
            name for name in subfolders if name[0] != "." and name not in PASSED_OVER and here / name not in passed_over
        )
        paths = [here / name for name in sorted(names) if name[0] != "." and name.lower().endswith(suffixes)]
        yield from (path for path in paths if path not in passed_over)


def _copy(path: Path, copy_path: Path, copies: Copies) -> None:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        copies.left_out.append(f"'{path}' is a symlink or no file at all")
        return
    if status.st_size > LARGEST_FILE:
        copies.left_out.append(f"'{path}' is larger than {LARGEST_FILE // 1024 // 1024} MB")
        return
    content = path.read_bytes()
    if not copy_path.exists():
        copy_path.parent.mkdir(parents=True, exist_ok=True)
        copy_path.write_bytes(content)
        copies.new += 1
    elif copy_path.read_bytes() != content:
        copies.different += 1
    copies.paths.append(copy_path)
