"""The health of a vault, its index, this machine and the clients: what is wrong, and how to fix it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memtool import settings as settings_module
from memtool.doctor import index, installation, vault as vault_room, work as work_room
from memtool.doctor.check import BROKEN, NOTE, OK, Check, broken
from memtool.errors import MemtoolError
from memtool.vault.layout import open_vault
from memtool.vault.scan import ignores, scan
from memtool.workspace import Workspace

__all__ = ["BROKEN", "NOTE", "OK", "Check", "examine"]


def examine(
    vault_path: Path, origin: str, environ: Mapping[str, str], *, folder: Path | None = None, deep: bool = False
) -> list[Check]:
    """Return the findings about the vault at *vault_path*, which *origin* has named, and about this installation.

    Nothing is changed, neither in the vault nor in the user's folders. *folder* is where the agent works; its settings
    are checked, too. A *deep* examination reads every note, and asks each model for one token.
    """
    home = installation.home_folder()
    here = [*installation.installation_checks(), *installation.client_checks(environ, home, folder)]
    try:
        vault = open_vault(vault_path)
        vault.check_made()
    except MemtoolError as error:
        settings_checks = installation.settings_checks(None, environ)
        return [broken("vault", error), *here, *settings_checks, *installation.version_checks()]
    checks = [*vault_room.folder_checks(vault, origin), *here, *installation.rule_checks(vault, environ)]
    checks += installation.settings_checks(vault, environ)
    try:
        settings = settings_module.load(vault.settings_path, environ)
    except MemtoolError:
        return [*checks, *installation.version_checks()]  # the check of the settings reports it
    work = Workspace(vault, settings, environ, home, folder or vault.root)
    found = scan(vault.root, ignores(settings.index.ignore))
    return [
        *checks,
        *vault_room.content_checks(work, found, deep=deep),
        *work_room.work_checks(work, deep=deep),
        *work_room.writer_checks(work, found.stamps),
        *index.index_checks(work, found, deep=deep),
        *work_room.service_checks(work),
        *installation.version_checks(),
    ]
