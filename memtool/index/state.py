"""Where memtool keeps what it derives from a vault: the index, the vectors, the locks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from memtool.errors import NotAVault, NotWritable
from memtool.vault.layout import Vault, make_state_folder

_NAME_LENGTH = 16  # hexadecimal digits
_UNNAMED = "unnamed"


def state_folder(vault: Vault, cache: Callable[[], Path]) -> Path:
    """Return the folder for what is derived of *vault*: in its `.memtool`; if that may not be written, in *cache*.

    In `.memtool` it bears a name that only this user on this machine knows. A vault that comes from a stranger may
    bring an index along, which would say what it likes; it is never opened. And a vault that is synchronised between
    machines holds an index for each.

    Raises:
        NotWritable: neither place can be written.
    """
    with contextlib.suppress(OSError, NotAVault):
        vault.check_made()
        folder = vault.state_path / _own_name(cache())
        make_state_folder(folder)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    folder = outer_folder(vault.root, cache())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritable(f"neither '{vault.state_path}' nor '{folder}' can be written: {error.strerror}") from None
    return folder


def find_state_folder(vault: Vault, cache: Path) -> Path | None:
    """Return the folder that `state_folder` has made before, or None; nothing is made here."""
    folders = (vault.state_path / (_drawn_name(cache) or _UNNAMED), outer_folder(vault.root, cache))
    return next((folder for folder in folders if folder.is_dir()), None)


def outer_folder(root: Path, cache: Path) -> Path:
    """Return where in *cache* lies what belongs to the vault at *root* and cannot be kept in it."""
    import hashlib

    return cache / "vaults" / hashlib.sha256(os.fsencode(root)).hexdigest()[:_NAME_LENGTH]


def _drawn_name(cache: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        name = (cache / "machine").read_text(encoding="utf-8").strip()
        if len(name) == _NAME_LENGTH and name.isalnum():
            return name
    return ""


def _own_name(cache: Path) -> str:
    """Return the secret name, which is drawn once and kept in the user's *cache*."""
    if name := _drawn_name(cache):
        return name
    path = cache / "machine"
    name = os.urandom(_NAME_LENGTH // 2).hex()
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".machine.{name}")
        temporary.write_text(name, encoding="ascii")
        os.replace(temporary, path)
        return path.read_text(encoding="utf-8")  # another process may have been quicker
    except OSError:
        return _UNNAMED  # no place for a secret: rather an index that a stranger could forge than none
