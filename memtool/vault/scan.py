"""One walk over the vault: which notes lie there, and what changed since they were read."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtool.vault.layout import FACTS_FILE, NOTE_SUFFIXES

if TYPE_CHECKING:
    from memtool.vault.note import BrokenNote

# A file saved within the clock's resolution may change again without changing its stamp
# (git calls this "racy"), so the stamps of files that were younger than this when they were read are not trusted.
RACY_NS = 2_000_000_000

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})


class Stamp(NamedTuple):
    """A cheap sign that a file is the same: its size in bytes and its modification time."""

    size: int
    mtime_ns: int


class KnownStamp(NamedTuple):
    """A stamp as the index holds it, with the time at which the file's content was read."""

    size: int
    mtime_ns: int
    read_at_ns: int


class Scan(NamedTuple):
    """The result of a walk. *unreadable* are files, and folders with a slash at the end: unknown is not deleted."""

    stamps: dict[str, tuple[int, int]]
    unreadable: list[str]
    problems: list[BrokenNote]

    def as_bytes(self) -> bytes:
        """Return bytes that are equal for two walks if they found the same files in the same order."""
        return marshal.dumps((self.stamps, self.unreadable), 2)  # the last version without references; the fastest


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
    found = Scan({}, [], [])
    top = os.fspath(root)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        path = os.path.join(top, folder)  # noqa: PTH118  (speed)
        try:
            _visit(_entries(path), path, folder, found, waiting, top)
        except FileNotFoundError:
            if not folder:  # the vault itself: a volume that went away, and no deletion of everything
                found.unreadable.append(folder)
        except OSError as error:
            found.unreadable.append(folder)
            found.problems.append(broken(folder or ".", f"the folder cannot be read: {error.strerror}"))
    return found


def broken(ref: str, reason: str) -> BrokenNote:
    """Return the problem of the file or folder at *ref*."""
    from memtool.vault.note import BrokenNote  # a walk that meets with nothing odd does without

    return BrokenNote(ref, reason)


def changes(known: Mapping[str, KnownStamp], found: Scan) -> Changes:
    """Return the files that an index with the stamps *known* must read again, and those it must forget."""
    stamps = found.stamps
    suspects = [ref for ref, stamp in stamps.items() if is_suspect(known.get(ref), stamp)]
    gone = [ref for ref in known if ref not in stamps and not _is_below(ref, found.unreadable)]
    return Changes(tuple(sorted(suspects)), tuple(sorted(gone)))


def is_suspect(known: KnownStamp | None, stamp: tuple[int, int]) -> bool:
    """Return whether a file that has *stamp* now must be read, or read again."""
    if known is None or known[0] != stamp[0] or known[1] != stamp[1]:
        return True
    return known[2] - known[1] < RACY_NS


def _is_below(ref: str, folders: list[str]) -> bool:
    return any(ref.startswith(folder) for folder in folders)


if sys.platform == "win32":

    def _entries(path: str) -> Iterator[os.DirEntry[str]]:
        with os.scandir(path) as entries:
            yield from entries

else:

    def _entries(path: str) -> Iterator[os.DirEntry[str]]:
        # Below an open folder, the system finds a file by its name alone: a sixth less time for the walk.
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(handle) as entries:
                yield from entries
        finally:
            os.close(handle)


def _visit(
    entries: Iterator[os.DirEntry[str]], path: str, folder: str, found: Scan, waiting: list[str], top: str
) -> None:
    stamps = found.stamps
    for entry in entries:  # before each search, for each note: hence no function calls but for what is rare
        name = entry.name
        if name[0] == ".":
            continue
        if (name.endswith(NOTE_SUFFIXES) or is_note_name(name)) and entry.is_file(follow_symlinks=False):
            ref = folder + name
            if not (ref.isprintable() or _is_speakable(ref)):
                found.problems.append(broken(ascii(ref)[1:-1], "the path holds a line break or is not UTF-8"))
                continue
            try:
                stat = entry.stat(follow_symlinks=False)
            except OSError as error:
                _remember_unreadable(ref, error, found)
                continue
            stamps[ref] = (stat.st_size, stat.st_mtime_ns)  # plain, not a Stamp
        elif entry.is_symlink():
            _visit_symlink(os.path.join(path, name), folder + name, found, top)  # noqa: PTH118
        elif name not in _SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False):
            waiting.append(f"{folder}{name}/")


def is_note_name(name: str) -> bool:
    """Return whether a file called *name* is one that memtool reads."""
    return name.endswith(NOTE_SUFFIXES) or name == FACTS_FILE or name.lower().endswith(NOTE_SUFFIXES)


def _is_speakable(ref: str) -> bool:
    return not any(char < " " or "\ud800" <= char <= "\udfff" for char in ref)


def _remember_unreadable(ref: str, error: OSError, found: Scan) -> None:
    if not isinstance(error, FileNotFoundError):  # which has been removed since the folder was listed
        found.unreadable.append(ref)  # the folder may be listed and not entered
        found.problems.append(broken(ref, f"cannot be read: {error.strerror}"))


def _visit_symlink(path: str, ref: str, found: Scan, top: str) -> None:
    target = os.path.realpath(path)
    looks_read = is_note_name(ref.rsplit("/", 1)[-1]) or os.path.isdir(target)  # noqa: PTH112  (Path.is_dir may raise)
    if looks_read and not Path(target).is_relative_to(top):
        found.problems.append(broken(ref, "a symlink that leaves the vault is not followed"))
