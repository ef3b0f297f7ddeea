"""The vaults that the user calls his own: only their words reach files outside, such as a client's rules.

A vault may be a stranger's clone, so this is kept beside the user's own settings: one path a line in `own-vaults`, and
until the last client is taken out in the record of installations.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from memtool import settings
from memtool.errors import MemtoolError
from memtool.integrations.record import Record, read_record, update
from memtool.vault import files
from memtool.vault.layout import Vault


def is_own(environ: Mapping[str, str], vault: Vault) -> bool:
    """Return whether the user has called *vault* his own, by `memtool init`, when asked, or in his own settings."""
    root = str(vault.root)
    try:
        if root in _listed(environ).splitlines() or root in read_record(environ).vaults:
            return True
        # MEMTOOL_VAULT may be there for one session only, and the working folder may be anybody's.
        lasting = {key: value for key, value in environ.items() if key != "MEMTOOL_VAULT"}
        named, origin = settings.find_vault_path(None, lasting, Path(os.sep))
        own_settings = str(settings.user_config_path(environ))
    except (MemtoolError, OSError):
        return False
    return origin == own_settings and os.path.realpath(named) == root


def call_own(environ: Mapping[str, str], vault: Vault) -> None:
    """Remember that *vault* is the user's own.

    Raises:
        MemtoolError: the folder of the user's settings cannot be written.
    """
    line = f"{vault.root}\n"
    files.change(_path(environ), lambda text: text if line in (text or "").splitlines(True) else (text or "") + line)


def call_own_while_installed(environ: Mapping[str, str], vault: Vault) -> None:
    """Remember that *vault* is the user's own until the last client is taken out.

    Raises:
        MemtoolError: the folder of the user's settings cannot be written.
    """

    def change(record: Record) -> None:
        record.vaults = sorted({*record.vaults, str(vault.root)})

    update(environ, change)


def _listed(environ: Mapping[str, str]) -> str:
    try:
        return files.read_text(_path(environ))[0]
    except FileNotFoundError:
        return ""


def _path(environ: Mapping[str, str]) -> Path:
    return settings.user_config_path(environ).with_name("own-vaults")
