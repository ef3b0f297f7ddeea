from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from memtool.errors import HistoryFailed, NotWritable
from memtool.git import tell
from memtool.history import commits as history
from memtool.history.one_commit import commit_noted
from memtool.history.uncommitted import note_uncommitted
from memtool.vault.layout import Vault


def test_what_was_noted_is_committed(vault: Vault) -> None:
    (vault.root / "笔记.md").write_text("x")
    note_uncommitted(vault, ["笔记.md"])
    commit_noted(vault, "notes")
    assert tell(vault.root, "-c", "core.quotePath=false", "show", "--name-only", "--format=%s").split() == [
        "notes", "笔记.md",
    ]  # fmt: skip


def write(vault: Vault, ref: str) -> None:
    (vault.root / ref).write_text("x", encoding="utf-8")
    note_uncommitted(vault, [ref])


def test_no_commit_is_lost_to_those_who_are_killed_while_committing(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(history, "commit", killed)
        for ref in ("一.md", "two.md"):
            write(vault, ref)
            with pytest.raises(KeyboardInterrupt):
                commit_noted(vault, "notes")
    write(vault, "three.md")
    commit_noted(vault, "notes")
    assert tell(vault.root, "status", "--porcelain") == ""
    assert not list(vault.state_path.glob("uncommitted*"))


def test_what_git_refuses_is_committed_later(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise HistoryFailed("a merge was left unfinished")

    with monkeypatch.context() as patch:
        patch.setattr(history, "commit", refuse)
        for ref in ("a.md", "b.md"):
            write(vault, ref)
            with pytest.raises(HistoryFailed):
                commit_noted(vault, "notes")
    commit_noted(vault, "notes")
    assert tell(vault.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("separator", ["\u2028", "\x85", "\x0b"])
def test_a_path_is_a_line_whatever_stands_in_it(vault: Vault, separator: str) -> None:
    write(vault, f"商{separator}店.md")
    commit_noted(vault, "notes")
    assert tell(vault.root, "status", "--porcelain") == ""


def test_without_a_repository_nothing_stays_noted(tmp_path: Path) -> None:
    (tmp_path / "memtool.toml").touch()
    vault = Vault(tmp_path)
    note_uncommitted(vault, ["a.md"])
    (tmp_path / ".memtool" / "uncommitted.taken").write_text("b.md\n")
    commit_noted(vault, "notes")
    assert not list(vault.state_path.glob("uncommitted*"))


def test_a_folder_in_place_of_what_was_taken_is_a_sentence(vault: Vault) -> None:
    write(vault, "a.md")
    (vault.state_path / "uncommitted.taken").mkdir()
    with pytest.raises(NotWritable, match="cannot write in"):
        commit_noted(vault, "notes")


@pytest.mark.parametrize("link", [".memtool", ".memtool/uncommitted"])
def test_what_lies_outside_the_vault_is_neither_read_nor_changed(tmp_path: Path, link: str) -> None:
    vault = Vault(tmp_path / "notes")
    vault.root.mkdir()
    vault.settings_path.touch()
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
