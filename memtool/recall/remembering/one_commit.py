"""One commit for each deed of the user, so that it can be undone by itself."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtool.errors import HistoryFailed
from memtool.text.lines import one_line
from memtool.vault import history
from memtool.vault.git import tell
from memtool.vault.layout import Vault
from memtool.vault.uncommitted import note_uncommitted

_PATIENCE = 30.0  # seconds; many sessions may want to write at once, and each commit takes a tenth of one
_GIT_PATIENCE = 2.0  # seconds
_PAUSE = 0.05
_LONGEST_SUBJECT = 72  # characters
_FOR_NOW = "git can take this back until more is written next to it"


class Kept(NamedTuple):
    """The commit that holds a change, short; else why there is none.

    *way_back* are the words with which memtool itself takes the change back.
    """

    commit: str = ""
    notice: str = ""
    way_back: str = ""

    def undo(self, vault: Vault) -> str:
        """Return the command that takes the change back; empty where git does not know of it."""
        root = shlex.quote(str(vault.root))
        if self.way_back:
            return f"memtool --vault {root} {self.way_back}"
        return f"git -C {root} revert --no-edit {self.commit}" if self.commit else ""

    def undone_by(self, words: str) -> Kept:
        """Return it with another way back than git's."""
        return self._replace(way_back=words) if self.commit else self

    def undone_for_now(self) -> Kept:
        """Return it with the notice that git's way back will close.

        git needs the lines next to the change as they are, and what is added to a list stands next to what comes later.
        """
        return self._replace(notice=_FOR_NOW) if self.commit else self


@contextlib.contextmanager
def alone(vault: Vault) -> Iterator[None]:
    """Keep other processes from looking, writing and committing in between, so that each commit holds one change.

    Raises:
        Busy: others were at it all the time.
        NotWritable: the vault cannot be written.
    """
    with vault.lock("history", timeout=_PATIENCE):
        yield


def commit(vault: Vault, refs: Sequence[str], deed: str, what: str) -> Kept:
    """Commit the files *refs*; a vault that is no repository of its own is left without a commit, and says so."""
    subject = f"{deed}: {one_line(what)}"
    if len(subject) > _LONGEST_SUBJECT:
        subject = f"{subject[: _LONGEST_SUBJECT - 1].rstrip()}…"
    note_uncommitted(vault, refs)  # should git refuse, or we be killed now, the next capture takes it along
    try:
        if history.find_repository(vault.root) != vault.root:
            return Kept(notice="nothing was committed: the vault is no git repository of its own (`memtool init`)")
        if not _committed(vault, refs, subject):
            return Kept(notice="nothing was committed: for git, nothing has changed")
        return Kept(tell(vault.root, "rev-parse", "--short", "HEAD").strip())
    except HistoryFailed as error:
        return Kept(notice=f"the file is written, but not committed: {error}. {error.hint}")


def _committed(vault: Vault, refs: Sequence[str], subject: str) -> bool:
    """Commit, and wait a little for others who use the repository now, such as an editor."""
    deadline = time.monotonic() + _GIT_PATIENCE
    while True:
        try:
            return bool(history.commit(vault.root, refs, subject))
        except HistoryFailed as error:
            if "index.lock" not in str(error) or time.monotonic() >= deadline:
                raise
        time.sleep(_PAUSE)
