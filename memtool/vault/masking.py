"""Masking texts wherever a vault keeps them: in its files, in transcripts, and in what lies in `.memtool`.

The index and the vectors are left alone: they are made anew of the files.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from memtool.errors import NoteChanged
from memtool.vault.files import read_content, write_over
from memtool.vault.layout import Vault
from memtool.vault.state import STATE_FOLDER, read_state, write_state

Mask = Callable[[str], str]  # returns a text without what is to go

_LARGEST = 67_108_864  # bytes of a file that is looked into
_GZIP = ".gz"
_NOT_KEPT = ("index", "locks", "vectors")  # folders in `.memtool` that hold no texts, or only derived ones


def all_refs(vault: Vault) -> Iterator[str]:
    """Give every file of the vault that is no state and not git's, hidden ones as well."""
    for folder, folders, names in os.walk(vault.root):
        folders[:] = sorted(name for name in folders if name not in {".git", STATE_FOLDER})
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(vault.root).as_posix()


def mask_files(vault: Vault, refs: Iterable[str], mask: Mask) -> list[str]:
    """Write those of the files *refs* anew that *mask* changes; return them.

    Raises:
        NoteChanged: somebody else wrote one of them in the meantime.
    """
    changed: list[str] = []
    for ref in refs:
        path = vault.root / ref
        with suppress(FileNotFoundError), vault.lock():
            before = read_content(path, largest=_LARGEST)
            if (after := masked_content(ref, before, mask)) is not None:
                if read_content(path, largest=_LARGEST) != before:
                    raise NoteChanged(f"'{ref}' was written meanwhile")
                write_over(path, after, durable=True)
                changed.append(ref)
    return changed


def mask_state(folder: Path, mask: Mask, *, besides: tuple[str, ...] = ()) -> list[Path]:
    """Write those files below *folder*, which holds derived state, anew that *mask* changes; return them.

    Folders called as one of *besides* are left out.
    """
    changed: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in {*_NOT_KEPT, *besides}]
        for name in names:
            path = Path(parent, name)
            with suppress(OSError):
                content = masked_content(name, read_state(path, largest=_LARGEST), mask)
                if content is not None:
                    write_state(path, content, durable=True)
                    changed.append(path)
    return changed


def masked_content(name: str, content: bytes, mask: Mask) -> bytes | None:
    """Return *content* of the file *name* as *mask* has it; None if that changes nothing."""
    is_packed = name.endswith(_GZIP)
    if is_packed:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError):
            return None
    if b"\0" in content:
        return None
    text = content.decode("utf-8", "surrogateescape")
    masked = mask(text)
    if masked == text:
        return None
    plain = masked.encode("utf-8", "surrogateescape")
    return gzip.compress(plain, mtime=0) if is_packed else plain
