"""The state folder `.memtool` of a vault, which holds derived things, and what only this machine knows.

What is derived may be deleted at any time. Without the rest, a session that was switched off may be captured again, and
a text that was purged may be written again (`memtool.capture.captured`, `memtool.vault.masking`).

A vault may come from a stranger, who does not choose what memtool reads, writes and deletes. So what lies there is
made, read and written by these functions: they follow no symlink and wait for no pipe. Only databases look for symlinks
by themselves (`memtool.index.generations`).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from memtool.errors import NotWritable
from memtool.vault.files import make_folder, read_content, write_over

R = TypeVar("R", bound=tuple[Any, ...])  # a NamedTuple whose fields all have defaults

STATE_FOLDER = ".memtool"

# A symlink or a pipe may come at any moment. Windows knows neither flag, and translates line ends without the third.
_JUST_APPEND = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def writing_in(folder: Path) -> Iterator[None]:
    """Turn an error of the system within a `with` block into a sentence about *folder*.

    Raises:
        NotWritable: an `OSError` was raised.
    """
    try:
        yield
    except OSError as error:
        raise NotWritable(f"cannot write in '{folder}': {error.strerror}") from None


def make_state_folder(path: Path) -> None:
    """Make the folder *path* for derived files (0700); git ignores all of `.memtool/`.

    Raises:
        OSError: it cannot be made, or a symlink leads to it or lies in it: a vault may not choose where memtool writes.
    """
    way = _checked_way(path)
    if not way[-1].parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the vault is gone")  # a disk that is not mounted gets no new vault
    ignore = way[-1] / ".gitignore"
    if ignore.is_symlink() or not _holds_files_only(path):
        raise NotADirectoryError(errno.ENOTDIR, "there is a symlink")
    make_folder(path)
    if not ignore.exists():
        ignore.touch(mode=0o600)
        ignore.write_text("*\n", encoding="utf-8")


def read_state(path: Path, *, largest: int) -> bytes:
    """Return the content of the derived file at *path*.

    Raises:
        OSError: there is none, it has more than *largest* bytes, or a symlink leads to it.
    """
    _checked_way(path)
    return read_content(path, largest=largest)


def write_state(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write the derived file at *path*, whole. Unless *durable*, a power cut may take it away.

    Raises:
        OSError: it cannot be written, or a symlink leads to its folder. A symlink in its own place is replaced.
    """
    _checked_way(path.parent)
    write_over(path, content, durable=durable)


def append_state(path: Path, line: bytes) -> None:
    """Add *line* to the derived file at *path*, whole or not at all. Two processes never mix theirs.

    What a crash has cut off before it stays a line of its own.

    Raises:
        OSError: it cannot be written, a symlink leads to it, or it is a pipe.
    """
    _checked_way(path)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is no file")
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _JUST_APPEND, 0o600)
    try:
        size = os.lseek(handle, 0, os.SEEK_END)
        if size and os.lseek(handle, size - 1, os.SEEK_SET) >= 0 and os.read(handle, 1) != b"\n":
            line = b"\n" + line
        written = os.write(handle, line)
        if written != len(line):  # the disk is full
            if os.fstat(handle).st_size == size + written:
                os.ftruncate(handle, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(handle)


def read_record(path: Path, empty: R, *, largest: int) -> R | None:
    """Return the record that was written as JSON at *path*; None where there is none, or none like *empty*."""
    try:
        record = type(empty)(**json.loads(read_state(path, largest=largest)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return record if is_like(record, empty) else None


def is_like(record: tuple[object, ...], empty: tuple[object, ...]) -> bool:
    """Return whether each field of *record* has the type of the same field of *empty*."""
    return all(type(value) is type(default) for value, default in zip(record, empty, strict=True))


def waiting_lines(path: Path, *, largest: int) -> list[bytes]:
    """Return the lines that others have appended at *path* and that were not taken yet."""
    return [*_lines_in(_taken_path(path), largest), *_lines_in(path, largest)]


def take_lines(path: Path, *, largest: int) -> Iterator[list[bytes]]:
    """Give the lines appended at *path*, in one or two parts; asking for the next part removes the last one.

    Lines that were taken by a process that was killed come first. Only one process at a time may do this.

    Raises:
        OSError: they cannot be taken.
    """
    taken = _taken_path(path)
    for source in (taken, path):
        with contextlib.suppress(FileNotFoundError):
            os.replace(source, taken)
        if lines := _lines_in(taken, largest):
            yield lines
        taken.unlink(missing_ok=True)


def _checked_way(path: Path) -> tuple[Path, ...]:
    """Return *path* and the folders above it up to the state folder; outside of one, *path* alone.

    Raises:
        OSError: one of them is a symlink: a stranger's vault does not choose what memtool reads, writes and deletes.
    """
    steps = (path, *path.parents)
    state = next((at for at, step in enumerate(steps) if step.name == STATE_FOLDER), 0)
    way = steps[: state + 1]
    if any(step.is_symlink() for step in way):
        raise NotADirectoryError(errno.ENOTDIR, "there is a symlink")
    return way


def _holds_files_only(folder: Path, depth: int = 8) -> bool:
    """Return whether nothing below *folder* leads elsewhere (a symlink) or may be waited for in vain (a pipe)."""
    if not depth:
        return True  # memtool goes nowhere near as deep
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        return all(
            entry.is_file(follow_symlinks=False)
            or (entry.is_dir(follow_symlinks=False) and _holds_files_only(folder / entry.name, depth - 1))
            for entry in entries
        )
    return True


def _taken_path(path: Path) -> Path:
    return path.with_suffix(".taken")


def _lines_in(path: Path, largest: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return [line for line in read_state(path, largest=largest).split(b"\n") if line]
    return []
