from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from memtool.capture.uncommitted import commit_noted, note_uncommitted
from memtool.vault.git import tell
from memtool.vault.layout import Vault


def test_what_was_noted_is_committed(vault: Vault) -> None:
    (vault.root / "笔记.md").write_text("x")
    note_uncommitted(vault, ["笔记.md"])
    commit_noted(vault, "notes")
    assert tell(vault.root, "-c", "core.quotePath=false", "show", "--name-only", "--format=%s").split() == [
        "notes", "笔记.md",
    ]  # fmt: skip


@pytest.mark.parametrize("link", [".memtool", ".memtool/uncommitted"])
def test_what_lies_outside_the_vault_is_neither_read_nor_changed(tmp_path: Path, link: str) -> None:
    vault = Vault(tmp_path / "notes")
    vault.root.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "uncommitted").write_text("mine.md\n")
    (vault.root / link).parent.mkdir(exist_ok=True)
    (vault.root / link).symlink_to(outside if link == ".memtool" else outside / "uncommitted")
    note_uncommitted(vault, ["a.md"])
    commit_noted(vault, "notes")  # no repository: what is noted would be forgotten
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("uncommitted", "mine.md\n")]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_nobody_waits_for_a_pipe(vault: Vault) -> None:
    shutil.rmtree(vault.state_path, ignore_errors=True)
    vault.state_path.mkdir()
    os.mkfifo(vault.state_path / "uncommitted")
    note_uncommitted(vault, ["a.md"])
    commit_noted(vault, "notes")
    assert tell(vault.root, "log", "--format=%s").split("\n")[0] != "notes"
