"""One walk over the vault: which notes lie there, and what changed since they were read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from memtool.vault.broken import BrokenNote
from memtool.vault.layout import FACTS_FILE, NOTE_SUFFIXES

# A file saved within the clock's resolution may change again without changing its stamp
# (git calls this "racy"), so the stamps of files that were younger than this when they were read are not trusted.
RACY_NS = 2_000_000_000

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})


class Stamp(NamedTuple):
    """What tells cheaply that a file is the same: its size in bytes and its modification time."""

    size: int
    mtime_ns: int


class KnownStamp(NamedTuple):
    """A stamp as the index holds it, with the time at which the file's content was read."""

    size: int
    mtime_ns: int
    read_at_ns: int


@dataclass
class Scan:
    """What a walk found. *unreadable* are files, and folders with a slash at the end: unknown is not deleted."""

    stamps: dict[str, tuple[int, int]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    problems: list[BrokenNote] = field(default_factory=list)


class Changes(NamedTuple):
    """The difference between the disk and the index: files to read again, and files that are gone."""

    suspects: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.suspects or self.gone)


def scan(root: Path) -> Scan:
    """Walk the vault at *root* once and return the stamps of its notes, by path relative to it.

    Folders whose names begin with a dot are not entered. Symlinks are not followed: one that stays inside the vault
    leads to a file that is found in its own place, one that leads out is a problem.
    """
    found = Scan()
    top = os.fspath(root)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(top, folder)) as entries:  # noqa: PTH118  (speed)
                for entry in entries:
                    _visit(entry, folder, found, waiting, root)
        except FileNotFoundError:
            if not folder:  # the vault itself: a volume that went away, and no deletion of everything
                found.unreadable.append(folder)
        except OSError as error:
            found.unreadable.append(folder)
            found.problems.append(BrokenNote(folder or ".", f"the folder cannot be read: {error.strerror}"))
    return found


def changes(known: Mapping[str, KnownStamp], found: Scan) -> Changes:
    """Return what an index that holds the stamps *known* must read again, and what it must forget."""
    stamps = found.stamps
    suspects = [ref for ref, stamp in stamps.items() if _is_suspect(known.get(ref), stamp)]
    gone = [ref for ref in known if ref not in stamps and not _is_below(ref, found.unreadable)]
    return Changes(tuple(sorted(suspects)), tuple(sorted(gone)))


def _is_suspect(known: KnownStamp | None, stamp: tuple[int, int]) -> bool:
    if known is None or known[0] != stamp[0] or known[1] != stamp[1]:
        return True
    return known[2] - known[1] < RACY_NS


def _is_below(ref: str, folders: list[str]) -> bool:
    return any(ref.startswith(folder) for folder in folders)


def _visit(entry: os.DirEntry[str], folder: str, found: Scan, waiting: list[str], root: Path) -> None:
    name = entry.name
    if name[0] == ".":
        return
    if is_note_name(name) and entry.is_file(follow_symlinks=False):
        _visit_note(entry, folder + name, found)
    elif entry.is_symlink():
        _visit_symlink(entry, folder, found, root)
    elif name not in _SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
        waiting.append(f"{folder}{name}/")


def _visit_note(entry: os.DirEntry[str], ref: str, found: Scan) -> None:
    if not _is_speakable(ref):
        found.problems.append(BrokenNote(ascii(ref)[1:-1], "the path holds a line break or is not UTF-8"))
        return
    try:
        stat = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return  # removed since the folder was listed
    except OSError as error:  # the folder may be listed and not entered
        found.unreadable.append(ref)
        found.problems.append(BrokenNote(ref, f"cannot be read: {error.strerror}"))
        return
    found.stamps[ref] = (stat.st_size, stat.st_mtime_ns)  # plain, not a Stamp: there may be very many


def is_note_name(name: str) -> bool:
    """Whether a file called *name* is one that memtool reads."""
    return name.endswith(NOTE_SUFFIXES) or name == FACTS_FILE or name.lower().endswith(NOTE_SUFFIXES)


def _is_speakable(ref: str) -> bool:
    return ref.isprintable() or not any(char < " " or "\ud800" <= char <= "\udfff" for char in ref)


def _visit_symlink(entry: os.DirEntry[str], folder: str, found: Scan, root: Path) -> None:
    target = os.path.realpath(entry.path)
    looks_read = is_note_name(entry.name) or os.path.isdir(target)  # noqa: PTH112  (Path.is_dir may raise)
    if looks_read and not Path(target).is_relative_to(root):
        found.problems.append(BrokenNote(folder + entry.name, "a symlink that leaves the vault is not followed"))
