from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from team.remotes import clone_of, make_empty_remote, make_remote, push_tree
from two_machines import git

from memtool.errors import BadSetting, HistoryFailed, RemoteFailed
from memtool.history.commits import commit
from memtool.memory.remember import remember
from memtool.settings import Settings
from memtool.settings.sections import TeamSettings
from memtool.team.clones import Clone, RefusedRemote, bring_together, clones_of, make_clone, waiting
from memtool.vault.memory import NewMemory

ANNA = "安娜 Schmidt <anna@example.org>"
TOML = ("100644", "memtool.toml", b"format = 1\n")


def write(clone: Clone, text: str, author: str = ANNA) -> None:
    work = Desk(clone.vault(author)).work._replace(random=lambda size: os.urandom(size).hex())
    remember(work, NewMemory(text, project="shop"))


def write_anew(folder: Path, remote: Path, clean: str) -> None:
    """Let the history of *remote* go on otherwise from the commit *clean*."""
    git(remote, "update-ref", "refs/heads/main", clean)
    other = clone_of(folder, remote, service="other")
    make_clone(other)
    write(other, "构建需要 12 分钟")
    bring_together(other)


def facts(remote: Path) -> str:
    return git(remote, "show", "main:areas/projects/shop/facts.json")


class TestSettings:
    def test_vaults_are_named_by_the_operator(self, tmp_path: Path) -> None:
        wanted = TeamSettings(vaults=("shop = git@host:shop.git", "api=https://host/api.git"), folder=str(tmp_path))
        found = clones_of(Settings(team=wanted), {})
        assert found["shop"] == Clone("shop", "git@host:shop.git", tmp_path / "shop", 2_000 << 20)
        assert found["api"].address == "https://host/api.git"

    @pytest.mark.parametrize(
        "entry",
        ["shop", "shop = ext::sh -c id", "../x = /srv/x", "Shop = /srv/x", "a..b = /srv/x", "x = -oProxyCommand=id:y"],
    )
    def test_what_is_no_name_or_address_is_refused(self, entry: str) -> None:
        with pytest.raises(BadSetting):
            clones_of(Settings(team=TeamSettings(vaults=(entry,))), {})


