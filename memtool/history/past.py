"""Earlier states of a vault: their differences, and a read-only copy of one in the user's cache folder.

The copy of a commit is made once. A file that is still the same is the one in the vault, by a second name, with its
stamp; the index of the vault is copied along, so that only what has changed since is indexed anew.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.errors import HistoryFailed, NotWritable, UsageError
from memtool.git import tell
from memtool.history import limits
from memtool.history.changes import Change
from memtool.history.repository import get_own_repository
from memtool.vault.layout import SETTINGS_FILE, Vault, find_state_folder, open_vault, outer_folder, state_folder

_INDEX = "index"  # the folder of it, in that of what is derived
_DIFF_OPTIONS = (
    "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules", "--src-prefix=a/",
    "--dst-prefix=b/", "--unified=1",
)  # fmt: skip


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
    repository = get_own_repository(vault.root)
    commit = commit_before(vault, moment)
    if not commit:
        first = tell(vault.root, "log", "--no-show-signature", "--reverse", "--format=%cI").partition("\n")[0]
        raise HistoryFailed(f"the history of the vault begins on {first[:10]}", hint="Name a later day.")
    folder = outer_folder(vault.root, cache) / "past" / commit[:16]
    began = time.time()
    try:
        if folder.is_dir():
            _mend(vault, commit, folder)
        else:
            repository.refuse_programs()
            _copy(vault, commit, folder, cache)
    except OSError as error:
        raise NotWritable(f"cannot write '{folder}': {error.strerror}") from None
    os.utime(folder, (began, began))
    copies = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in copies[4:]:  # of earlier states of this vault
        shutil.rmtree(path, ignore_errors=True)
    return Past(open_vault(folder), commit, moment)


def _copy(vault: Vault, commit: str, folder: Path, cache: Path) -> None:
    """Make the copy aside, and move it to *folder* when it is whole."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        made = aside / "vault"
        made.mkdir()
        linked = _link_what_is_the_same(vault, commit, made)
        _check_out(vault, commit, made, [name for name in _names(vault, commit) if name not in linked])
        (made / SETTINGS_FILE).touch()  # it was a vault, whatever it had then
        known = find_state_folder(vault, cache)
        if known and (known / _INDEX).is_dir():  # the differences of the copy are indexed when it is first read
            with suppress(OSError):
                shutil.copytree(known / _INDEX, state_folder(open_vault(made), lambda: cache) / _INDEX)
        with suppress(OSError):  # another process was quicker
            made.rename(folder)
        if not folder.is_dir():
            raise NotADirectoryError(20, "it cannot be put there")
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _check_out(vault: Vault, commit: str, made: Path, names: Sequence[str]) -> None:
    """Write the files *names* as they are in *commit* below *made*, over those that are there."""
    if not names:
        return
    variables = {"GIT_INDEX_FILE": str(made.parent / f".{made.name}-files-of-git")}
    try:
        tell(vault.root, "read-tree", commit, variables=variables)
        copying = ("-c", "core.symlinks=false", "checkout-index", "--force", f"--prefix={made}/", "-z", "--stdin")
        tell(vault.root, *copying, paths=names, variables=variables)
        made_at = time.time() - 2 * limits.CLOCK
        for name in names:
            with suppress(OSError):
                os.utime(f"{made}/{name}", (made_at, made_at), follow_symlinks=False)
    finally:
        Path(variables["GIT_INDEX_FILE"]).unlink(missing_ok=True)


def _link_what_is_the_same(vault: Vault, commit: str, made: Path) -> set[str]:
    """Give the files of *vault* that are as in *commit* a second name below *made*, and return which: that is quick.

    Their stamps are the same as well, so that the index of the vault knows them. Programs write whole files, which is
    no change of these; what an editor writes into one in place is mended before the copy is read again.
    """
    changed = set(tell(vault.root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit).split("\0"))
    linked: set[str] = set()
    folders: set[str] = set()
    for name in _names(vault, commit):
        source, target = f"{vault.root}/{name}", f"{made}/{name}"
        with suppress(OSError):  # another file system, or one without such links
            if name not in changed and name != SETTINGS_FILE and stat.S_ISREG(os.lstat(source).st_mode):
                parent = os.path.dirname(target)  # noqa: PTH120  (for each of thousands of files)
                if parent not in folders:
                    os.makedirs(parent, exist_ok=True)  # noqa: PTH103
                    folders.add(parent)
                os.link(source, target, follow_symlinks=False)
                linked.add(name)
    return linked


def _mend(vault: Vault, commit: str, folder: Path) -> None:
    """Write the files of the copy anew that were changed since it was used last."""
    used = folder.stat().st_mtime - limits.CLOCK
    later = []
    for name in _names(vault, commit):
        try:
            is_whole = os.lstat(f"{folder}/{name}").st_mtime < used
        except OSError:
            is_whole = False
        if not is_whole:
            later.append(name)
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")  # noqa: PTH108  (never written into: it may be the vault's own)
    _check_out(vault, commit, folder, later)


def _names(vault: Vault, commit: str) -> Iterator[str]:
    listed = tell(vault.root, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    yield from (name for name in listed if name)


class Difference(NamedTuple):
    """A file that was `added`, `changed` or `removed`: its lines with `+`, `-` or a space in front, `…` for a gap."""

    path: str
    deed: str
    lines: tuple[str, ...]


def what_changed(vault: Vault, change: Change) -> list[Difference]:
    """Return the differences that *change* made."""
    return _between(vault, change.parents[0] if change.parents else _empty_tree(vault), change.commit)


def since(vault: Vault, day: dt.date) -> list[Difference]:
    """Return the differences between the last commit and the vault as it was when *day* began."""
    before = commit_before(vault, dt.datetime.combine(day, dt.time()).astimezone())
    return _between(vault, before or _empty_tree(vault), "HEAD")


def uncommitted(vault: Vault) -> list[Difference]:
    """Return the differences between the folder and the last commit; new files are named without their lines."""
    get_own_repository(vault.root).refuse_programs()
    new = tell(vault.root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    return [*_between(vault, "HEAD"), *(Difference(path, "added", ()) for path in new if path)]


def commit_before(vault: Vault, moment: dt.datetime) -> str:
    """Return the last commit that was made before *moment*; empty if there was none."""
    return tell(vault.root, "rev-list", "-1", f"--before={moment.isoformat()}", "HEAD").strip()


def _empty_tree(vault: Vault) -> str:
    """Return git's name of a folder without files."""
    return tell(vault.root, "hash-object", "-t", "tree", "--stdin", stdin=b"").strip()


def _between(vault: Vault, *commits: str) -> list[Difference]:
    names = tell(vault.root, "diff", *_DIFF_OPTIONS, "--name-only", "-z", *commits, "--").split("\0")[:-1]
    text = tell(vault.root, "diff", *_DIFF_OPTIONS, *commits, "--")
    parts = re.split(r"^(?=diff --git )", text, flags=re.MULTILINE)[1:]
    return [_difference(name, part) for name, part in zip(names, parts, strict=False)]


def _difference(name: str, part: str) -> Difference:
    """Return what *part* of git's answer says of the file *name*."""
    head, *hunks = re.split(r"^@@.*\n", part, flags=re.MULTILINE)
    deed = "added" if "\nnew file" in head else "removed" if "\ndeleted file" in head else "changed"
    lines: list[str] = []
    for hunk in hunks:
        if lines:
            lines.append("…")
        lines += [line for line in hunk.split("\n") if line.startswith(("+", "-", " "))]
    return Difference(name, deed, tuple(lines))
