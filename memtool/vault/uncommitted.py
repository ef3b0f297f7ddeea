"""Paths that were written and not committed yet, in `.memtool/uncommitted`: so no kill loses a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

from memtool.errors import HistoryFailed
from memtool.vault.layout import Vault
from memtool.vault.state import append_state, make_state_folder, take_lines, waiting_lines, writing_in

_NAME = "uncommitted"
_LARGEST = 16_777_216  # bytes; a file that is larger was not written by memtool


def note_uncommitted(vault: Vault, refs: Iterable[str]) -> None:
    """Remember that *refs* are about to be written. If that fails they are committed with the next change to them."""
    with suppress(OSError):
        # It makes `.memtool`, too, which would itself be searched for symlinks with all that lies in it.
        make_state_folder(vault.state_path / "locks")
        append_state(_path(vault), "".join(f"{ref}\n" for ref in refs).encode("utf-8", "surrogateescape"))


def edited_by_hand(vault: Vault) -> frozenset[str]:
    """Return the files that are changed and in no commit, and that memtool did not write; none without a history."""
    from memtool.vault import history

    with suppress(HistoryFailed):
        if history.find_repository(vault.root) == vault.root:
            ours = _refs(waiting_lines(_path(vault), largest=_LARGEST))
            return frozenset(history.uncommitted_files(vault.root)) - frozenset(ours)
    return frozenset()


def commit_noted(
    vault: Vault, message: str, *, is_alone: bool = False, before: Callable[[Sequence[str]], None] | None = None
) -> None:
    """Commit all that was noted, if anything was and the vault has a history of its own.

    Who *is_alone* holds the lock `history` already. *before* is told the paths right before they are committed.

    Raises:
        HistoryFailed: git refused; it is all still noted.
        Busy: another process has been committing for too long.
        NotWritable: what was committed is still noted, too.
    """
    from memtool.vault import history  # here, because a hook has no time for it

    if not waiting_lines(_path(vault), largest=_LARGEST):
        return
    is_own = history.find_repository(vault.root) == vault.root
    # Others commit, too: `memtool remember`, say.
    with writing_in(vault.state_path), nullcontext() if is_alone else vault.lock("history"):
        for lines in take_lines(_path(vault), largest=_LARGEST):
            if is_own and (refs := _refs(lines)):
                if before:
                    before(refs)
                history.commit(vault.root, refs, message)


def _path(vault: Vault) -> Path:
    return vault.state_path / _NAME


def _refs(lines: Iterable[bytes]) -> list[str]:
    refs = dict.fromkeys(line.decode("utf-8", "surrogateescape") for line in lines)
    return [ref for ref in refs if not Path(ref).is_absolute() and ".." not in Path(ref).parts]