@pytest.mark.slow
class TestWriting:
    def test_a_write_is_pushed_by_the_name_of_its_author(self, tmp_path: Path) -> None:
        remote = make_remote(tmp_path)
        clone = clone_of(tmp_path, remote)
        make_clone(clone)
        write(clone, "令牌有效期为 24 小时 (JWT)")
        assert waiting(clone) == 1
        assert bring_together(clone).sent == 1
        assert waiting(clone) == 0
        assert git(remote, "log", "-1", "--format=%an <%ae>", "main").strip() == ANNA
        assert "令牌有效期为 24 小时 (JWT)" in facts(remote)

    def test_an_empty_remote_becomes_a_vault(self, tmp_path: Path) -> None:
        remote = make_empty_remote(tmp_path, "new")
        clone = clone_of(tmp_path, remote)
        make_clone(clone)
        bring_together(clone)
        assert "memtool.toml" in git(remote, "ls-tree", "--name-only", "main")

    def test_two_services_that_write_the_same_fact_at_once_keep_both(self, tmp_path: Path) -> None:
        remote = make_remote(tmp_path)
        one, two = (clone_of(tmp_path, remote, service=name) for name in ("one", "two"))
        for clone in (one, two):
            make_clone(clone)
        write(one, "Access tokens live 24 hours.")
        write(two, "Access tokens live 24 hours.", "Ben <ben@example.org>")
        threads = [threading.Thread(target=bring_together, args=(clone,)) for clone in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for clone in (one, two):
            bring_together(clone)
        assert facts(remote).count("Access tokens live 24 hours.") == 2
        assert {"安娜 Schmidt", "Ben"} <= set(git(remote, "log", "--format=%an", "main").split("\n"))
        for clone in (one, two):
            assert waiting(clone) == 0
            assert facts(clone.folder / ".git") == facts(remote)

    def test_what_waits_outlives_a_remote_that_is_away(self, tmp_path: Path) -> None:
        remote = make_remote(tmp_path)
        clone = clone_of(tmp_path, remote)
        make_clone(clone)
        away = remote.rename(tmp_path / "away.git")
        write(clone, "Deploys run on Fridays, never later than noon.")
        with pytest.raises(RemoteFailed):
            bring_together(clone)
        assert waiting(clone) == 1
        away.rename(remote)
        bring_together(clone)
        assert "Fridays" in facts(remote)

    def test_what_was_taken_out_of_the_history_stays_out(self, tmp_path: Path) -> None:
        remote = make_remote(tmp_path)
        clone = clone_of(tmp_path, remote)
        make_clone(clone)
        clean = git(remote, "rev-parse", "main").strip()
        write(clone, "The vault of passwords lies in the cellar.")
        bring_together(clone)
        write(clone, "Access tokens live 24 hours.")
        write_anew(tmp_path, remote, clean)
        bring_together(clone)
        for text in (facts(remote), facts(clone.folder / ".git")):
            assert "cellar" not in text
            assert "24 hours" in text
            assert "构建需要 12 分钟" in text
        assert git(remote, "log", "-1", "--format=%an", "main").strip() == "安娜 Schmidt"

    def test_what_does_not_fit_a_history_written_anew_waits(self, tmp_path: Path) -> None:
        remote = make_remote(tmp_path)
        clone = clone_of(tmp_path, remote)
        make_clone(clone)
        clean = git(remote, "rev-parse", "main").strip()
        for text in ("The cellar is locked.\n", "The cellar is open.\n"):
            (clone.folder / "cellar.md").write_text(text)
            commit(clone.folder, ["cellar.md"], "keep: cellar")
            if "locked" in text:
                bring_together(clone)
        write_anew(tmp_path, remote, clean)
        for _ in range(2):  # the next try finds it again
            with pytest.raises(HistoryFailed, match="written anew"):
                bring_together(clone)
            assert waiting(clone) == 1
        assert "cellar.md" not in git(remote, "ls-tree", "--name-only", "main")


@pytest.mark.slow
class TestHostileRemotes:
    def test_no_program_runs_and_no_link_is_followed(self, tmp_path: Path, monkeypatch: Any) -> None:
        trap = tmp_path / "sprung"
        config = tmp_path / "gitconfig"
        config.write_text(f'[filter "lfs"]\n\tsmudge = touch {trap}\n\tprocess = touch {trap}\n\trequired = true\n')
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
        remote = make_empty_remote(tmp_path, "trap")
        entries = [
            ("100644", ".gitattributes", b"* filter=lfs\n"),
            ("100644", ".gitmodules", b'[submodule "sub"]\n\tpath = sub\n\turl = /etc\n'),
            ("120000", "secret.md", b"/etc/passwd"),
            ("160000", "sub", b""),
            ("100755", "post-checkout", f"#!/bin/sh\ntouch {trap}\n".encode()),
            ("100644", "笔记.md", "# 笔记\n".encode()),
            TOML,
        ]
        push_tree(remote, entries)
        clone = clone_of(tmp_path, remote)
        make_clone(clone)
        bring_together(clone)
        assert not trap.exists()
        assert (clone.folder / "笔记.md").read_text() == "# 笔记\n"
        assert not (clone.folder / "secret.md").is_symlink()
        assert (clone.folder / "secret.md").read_text() == "/etc/passwd"
        assert not any((clone.folder / "sub").iterdir())

    @pytest.mark.parametrize("name", [".git", ".GIT", "git~1", ".."])
    def test_a_tree_that_reaches_into_git_is_refused(self, tmp_path: Path, name: str) -> None:
        remote = make_empty_remote(tmp_path, "evil")
        push_tree(remote, [("100644", name, b"x"), TOML])
        clone = clone_of(tmp_path, remote)
        with pytest.raises(HistoryFailed):
            make_clone(clone)
        assert not clone.folder.exists()

    def test_more_than_is_let_in_is_refused_before_a_file_is_written(self, tmp_path: Path) -> None:
        remote = make_empty_remote(tmp_path, "bomb")
        push_tree(remote, [("100644", f"{number}.md", bytes(1 << 20)) for number in range(3)] + [TOML])
        with pytest.raises(RefusedRemote, match="holds 3 MB"):
            make_clone(clone_of(tmp_path, remote, max_bytes=2 << 20))

    def test_a_remote_that_grows_too_large_later_changes_nothing(self, tmp_path: Path) -> None:
        remote = make_remote(tmp_path)
        clone = clone_of(tmp_path, remote, max_bytes=2 << 20)
        make_clone(clone)
        here = git(clone.folder, "rev-parse", "HEAD")
        work = tmp_path / "work"
        git(tmp_path, "clone", "-q", str(remote), str(work))
        (work / "big.md").write_bytes(bytes(3 << 20))
        git(work, "add", "big.md")
        git(work, "commit", "-q", "-m", "big")
        git(work, "push", "-q")
        for _ in range(2):
            with pytest.raises(RefusedRemote):
                bring_together(clone)
        assert git(clone.folder, "rev-parse", "HEAD") == here

    def test_a_clone_that_was_cut_off_begins_anew(self, tmp_path: Path) -> None:
        remote = make_remote(tmp_path)
        clone = clone_of(tmp_path, remote)
        half = clone.folder.with_name(".shop.new") / ".git"
        half.mkdir(parents=True)
        (half / "HEAD").write_text("rubbish")
        assert make_clone(clone).settings_path.is_file()
        shutil.rmtree(clone.folder)
        assert make_clone(clone).settings_path.is_file()
