"""git's merge driver for a vault's files: named in `.gitattributes`, its command in each clone's own settings.

A vault that is cloned brings the name along and no command, so git merges line by line until `memtool init` or
`memtool sync` has run in the clone.
"""

from __future__ import annotations

import shlex
import sys

from memtool.errors import BrokenVaultFile
from memtool.resources import shipped
from memtool.vault import files, history
from memtool.vault.background import ISOLATED
from memtool.vault.git import ask, tell
from memtool.vault.layout import Vault

ATTRIBUTES = ".gitattributes"
CONFLICT = 10  # the exit code for two texts in one place; Python itself ends with 1 and 2

_NAME = "memtool"
_MODULE = "memtool.cli.merge_driver"
_PROBES = ("facts.json", "daily/2026-01-01.md")


def driver_command() -> str:
    """Return the command of the driver, in a shell; where memtool is gone, git merges the lines."""
    program = shlex.join([sys.executable, *ISOLATED, "-m", _MODULE]).replace("%", "%%")
    merge_lines = "git merge-file %A %O %B"
    return f"{program} %O %A %B %P; case $? in 0) exit 0;; {CONFLICT}) exit 1;; *) {merge_lines};; esac"


def install_driver(vault: Vault) -> None:
    """Put the driver's command into the clone's own settings.

    Raises:
        HistoryFailed: git refuses.
    """
    wanted = driver_command()
    if _installed(vault) != wanted:
        tell(vault.root, "config", "--local", f"merge.{_NAME}.name", "notes of memtool")
        tell(vault.root, "config", "--local", history.OWN_DRIVER, wanted)


def name_driver(vault: Vault) -> bool:
    """Name the driver in the vault's `.gitattributes`, below what stands there, and commit that; was it missing?

    Raises:
        HistoryFailed: git refuses.
        NoteChanged, NotWritable, BrokenVaultFile, OutsideVault: the file cannot be read or written.
    """
    if _is_named(vault):
        return False
    lines = (shipped("vault_template") / ATTRIBUTES).read_text(encoding="utf-8")

    def with_lines(text: str | None) -> str:
        return lines if not text else f"{text.rstrip()}\n\n{lines}"

    path = vault.path(ATTRIBUTES)
    if path.is_symlink():
        raise BrokenVaultFile(f"'{ATTRIBUTES}' is a link, which git does not follow")
    with vault.lock("history"), vault.lock():
        files.change(path, with_lines)
        history.commit(
            vault.root, [ATTRIBUTES], "sync: name what merges the notes\n\nSo that machines do not conflict."
        )
    return True


def driver_problem(vault: Vault) -> str:
    """Return what keeps the driver from merging in this clone; empty if nothing does, or nothing is to be merged."""
    if not ask(vault.root, "remote").out.strip():
        return ""
    if not _is_named(vault):
        return f"{ATTRIBUTES} does not name what merges the notes of two machines"
    return (
        ""
        if _installed(vault) == driver_command()
        else "this clone does not know what merges the notes of two machines"
    )


def _installed(vault: Vault) -> str:
    return ask(vault.root, "config", "--local", "--get", history.OWN_DRIVER).out.removesuffix("\n")


def _is_named(vault: Vault) -> bool:
    said = ask(vault.root, "check-attr", "-z", "merge", "--", *_PROBES).out.split("\0")
    return said[2::3] == [_NAME] * len(_PROBES)
