from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memtool.vault.leftovers import find_leftovers, remove_leftovers

if TYPE_CHECKING:
    from pathlib import Path

    from memtool.vault.layout import Vault

LEFT = (".memtool-0a1b2c3d.tmp", "daily/.memtool-ffffffff.tmp", ".memtool/captured/.memtool-00000000.tmp",
        ".git/index.lock")  # fmt: skip
HOUR = 3600


def make(root: Path, *names: str) -> float:
    """Make the files *names*; return a time at which they are old."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return max((root / name).lstat().st_ctime for name in names) + HOUR + 1


def test_what_killed_runs_left_is_found_and_removed(vault: Vault) -> None:
    later = make(vault.root, *LEFT, ".memtool-mine.tmp", "笔记.tmp", ".git/notes.lock")
    assert {path.relative_to(vault.root).as_posix() for path in find_leftovers(vault.root, later)} == set(LEFT)
    assert len(remove_leftovers(vault.root, later)) == len(LEFT)
    assert find_leftovers(vault.root, later) == []
    assert (vault.root / ".memtool-mine.tmp").exists()
    assert (vault.root / "笔记.tmp").exists()


def test_what_may_be_in_use_stays(vault: Vault) -> None:
    later = make(vault.root, "old.md", *LEFT)
    os.link(vault.root / "old.md", vault.root / ".memtool-12345678.tmp")
    os.utime(vault.root / "old.md", (0, 0))  # of a note that is old, and is being changed
    assert find_leftovers(vault.root, later - 2) == []
