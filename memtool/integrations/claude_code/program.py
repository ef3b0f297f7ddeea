"""The command line that the hooks in the client's settings hold: this installation's `memtool-hook`, behind a guard.

Whoever removes memtool before its hooks would be told of a failure at every prompt. The guard looks for the interpreter
and for the package, and ends in silence where either is gone; `memtool doctor` of another installation says so.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import memtool
from memtool.errors import BadSetting
from memtool.integrations.claude_code.hooks import Program
from memtool.vault.background import ISOLATED

# By their full paths, because the hook runs in the user's project. The paths come as arguments, never as shell syntax.
_SHELL = Path("/bin/sh")
_GUARD = '[ -e "$0" ] && [ -x "$1" ] || exit 0; exec "$@"'
_CMD = Path(r"C:\Windows\System32\cmd.exe")
_PLAIN_WORD = re.compile(r"[\w .:\\/~+-]+")  # means nothing to cmd but itself, quoted or not


def find_program(vault: Path | None, *, this_project: bool) -> Program:
    """Return the program that runs this memtool's hook on *vault*; None leaves it to the hook to find the vault.

    Raises:
        BadSetting: the vault's path cannot be written into a settings file.
    """
    if vault and not _is_unicode(vault):
        raise BadSetting(f"the path of the vault '{vault}' is not Unicode", hint="Give its folder another name.")
    args = (*(("--vault", str(vault)) if vault else ()), *(("--this-project",) if this_project else ()))
    # Not the script `memtool-hook`: it runs in the user's project, where a PYTHONPATH may lead to a stranger's modules.
    words = (sys.executable, *ISOLATED, "-m", "memtool.hook", *args)
    return _guarded(words, str(Path(memtool.__file__).parent / "hook" / "__main__.py"))


def _guarded(words: tuple[str, ...], needed: str) -> Program:
    """Return the program *words*, behind a guard where this system has one: it runs if the file *needed* is there."""
    if sys.platform != "win32" and _SHELL.exists():
        return Program(str(_SHELL), ("-c", _GUARD, needed, *words))
    if _CMD.exists() and all(map(_PLAIN_WORD.fullmatch, (needed, *words))):
        return Program(str(_CMD), ("/d", "/c", "if", "exist", needed, "if", "exist", words[0], *words))
    return Program(words[0], words[1:])


def _is_unicode(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
