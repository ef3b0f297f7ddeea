"""Masking texts wherever a vault keeps them: in its files, in transcripts, and in `.memtool`.

The index and the vectors are left alone: they are made anew of the files. Purged texts are kept as salted hashes, so
that no capture brings them back.
"""

from __future__ import annotations

import codecs
import gzip
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from memtool.errors import NoteChanged
from memtool.redaction.known import HashedTexts
from memtool.vault import limits
from memtool.vault.files import read_content, write_over
from memtool.vault.layout import Vault
from memtool.vault.state import STATE_FOLDER, make_state_folder, read_state, write_state

Mask = Callable[[str], str]  # returns a text without what is to go

_HASHES = "purged.json"
_WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_GZIP = b"\x1f\x8b"
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
        NoteChanged: one of them was changed in the meantime.
    """
    changed: list[str] = []
    for ref in refs:
        path = vault.root / ref
        with suppress(FileNotFoundError), vault.lock():
            before = read_content(path, largest=limits.MASKED)
            if (after := masked_content(before, mask)) is not None:
                if read_content(path, largest=limits.MASKED) != before:
                    raise NoteChanged(f"'{ref}' was written meanwhile")
                write_over(path, after, durable=True)
                changed.append(ref)
    return changed


def texts_of(vault: Vault) -> Iterator[tuple[str, str | None]]:
    """Give every file of `all_refs` with its text; None for one that is not looked into: too large, or no text."""
    for ref in all_refs(vault):
        try:
            found = text_in(read_content(vault.root / ref, largest=limits.MASKED))
        except OSError:
            found = None
        yield ref, found[0] if found else None


def drop_indexes(vault: Vault) -> None:
    """Remove all indexes and vectors below `.memtool`, also those of other machines and of the vault's former place."""
    for folder in vault.state_path.iterdir() if vault.state_path.is_dir() else ():
        if re.fullmatch("[0-9a-f]{16}", folder.name) and not folder.is_symlink():
            for name in ("index", "vectors"):
                shutil.rmtree(folder / name, ignore_errors=True)


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
                content = masked_content(read_state(path, largest=limits.MASKED), mask)
                if content is not None:
                    write_state(path, content, durable=True)
                    changed.append(path)
    return changed


def masked_content(content: bytes, mask: Mask) -> bytes | None:
    """Return *content* of a file as *mask* has it; None if that changes nothing."""
    if (found := text_in(content)) is None:
        return None
    text, written = found
    masked = mask(text)
    return None if masked == text else written(masked)


def text_in(content: bytes) -> tuple[str, Callable[[str], bytes]] | None:
    """Return the text in *content* of a file, and a function that packs another one the same way; None if it has none.

    The text may be packed by gzip, and be UTF-16 with its mark in front.
    """
    if content.startswith(_GZIP):
        try:
            found = text_in(gzip.decompress(content))
        except (OSError, EOFError, zlib.error):
            return None
        return found and (found[0], lambda text: gzip.compress(found[1](text), mtime=0))
    if encoding := _WIDE.get(content[:2]):
        with suppress(UnicodeDecodeError):
            return content[2:].decode(encoding), lambda text: content[:2] + text.encode(encoding, "surrogatepass")
    if b"\0" in content:
        return None
    return content.decode("utf-8", "surrogateescape"), lambda text: text.encode("utf-8", "surrogateescape")


def read_purged(vault: Vault) -> HashedTexts:
    """Return the hashes of the texts that were purged from *vault* on this machine."""
    try:
        kept = json.loads(read_state(vault.state_path / _HASHES, largest=1_048_576))
        return HashedTexts(
            str(kept["salt"]), tuple((int(size), int(ends), str(hash_)) for size, ends, hash_ in kept["of"])
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return HashedTexts()


def keep_purged(vault: Vault, text: str, salt: str) -> None:
    """Keep the hash of *text*, so that a capture does not bring it back.

    Raises:
        OSError: it cannot be written.
    """
    known = read_purged(vault)
    known = (known if known.salt else HashedTexts(salt)).with_text(text)
    make_state_folder(vault.state_path)
    content = json.dumps({"salt": known.salt, "of": list(dict.fromkeys(known.prints))})
    write_state(vault.state_path / _HASHES, content.encode(), durable=True)
