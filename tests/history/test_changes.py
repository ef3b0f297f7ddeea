from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from memtool.errors import HistoryFailed, UsageError
from memtool.history.changes import ChangedFile, find_change, read_changes, with_files
from memtool.history.commits import commit, signed
from memtool.history.past import Difference, uncommitted, what_changed
from memtool.vault.layout import open_vault

if TYPE_CHECKING:
    from pathlib import Path

    from memtool.vault.layout import Vault


def write(vault: Vault, message: str, *, is_ours: bool = True, **texts: str) -> None:
    for name, text in texts.items():
        (vault.root / f"{name}.md").write_text(text, encoding="utf-8")
    assert commit(vault.root, [f"{name}.md" for name in texts], message, is_ours=is_ours)


def test_changes_are_read_newest_first_with_who_and_why(vault: Vault) -> None:
    write(vault, "capture: 商店: 登录修好了\n\n- 商店: 登录修好了 (sessions/x.md)", 笔记="一\n")
    write(vault, "fix a typo\n\nDeed: not ours", is_ours=False, 笔记="二\n")
    found = with_files(vault, read_changes(vault))
    assert [(one.number, one.deed, one.subject) for one in found] == [
        (1, "", "fix a typo"), (2, "capture", "capture: 商店: 登录修好了"), (3, "init", "Make a vault"),
    ]  # fmt: skip
    assert found[1].reason == "- 商店: 登录修好了 (sessions/x.md)"
    assert found[0].reason == "Deed: not ours"
    assert found[1].files == (ChangedFile("added", "笔记.md"),)
    assert found[0].files == (ChangedFile("changed", "笔记.md"),)
    assert [one.number for one in read_changes(vault, "笔记.md")] == [1, 2]
    assert [one.number for one in read_changes(vault, "areas")] == [3]


def test_a_message_that_looks_like_ours_is_none_unless_its_last_paragraph_says_so() -> None:
    assert signed("capture: x") == "capture: x\n\nMemtool: capture\n"
    assert signed("undo: x\n\nwhy\n\nUndoes: 1") == "undo: x\n\nwhy\n\nUndoes: 1\nMemtool: undo\n"
    assert signed("Make a vault") == "Make a vault\n\nMemtool: init\n"
    assert signed("keep: a: b\n\n- c: d") == "keep: a: b\n\n- c: d\n\nMemtool: keep\n"


@pytest.mark.slow
def test_a_change_is_found_by_number_and_by_the_beginning_of_its_id(vault: Vault) -> None:
    write(vault, "remember: 茶", a="1\n")
    newest = read_changes(vault)[0]
    for named in ("", "1", newest.commit, newest.short, newest.commit[:6].upper()):
        assert find_change(vault, named).commit == newest.commit
    for named in ("3", "0", "zzzz", "-1", "HEAD", "--all"):
        with pytest.raises(UsageError, match="there is no change"):
            find_change(vault, named)


def test_a_vault_without_a_history_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "memtool.toml").write_text("")
    with pytest.raises(HistoryFailed, match="no git repository") as caught:
        read_changes(open_vault(tmp_path))
    assert "memtool init" in caught.value.hint


@pytest.mark.slow
def test_what_a_change_did_is_told_by_file_and_line(vault: Vault) -> None:
    write(vault, "remember: a", a="一\n二\n三\n四\n五\n六\n", b="b\n")
    write(vault, "remember: b", a="一\n二!\n三\n四\n五\n6\n", 带_空格="diff --git a/x b/x\n")
    (vault.root / "b.md").unlink()
    commit(vault.root, ["b.md"], "forget: b")
    assert what_changed(vault, find_change(vault, "2")) == [
        Difference("a.md", "changed", (" 一", "-二", "+二!", " 三", "…", " 五", "-六", "+6")),
        Difference("带_空格.md", "added", ("+diff --git a/x b/x",)),
    ]
    assert what_changed(vault, find_change(vault, "1")) == [Difference("b.md", "removed", ("-b",))]
    assert [one.path for one in what_changed(vault, find_change(vault, "4"))][:2] == [".gitattributes", ".gitignore"]


def test_what_is_in_no_commit_is_told(vault: Vault) -> None:
    (vault.root / "MEMORY.md").write_text("我\n", encoding="utf-8")
    (vault.root / "新.md").write_text("x")
    found = uncommitted(vault)
    assert [(one.path, one.deed) for one in found] == [("MEMORY.md", "changed"), ("新.md", "added")]
    assert "+我" in found[0].lines


def test_files_of_a_merge_are_those_that_came_in(vault: Vault) -> None:
    def git(*args: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(vault.root), *name, *args], check=True, capture_output=True)

    git("checkout", "-q", "-b", "side")
    write(vault, "remember: side", side="1\n")
    git("checkout", "-q", "main")
    write(vault, "remember: main", main="1\n")
    git("merge", "-q", "--no-edit", "side")
    merge = find_change(vault, "1")
    assert merge.files == (ChangedFile("added", "side.md"),)
    assert not merge.is_in_force
