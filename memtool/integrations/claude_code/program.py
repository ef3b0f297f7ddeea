"""How this installation's `memtool-hook` is called."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from memtool.errors import BadSetting
from memtool.integrations.claude_code.hooks import Program


def find_program(vault: Path | None, *, this_project: bool) -> Program:
    """Return what runs this memtool's hook on *vault*; None leaves it to the hook to find the vault.

    Raises:
        BadSetting: the vault's path cannot be written into a settings file.
    """
    if vault and not _is_unicode(vault):
        raise BadSetting(f"the path of the vault '{vault}' is not Unicode", hint="Give its folder another name.")
    args = (*(("--vault", str(vault)) if vault else ()), *(("--this-project",) if this_project else ()))
    for folder in _script_folders():
        script = folder / ("memtool-hook.exe" if sys.platform == "win32" else "memtool-hook")
        if script.is_file():
            return Program(str(script), args)
    # -P: the hook runs in the user's project, and nothing there may pass for a module of ours.
    return Program(sys.executable, ("-P", "-m", "memtool.hook", *args))


def _is_unicode(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _script_folders() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts"))
    if sys.prefix == sys.base_prefix:  # `pip install --user`; in a virtual environment that would be another memtool
        yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
