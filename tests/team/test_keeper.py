from __future__ import annotations

import threading
from pathlib import Path

import pytest
from desk import Desk
from team.remotes import clone_of, make_remote
from two_machines import git

from memtool.team.clones import Clone
from memtool.team.keeper import Keeper

pytestmark = pytest.mark.slow
PATIENCE = 30.0  # seconds


class Seen:
    """Waits for what the keeper says has changed."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self.names: list[str] = []

    def __call__(self, clone: Clone) -> None:
        with self._turn:
            self.names.append(clone.name)
            self._turn.notify_all()

    def until(self, count: int) -> None:
        with self._turn:
            assert self._turn.wait_for(lambda: len(self.names) >= count, PATIENCE)


def test_clones_are_made_and_follow_their_remotes_when_told(tmp_path: Path) -> None:
    remotes = [make_remote(tmp_path, name) for name in ("shop", "api")]
    seen = Seen()
    keeper = Keeper([clone_of(tmp_path, remote) for remote in remotes], pause=3600, changed=seen)
    keeper.start()
    try:
        seen.until(2)
        assert sorted(seen.names) == ["api", "shop"]
        work = tmp_path / "work"
        git(tmp_path, "clone", "-q", str(remotes[0]), str(work))
        (work / "笔记.md").write_text("# 部署\n")
        git(work, "add", "笔记.md")
        git(work, "commit", "-q", "-m", "note")
        git(work, "push", "-q")
        keeper.soon("shop")
        seen.until(3)
        assert (keeper.kept["shop"].clone.folder / "笔记.md").exists()
    finally:
        keeper.end()


def test_a_remote_that_is_away_is_told_of_and_what_waits_is_counted(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    keeper = Keeper([clone_of(tmp_path, remote)], pause=3600, changed=lambda _: None)
    keeper.keep("shop")
    kept = keeper.kept["shop"]
    assert (kept.problem, kept.waiting) == ("", 0)
    away = remote.rename(tmp_path / "away")
    Desk(kept.clone.vault("Ben <ben@example.org>")).remember("Deploys run on Fridays.")
    keeper.keep("shop")
    assert "no repository" in kept.problem
    assert (kept.waiting, kept.failures) == (1, 1)
    away.rename(remote)
    keeper.keep("shop")
    assert (kept.problem, kept.waiting, kept.failures) == ("", 0, 0)
