"""The vaults of a team: a clone of each git remote that the operator's settings name.

What is written becomes a commit in the clone, and that is the outbox: it stays there, whatever becomes of the service
or of the remote, until `bring_together` has pushed it.

A remote is not trusted. Of what it holds nothing is run and no link is followed: git gets no hooks, no filters, no
submodules and no links, objects are checked as they come in, and the size is known before a file is written.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memtool.errors import BadSetting, HistoryFailed, NotWritable, RemoteFailed
from memtool.git import ask, setting_of, tell
from memtool.history.driver import driver_attributes
from memtool.history.mending import locked
from memtool.history.repository import BRANCH, get_own_repository, has_commits, make_repository
from memtool.history.syncing import ADDRESS, Remote, Synced, distance, fetch, over_network, sync
from memtool.history.template import make_vault
from memtool.settings import Settings, user_cache_path
from memtool.team import limits
from memtool.vault import files
from memtool.vault.layout import Vault, open_vault

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
# Whatever a vault's own attributes say, no program filters its files. This file of the clone has the last word.
_NO_FILTERS = "* -filter -ident -working-tree-encoding -diff\n"
_ORIGIN = "origin"
_CONFIG = {
    "core.symlinks": "false",  # a link is a file that holds its target
    "core.protectNTFS": "true",
    "core.protectHFS": "true",
    "core.bigFileThreshold": "16m",  # larger ones do not go through memory
    "core.fsync": "committed,loose-object,reference",  # a write that was answered outlives a power cut
    "fetch.fsckObjects": "true",
    "fetch.fsck.zeroPaddedFilemode": "ignore",  # old programs wrote that
    "submodule.recurse": "false",
    "http.lowSpeedLimit": "1000",  # bytes a second
    "http.lowSpeedTime": "60",
}


class Clone(NamedTuple):
    """A vault of the team: its *name*, the *address* of its remote, and the *folder* of the clone."""

    name: str
    address: str
    folder: Path
    max_bytes: int = 2 << 30

    def vault(self, author: str = "") -> Vault:
        """Return the clone as a vault, whose changes are by *author*.

        Raises:
            VaultNotFound: it was not cloned yet.
        """
        return open_vault(self.folder)._replace(author=author)


class RefusedRemote(RemoteFailed):
    """What the remote holds is more than the operator's settings let in."""

    hint = "The clone stays as it was. `[team] max_mb` in the service's settings is the most that is taken."


def clones_of(settings: Settings, environ: Mapping[str, str]) -> dict[str, Clone]:
    """Return the clones that the operator's settings name, by name.

    Raises:
        BadSetting: a name or an address is none.
    """
    wanted = settings.team
    above = Path(wanted.folder).expanduser() if wanted.folder else user_cache_path(environ) / "team"
    found = {}
    for entry in wanted.vaults:
        name, _, address = (part.strip() for part in entry.partition("="))
        if not _NAME.fullmatch(name) or ".." in name:
            raise BadSetting(f"'{name}' in `[team] vaults` is no name", hint="Take small letters, digits and `-`.")
        if not ADDRESS.fullmatch(address):
            raise BadSetting(
                f"the vault '{name}' has no address of ssh, https or a path", hint="Write `name = address`."
            )
        found[name] = Clone(name, address, above / name, wanted.max_mb << 20)
    return found


def make_clone(clone: Clone) -> Vault:
    """Return the vault of *clone*, cloned if it is not there yet; of an empty remote, a new vault.

    Raises:
        RemoteFailed: the remote cannot be reached, or holds more than is let in.
        NotWritable: the folder cannot be written.
    """
    if not (clone.folder / ".git").exists():
        aside = clone.folder.with_name(f".{clone.name}.new")
        try:
            shutil.rmtree(aside, ignore_errors=True)
            files.make_folder(aside)
            _fill(clone, aside)
            aside.rename(clone.folder)
        except OSError as error:
            raise NotWritable(f"cannot write '{clone.folder}': {error.strerror}") from None
    vault = clone.vault()
    if setting_of(vault.root, f"remote.{_ORIGIN}.url") != clone.address:
        tell(vault.root, "config", "--local", f"remote.{_ORIGIN}.url", clone.address)
    return vault


