"""Moving a note to the archive, where one of the same name may lie: a session goes on after it was archived."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from memtool.consolidate.tidying import Move
from memtool.vault import files
from memtool.vault.layout import Vault
from memtool.vault.merging import merge


def move_to_archive(vault: Vault, move: Move, before_writing: Callable[[Sequence[str]], None]) -> None:
    """Carry out *move* under the vault's lock; *before_writing* is told which files are about to change.

    Of a session that was archived before, the later capture stands, and a day has the lines of both. Where both texts
    were changed by hand, the second one gets a number.

    Raises:
        OutsideVault, OSError: nothing was moved.
    """
    with vault.lock():
        source, target = vault.path(move.source), vault.path(move.target)
        if target.exists() and _joined(vault, move, before_writing):
            return
        number = 1
        while target.exists():
            number += 1
            target = target.with_name(f"{Path(move.target).stem}-{number}.md")
        before_writing([move.source, f"{move.target.rpartition('/')[0]}/{target.name}"])
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.replace(source, target)


def _joined(vault: Vault, move: Move, before_writing: Callable[[Sequence[str]], None]) -> bool:
    """Put the later text into the one that is archived, and return whether that could be done without a conflict."""
    source, target = vault.path(move.source), vault.path(move.target)
    (archived, expected), (later, _) = files.read_text(target), files.read_text(source)
    merged = merge(move.source, None, archived, later, daily=vault.daily)
    if merged.conflicts:
        return False
    before_writing([move.source, move.target])
    files.replace(target, merged.text, expected=expected)
    source.unlink()
    return True
