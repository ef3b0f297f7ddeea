"""The program with which git merges the files of a vault, as a clone's own settings and attributes name it.

What a vault brings along names no program, and its `.gitattributes` decide no merge: the clone's own attributes, in
`.git/info/attributes`, have the last word. git merges line by line until `memtool init` or `memtool sync` has run.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from memtool.git import ask, setting_of, tell
from memtool.history.merging import CONFLICT
from memtool.history.repository import OWN_DRIVER, refuse_pipes
from memtool.processes import ISOLATED
from memtool.resources import shipped
from memtool.vault import files
from memtool.vault.layout import Vault

_NAME = "memtool"
_MODULE = "memtool.cli.merge_driver"


def driver_command() -> str:
    """Return the command of the driver, in a shell; without memtool, git merges the lines."""
    program = shlex.join([sys.executable, *ISOLATED, "-m", _MODULE]).replace("%", "%%")
    merge_lines = "git merge-file %A %O %B"
    return f"{program} %O %A %B %P; case $? in 0) exit 0;; {CONFLICT}) exit 1;; *) {merge_lines};; esac"


def driver_attributes() -> str:
    """Return the lines that name the driver for notes and facts."""
    return (shipped("vault_template") / ".gitattributes").read_text(encoding="utf-8")


def install_driver(vault: Vault) -> None:
    """Put the driver's command into the clone's own settings, and its name into the clone's own attributes.

    Raises:
        HistoryFailed: git refuses.
        NoteChanged, NotWritable, BrokenVaultFile: the attributes cannot be read or written.
    """
    wanted = driver_command()
    if setting_of(vault.root, OWN_DRIVER) != wanted:
        tell(vault.root, "config", "--local", f"merge.{_NAME}.name", "notes of memtool")
        tell(vault.root, "config", "--local", OWN_DRIVER, wanted)
    path, lines = _attributes_path(vault), driver_attributes()
    refuse_pipes(vault.root, ())
    if not _is_named(path):
        files.change(path, lambda text: f"{text.rstrip()}\n\n{lines}" if text else lines)


def driver_problem(vault: Vault) -> str:
    """Return why the driver does not merge in this clone, as a sentence; empty if it does, or has nothing to merge."""
    if not ask(vault.root, "remote").out.strip():
        return ""
    if setting_of(vault.root, OWN_DRIVER) != driver_command() or not _is_named(_attributes_path(vault)):
        return "this clone does not know what merges the notes of two machines"
    return ""


def _attributes_path(vault: Vault) -> Path:
    return vault.root / tell(vault.root, "rev-parse", "--git-path", "info/attributes").removesuffix("\n")


def _is_named(path: Path) -> bool:
    """Return whether the attributes at *path* end with those of the driver: of several the last one holds."""
    return path.is_file() and files.read_text(path)[0].endswith(driver_attributes())
