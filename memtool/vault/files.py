"""Whole files, written atomically, and only over the version that was read; and the leftovers of killed runs."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from memtool.errors import BrokenVaultFile, NoteChanged, NotWritable
from memtool.named_tuple import NamedTuple
from memtool.processes import note_write
from memtool.vault import limits

_NOT_ASCII = bytes(range(0x80, 0x100))
_TEMPORARY = r"\.memtool-[0-9a-f]{8}\.tmp"  # as `_hidden_beside` names them
_GIT_LOCKS = ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/main.lock")


class Stamp(NamedTuple):
    """A cheap sign that a file is the same: its size in bytes and its modification time."""

    size: int
    mtime_ns: int


class KnownStamp(NamedTuple):
    """A stamp as the index holds it, with the time at which the file's content was read."""

    size: int
    mtime_ns: int
    read_at_ns: int


def content_hash(content: bytes) -> str:
    """Return the SHA-256 of *content* in hexadecimal."""
    small = None if len(content) >= 65_536 or "hashlib" in sys.modules else _small_sha256()
    if small is None:
        import hashlib

        small = hashlib.sha256
    return str(small(content).hexdigest())


@cache
def _small_sha256() -> Callable[[bytes], Any] | None:
    """Return Python's own SHA-256, if it has one.

    hashlib brings OpenSSL along, which takes a hook longer than all else that it does with a note. So small contents
    are hashed by Python's own module, as `random` of the standard library does it.
    """
    for name in ("_sha2", "_sha256"):  # since Python 3.12, and before
        with contextlib.suppress(ImportError):
            return cast("Callable[[bytes], Any]", import_module(name).sha256)
    return None


def hash_of(path: Path) -> str | None:
    """Return the content hash of the file at *path*, or None where there is no file."""
    try:
        return content_hash(read_content(path))
    except FileNotFoundError:
        return None


def is_suspect(known: KnownStamp | None, stamp: tuple[int, int]) -> bool:
    """Return whether a file that has *stamp* now must be read, or read again.

    A file saved within the clock's resolution may change again without changing its stamp (git calls this "racy"), so
    the stamp of a file that was younger than two seconds when it was read is not trusted.
    """
    if known is None or known[0] != stamp[0] or known[1] != stamp[1]:
        return True
    return known[2] - known[1] < 2_000_000_000  # nanoseconds


def read_content(path: Path, *, largest: int | None = None) -> bytes:
    """Return the content of the file at *path*.

    Raises:
        OSError: there is none, it has more than *largest* bytes, or it is a pipe, which would be waited for in vain.
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is no file")
    if largest is not None and about.st_size > largest:
        raise OSError(errno.EFBIG, "it is too large")
    return path.read_bytes()


def read_head(path: Path, most: int) -> bytes:
    """Return the content of the file at *path*; of a large one, its first *most* bytes, without half a character.

    Raises:
        OSError: there is none, or it is no file.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no file")
    with path.open("rb") as file:
        head = file.read(most + 1)
    return head if len(head) <= most else head[:most].rstrip(_NOT_ASCII)


def read_text(path: Path) -> tuple[str, str]:
    """Return the text of *path*, its line ends as they are, and the hash to hand to `replace`."""
    content = read_content(path)
    try:
        return content.decode("utf-8"), content_hash(content)
    except UnicodeDecodeError as error:
        raise BrokenVaultFile(f"'{path.name}' is not UTF-8 (byte {error.start})") from None


def replace(path: Path, text: str, *, expected: str | None, durable: bool = True) -> str:
    """Write *text* to *path* if its hash is still *expected*; return the new hash.

    *expected* is None for a file that must not exist yet. Callers that share a file hold the vault's lock
    around reading and writing; the hash guards against everyone else, such as an editor, whose text is kept if it came
    in between (docs/benchmarks.md measures the window that is left). What is not *durable* may be lost in a power cut:
    for derived files, since making sure takes tens of milliseconds.

    Raises:
        NoteChanged: someone else wrote the file in the meantime.
        NotWritable: the folder or the disk refuses the write; the old file is kept.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError:
        raise BrokenVaultFile(f"the text for '{path.name}' holds a character that no file can hold") from None
    try:
        make_folder(path.parent)
        if hash_of(path) != expected:
            raise _changed(path)
        there = path.resolve()  # a symlink stays one
        with _written(there, content, durable=durable) as temporary:
            _put(temporary, there, expected, durable=durable)
    except OSError as error:
        raise NotWritable(f"cannot write '{path}': {error.strerror}") from None
    return content_hash(content)


def change(path: Path, changed: Callable[[str | None], str | None]) -> bool:
    """Let *changed* turn the text at *path* into its new one; return whether they differ. None means no file.

    Callers that share a file hold the vault's lock. An editor may save it between our reading and our writing: then
    *changed* is asked again.

    Raises:
        NoteChanged, NotWritable, BrokenVaultFile: nothing was written.
    """
    for attempt in range(5):
        try:
            text, expected = read_text(path)
        except FileNotFoundError:
            text, expected = None, None
        wanted = changed(text)
        if wanted is None or wanted == text:
            return False
        try:
            replace(path, wanted, expected=expected)
        except NoteChanged:
            if attempt == 4:
                raise
        else:
            return True
    return False


def make_folder(path: Path) -> None:
    """Make *path* and its missing parents, for the owner only (0700)."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)


