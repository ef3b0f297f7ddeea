"""How this installation's `memtool-hook` is called."""

from __future__ import annotations

import sys
from pathlib import Path

from memtool.errors import BadSetting
from memtool.integrations.claude_code.hooks import Program
from memtool.vault.background import ISOLATED


def find_program(vault: Path | None, *, this_project: bool) -> Program:
    """Return what runs this memtool's hook on *vault*; None leaves it to the hook to find the vault.

    Raises:
        BadSetting: the vault's path cannot be written into a settings file.
    """
    if vault and not _is_unicode(vault):
        raise BadSetting(f"the path of the vault '{vault}' is not Unicode", hint="Give its folder another name.")
    args = (*(("--vault", str(vault)) if vault else ()), *(("--this-project",) if this_project else ()))
    # Not the script `memtool-hook`: it runs in the user's project, where a PYTHONPATH may lead to a stranger's modules.
    return Program(sys.executable, (*ISOLATED, "-m", "memtool.hook", *args))


def _is_unicode(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