def bring_together(clone: Clone) -> Synced:
    """Bring the clone and its remote together: what is new there is merged, what waits here is pushed.

    Both statements of two who wrote at once stay. Where the remote's history was written anew, what waits here is put
    on top of the new one, so that what was taken out of it does not come back.

    Raises:
        RemoteFailed: the remote cannot be reached, refuses, or holds more than is let in.
        HistoryFailed: git refuses.
    """
    vault = clone.vault()
    _forget_stale_locks(vault.root / ".git")
    tracked = f"refs/remotes/{_ORIGIN}/{tell(vault.root, 'symbolic-ref', '--short', 'HEAD').strip()}"
    before = ask(vault.root, "rev-parse", "--quiet", "--verify", tracked).out.strip()

    def check(remote: Remote) -> None:
        try:
            check_size(vault.root, remote.tracked, clone.max_bytes)
            if before and ask(vault.root, "merge-base", "--is-ancestor", before, remote.tracked).code:
                _put_on_top(vault, before, remote)
        except HistoryFailed:  # the next try must find it again
            tell(vault.root, "update-ref", *([remote.tracked, before] if before else ["-d", remote.tracked]))
            raise

    return sync(vault, wait=lambda attempt: time.sleep(0.2 * 2**attempt), before_merge=check)


def waiting(clone: Clone) -> int:
    """Return how many commits wait in the clone for its remote."""
    vault = clone.vault()
    branch = tell(vault.root, "symbolic-ref", "--short", "HEAD").strip()
    return distance(vault, Remote(_ORIGIN, clone.address, branch))[0]


def check_size(root: Path, ref: str, max_bytes: int) -> None:
    """Raise a `RefusedRemote` for a commit whose files are too many, or too large together."""
    listed = tell(root, "ls-tree", "-r", "-z", "-l", "--full-tree", ref, timeout=120.0).split("\0")[:-1]
    sizes = [row.partition("\t")[0].rsplit(" ", 1)[-1] for row in listed]
    total = sum(int(size) for size in sizes if size.isdigit())  # a submodule has none
    if len(listed) > limits.MOST_FILES:
        raise RefusedRemote(f"the remote holds {len(listed):,} files, and at most {limits.MOST_FILES:,} are taken")
    if total > max_bytes:
        raise RefusedRemote(f"the remote holds {total >> 20:,} MB, and at most {max_bytes >> 20:,} MB are taken")


def _forget_stale_locks(repository: Path) -> None:
    """Take away the locks that a git left behind which was killed, or lost its machine."""
    for lock in (*repository.glob("*.lock"), *repository.glob("refs/**/*.lock")):
        with suppress(OSError):
            if time.time() - lock.stat().st_mtime > 900.0:
                lock.unlink()


def _fill(clone: Clone, folder: Path) -> None:
    """Make the clone in the empty *folder*."""
    make_repository(folder)
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text(_NO_FILTERS + driver_attributes(), encoding="utf-8")
    settings = {**_CONFIG, f"remote.{_ORIGIN}.url": clone.address}
    for name, value in settings.items():
        tell(folder, "config", "--local", name, value)
    vault = Vault(folder.resolve())
    listed = over_network(vault, "ls-remote", "--symref", _ORIGIN, "HEAD").out
    match = re.match(r"ref: refs/heads/(\S+)\tHEAD$", listed, re.MULTILINE)  # what the remote has checked out
    branch = match[1] if match and not match[1].startswith("-") else BRANCH
    remote = Remote(_ORIGIN, clone.address, branch)
    tell(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    fetch(vault, remote)
    if ask(folder, "rev-parse", "--quiet", "--verify", remote.tracked).code == 0:
        check_size(folder, remote.tracked, clone.max_bytes)
        tell(folder, "reset", "--quiet", "--hard", remote.tracked, timeout=None)
    if not has_commits(folder):
        make_vault(folder)


def _put_on_top(vault: Vault, before: str, remote: Remote) -> None:
    """Put what waits here, on top of the commit *before*, on top of the remote's new history.

    Raises:
        HistoryFailed: git cannot; nothing has changed.
    """
    with locked(vault, timeout=30.0), vault.lock(), vault.lock("daily"):
        options = get_own_repository(vault.root).author_options
        answer = ask(vault.root, *options, "rebase", "--quiet", "--onto", remote.tracked, before, timeout=120.0)
        if answer.code:
            ask(vault.root, "rebase", "--abort")
            hint = f"What waits lies in '{vault.root}': `git log {before[:10]}..` there."
            raise HistoryFailed("the remote's history was written anew, and what waits here does not fit it", hint=hint)
