"""A vault as it stood on a day: a copy of the last commit before it, in the user's cache folder, to be read only.

The copy of a commit is made once. A file that is still the same has the time stamp of the one in the vault, and the
index of the vault is copied along, so that only what has changed since is indexed anew.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.errors import HistoryFailed, NotWritable, UsageError
from memtool.vault import history
from memtool.vault.changes import check_own_history
from memtool.vault.differing import commit_before
from memtool.vault.git import tell
from memtool.vault.layout import SETTINGS_FILE, Vault, open_vault
from memtool.vault.state import find_state_folder, outer_folder, state_folder

_KEPT = 4  # copies of one vault
_INDEX = "index"  # the folder of it, in that of what is derived


class Past(NamedTuple):
    """The copy of a vault as it stood at *moment*, and the commit that it is of."""

    vault: Vault
    commit: str
    moment: dt.datetime


def moment_of(text: str, day: str, zone: dt.tzinfo | None) -> dt.datetime:
    """Return the moment that *text* names: `2026-02-10T14:30`, else the end of *day*, the ISO date that it means.

    Raises:
        UsageError: it is neither.
    """
    with suppress(ValueError):
        named = dt.datetime.fromisoformat(text.strip())
        if ":" in text:
            return named if named.tzinfo else named.replace(tzinfo=zone)
    with suppress(ValueError):
        return dt.datetime.combine(dt.date.fromisoformat(day) + dt.timedelta(days=1), dt.time(), zone)
    raise UsageError(f"'{text}' is no day and no time", hint="Try 2026-02-10, 2026-02-10T14:30, 7d or yesterday.")


def past_vault(vault: Vault, moment: dt.datetime, cache: Path) -> Past:
    """Return *vault* as it stood before *moment*.

    Raises:
        HistoryFailed: the vault has no history, or none that reaches so far back.
        NotWritable: the copy cannot be made.
    """
    check_own_history(vault)
    commit = commit_before(vault, moment)
    if not commit:
        first = tell(vault.root, "log", "--no-show-signature", "--reverse", "--format=%cI").partition("\n")[0]
        raise HistoryFailed(f"the history of the vault begins on {first[:10]}", hint="Name a later day.")
    folder = outer_folder(vault.root, cache) / "past" / commit[:16]
    if not folder.is_dir():
        try:
            _copy(vault, commit, folder, cache)
        except OSError as error:
            raise NotWritable(f"cannot write '{folder}': {error.strerror}") from None
    os.utime(folder)
    _remove_oldest(folder.parent)
    return Past(open_vault(folder), commit, moment)


def _copy(vault: Vault, commit: str, folder: Path, cache: Path) -> None:
    """Make the copy aside, and let it stand at *folder* from one moment to the next."""
    history.refuse_programs(vault.root)
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        variables = {"GIT_INDEX_FILE": str(aside / "files-of-git")}
        tell(vault.root, "read-tree", commit, variables=variables)
        copying = ("-c", "core.symlinks=false", "checkout-index", "--all", "--force", f"--prefix={aside / 'vault'}/")
        tell(vault.root, *copying, variables=variables)
        made = aside / "vault"
        (made / SETTINGS_FILE).touch()  # it was a vault, whatever it had then
        _keep_stamps(vault, commit, made)
        _keep_index(vault, open_vault(made), cache)
        with suppress(OSError):  # another process was quicker
            made.rename(folder)
        if not folder.is_dir():
            raise NotADirectoryError(20, "it cannot be put there")
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _keep_stamps(vault: Vault, commit: str, made: Path) -> None:
    """Give the files of the copy that are still the same the time stamps of those in *vault*."""
    changed = set(tell(vault.root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit).split("\0"))
    for name in _names(vault, commit):
        if name in changed:
            continue
        with suppress(OSError):
            stamp = os.lstat(f"{vault.root}/{name}").st_mtime_ns
            os.utime(f"{made}/{name}", ns=(stamp, stamp), follow_symlinks=False)


def _names(vault: Vault, commit: str) -> Iterator[str]:
    listed = tell(vault.root, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    yield from (name for name in listed if name)


def _keep_index(vault: Vault, made: Vault, cache: Path) -> None:
    """Copy the index of *vault*, if there is one; what differs in the copy is indexed when it is first read."""
    known = find_state_folder(vault, cache)
    if known and (known / _INDEX).is_dir():
        with suppress(OSError):
            shutil.copytree(known / _INDEX, state_folder(made, lambda: cache) / _INDEX)


def _remove_oldest(folder: Path) -> None:
    copies = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in copies[_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
