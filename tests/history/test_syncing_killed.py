"""A sync that is killed in the middle of its merge, and the next one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from two_machines import TwoMachines, git

from memtool.errors import HistoryFailed
from memtool.history import syncing
from memtool.vault.marks import FIRST

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="kills a process of its own")]
NOTE = "MEMORY.md"


def killed_at(step: str, deed: Callable[[], object]) -> None:
    """Do *deed* in a process that is killed when it comes to *step* of a merge."""
    child = os.fork()
    if not child:
        setattr(syncing, step, lambda *_, **__: os._exit(9))
        deed()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.fixture
def torn(tmp_path: Path) -> TwoMachines:
    """Two machines of which the second was killed between its merge and the commit of it, over a conflict in prose."""
    machines = TwoMachines(tmp_path)
    machines.write(machines.one, NOTE, "# 记忆\n\nTabs.\n")
    machines.write(machines.one, "other.bin", "\0one")
    machines.sync(machines.one)
    machines.write(machines.two, NOTE, "# 记忆\n\nSpaces.\n")
    machines.write(machines.two, "other.bin", "\0two")
    killed_at("settle", lambda: machines.sync(machines.two))
    assert git(machines.two.root, "rev-parse", "--verify", "MERGE_HEAD")
    return machines


def test_the_next_sync_completes_a_merge_that_was_cut_off(torn: TwoMachines) -> None:
    torn.sync(torn.two)
    text = (torn.two.root / NOTE).read_text(encoding="utf-8")
    assert FIRST in text
    assert "Tabs." in text
    assert "Spaces." in text
    assert (torn.two.root / "other.bin").read_text() == "\0two"
    assert [path.read_text() for path in torn.two.root.glob("other.other-*.bin")] == ["\0one"]
    assert git(torn.two.root, "log", "-1", "--format=%s%n%P").splitlines()[0].startswith("sync: ")
    assert len(git(torn.two.root, "log", "-1", "--format=%P").split()) == 2
    assert git(torn.two.root, "status", "--porcelain") == ""
    torn.meet()


def test_what_was_settled_by_hand_in_between_stays(torn: TwoMachines) -> None:
    (torn.two.root / NOTE).write_text("# 记忆\n\nTabs, as agreed.\n", encoding="utf-8")
    (torn.two.root / "other.bin").write_text("\0both")
    torn.sync(torn.two)
    assert (torn.two.root / NOTE).read_text(encoding="utf-8") == "# 记忆\n\nTabs, as agreed.\n"
    assert (torn.two.root / "other.bin").read_text() == "\0both"
    torn.meet()


def test_a_merge_of_the_user_is_left_alone(tmp_path: Path) -> None:
    machines = TwoMachines(tmp_path)
    machines.write(machines.one, NOTE, "Tabs.\n")
    machines.sync(machines.one)
    machines.write(machines.two, NOTE, "Spaces.\n")
    git(machines.two.root, "fetch", "-q")
    with pytest.raises(Exception, match="non-zero exit status 1"):
        git(machines.two.root, "merge", "-q", "origin/main")
    with pytest.raises(HistoryFailed, match="merge"):
        machines.sync(machines.two)


def test_killed_before_the_push_the_next_sync_sends_it(tmp_path: Path) -> None:
    machines = TwoMachines(tmp_path)
    machines.write(machines.one, "a.md", "一\n")
    killed_at("_push", lambda: machines.sync(machines.one))
    machines.meet()
    assert (machines.two.root / "a.md").read_text(encoding="utf-8") == "一\n"