def write_over(path: Path, content: bytes, *, durable: bool) -> None:
    """Replace the file at *path* by *content* from one moment to the next, whatever it was.

    Raises:
        OSError: the folder or the disk refuses the write; the old file is kept.
    """
    with _written(path, content, durable=durable) as temporary:
        os.replace(temporary, path)
    if durable:
        _sync_folder(path.parent)


@contextlib.contextmanager
def _written(path: Path, content: bytes, *, durable: bool) -> Iterator[Path]:
    """Give a hidden file beside *path* with its mode and *content*, which is to be renamed within the `with` block."""
    temporary = _hidden_beside(path)
    note_write(path)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISREG(mode := path.lstat().st_mode):
                temporary.chmod(stat.S_IMODE(mode))
        yield temporary
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _put(temporary: Path, path: Path, expected: str | None, *, durable: bool) -> None:
    """Rename *temporary* to *path* if the hash there is still *expected*, which is looked at last thing before."""
    old = _hidden_beside(path)
    try:
        os.link(*((path, old) if expected else (temporary, path)))
    except (FileNotFoundError, FileExistsError):
        raise _changed(path) from None
    except OSError:  # a disk without hard links
        if hash_of(path) != expected:
            raise _changed(path) from None
        os.replace(temporary, path)
    else:
        if expected:
            _put_over(temporary, path, old, expected, durable=durable)
            return
        temporary.unlink()
    if durable:
        _sync_folder(path.parent)


def _put_over(temporary: Path, path: Path, old: Path, expected: str, *, durable: bool) -> None:
    """Rename *temporary* to *path*, whose file has the second name *old*: it is looked at before and after.

    What an editor saved in between goes back to its place, in the file that the editor may be writing still.
    """
    ours = hash_of(temporary)
    try:
        if hash_of(old) != expected or not path.samefile(old):
            raise _changed(path)
        os.replace(temporary, path)
        if durable:
            _sync_folder(path.parent)  # which gives an editor that has emptied the file the time to fill it
        if hash_of(old) != expected and hash_of(path) == ours:
            os.replace(old, path)
            raise _changed(path)
    finally:
        old.unlink(missing_ok=True)


def _changed(path: Path) -> NoteChanged:
    return NoteChanged(f"'{path.name}' was changed by someone else")


def _hidden_beside(path: Path) -> Path:
    # A short name, because that of the note may be as long as the system allows; no walk reads hidden files.
    return path.with_name(f".memtool-{os.urandom(4).hex()}.tmp")


def _sync_folder(path: Path) -> None:
    # Makes the rename itself survive a power cut; Windows cannot open a folder and needs no such thing.
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def find_leftovers(root: Path, now: float) -> list[Path]:
    """Return the files below the vault at *root* that a killed run left there over an hour ago.

    They are temporary files of ours and locks of git, in stable order.
    """
    found = [] if (root / ".git").is_symlink() else [root / ".git" / name for name in _GIT_LOCKS]
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name != ".git"]
        found += [Path(folder, name) for name in names if name[0] == "." and re.fullmatch(_TEMPORARY, name)]
    old = []
    for path in found:
        with contextlib.suppress(OSError):
            about = path.lstat()
            # The time of its last renaming or linking counts, too: a temporary name may be that of an old note.
            if not path.is_dir() and now - max(about.st_mtime, about.st_ctime) > limits.LEFTOVER:
                old.append(path)
    return sorted(old)


def remove_leftovers(root: Path, now: float) -> list[Path]:
    """Remove the files that `find_leftovers` finds; return those that were removed."""
    removed = []
    for path in find_leftovers(root, now):
        with contextlib.suppress(OSError):
            path.unlink()
            removed.append(path)
    return removed
