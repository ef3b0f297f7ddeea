"""One commit for each change of the user, so that it can be undone by itself."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memtool.errors import HistoryFailed
from memtool.history import commits, limits
from memtool.history.mending import locked
from memtool.history.repository import Repository, look_at, own_repository, uncommitted_files
from memtool.history.uncommitted import note_uncommitted, noted, take_noted
from memtool.text.lines import brief, width
from memtool.vault.layout import Vault
from memtool.vault.state import writing_in

KEEP = "keep"  # the deed of committing what the user wrote, so that a change of ours can be undone by itself


_looked: dict[Path, Repository | None] = {}  # of the vaults whose lock is held here


class Kept(NamedTuple):
    """The commit that holds a change, short; else why there is none."""

    commit: str = ""
    notice: str = ""

    def undo(self, vault: Vault) -> str:
        """Return the command that takes the change back; empty where git does not know of it."""
        return f"memtool --vault {shlex.quote(str(vault.root))} undo {self.commit}" if self.commit else ""


@contextlib.contextmanager
def alone(vault: Vault) -> Iterator[None]:
    """Keep other processes from looking, writing and committing in between, so that each commit holds one change.

    Raises:
        Busy: others were at it all the time.
        NotWritable: the vault cannot be written.
    """
    with locked(vault, timeout=limits.PATIENCE):
        _looked[vault.root] = None
        try:
            yield
        finally:
            del _looked[vault.root]


def keep_edits(vault: Vault, refs: Sequence[str]) -> None:
    """Commit the user's own edits of the files *refs*, as the user's, so that the next commit of them is one change.

    Raises:
        NotWritable: the vault cannot be written.
    """
    with contextlib.suppress(HistoryFailed):  # the commit says it
        repository = _opened(vault)
        if repository:
            repository = look_at(repository, refs)
            if vault.root in _looked:
                _looked[vault.root] = repository
            if repository.clean is not None:
                return
    commit(vault, refs, KEEP, ", ".join(refs))


def commit(vault: Vault, refs: Sequence[str], deed: str, what: str, why: str = "") -> Kept:
    """Commit the files *refs*. Without a commit, the notice says why: the vault may be no repository of its own."""
    subject = f"{deed}: {brief(what, limits.SUBJECT - width(deed) - 2)}"
    message = f"{subject}\n\n{why}" if why else subject
    deadline = time.monotonic() + limits.GIT_PATIENCE
    while True:
        try:
            repository = _opened(vault)
            if repository is None:
                return Kept(notice="nothing was committed: the vault is no git repository of its own (`memtool init`)")
            made = commits.commit(repository, refs, message, is_ours=deed != KEEP, author=vault.author)
            return Kept(made[:10], "" if made else "nothing was committed: for git, nothing has changed")
        except HistoryFailed as error:
            # An editor may use the repository now.
            if "index.lock" not in str(error) or time.monotonic() >= deadline:
                if deed != KEEP:
                    note_uncommitted(vault, refs)  # the next capture takes it along
                return Kept(notice=f"the file is written, but not committed: {error}. {error.hint}")
        time.sleep(0.05)


def _opened(vault: Vault) -> Repository | None:
    """Return the repository of *vault*, opened once while its lock is held; None if it has none of its own."""
    return _looked.get(vault.root) or own_repository(vault.root)


def edited_by_hand(vault: Vault) -> frozenset[str]:
    """Return the files that are changed and in no commit, and that memtool did not write; none without a history."""
    with contextlib.suppress(HistoryFailed):
        if own_repository(vault.root):
            return frozenset(uncommitted_files(vault.root)) - frozenset(noted(vault))
    return frozenset()


def commit_noted(
    vault: Vault, message: str, *, is_alone: bool = False, before: Callable[[Sequence[str]], None] | None = None
) -> None:
    """Commit all that was noted, if anything was and the vault has a history of its own.

    With *is_alone* the caller holds the lock `history` already. *before* gets the paths before they are committed.

    Raises:
        HistoryFailed: git refused; it is all still noted.
        Busy: another process has been committing for too long.
        NotWritable: what was committed is still noted, too.
    """
    if not noted(vault):
        return
    repository = own_repository(vault.root)
    # Others commit, too: `memtool remember`, say.
    with writing_in(vault.state_path), contextlib.nullcontext() if is_alone else locked(vault):
        for refs in take_noted(vault):
            if repository and refs:
                if before:
                    before(refs)
                commits.commit(repository, refs, message)
