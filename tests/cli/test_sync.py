from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from two_machines import TwoMachines, git

from memtool.cli.merge_driver import main
from memtool.history.merging import CONFLICT
from memtool.recall.routing.loader_table import LOADER, TableRow, hand_rows, with_rows

if TYPE_CHECKING:
    from pathlib import Path

    from terminal import Memtool


@pytest.mark.slow
def test_two_machines_come_together_by_command(memtool: Memtool, tmp_path: Path) -> None:
    machines = TwoMachines(tmp_path)
    one, two = (("--vault", str(vault.root)) for vault in (machines.one, machines.two))
    memtool("remember", "令牌有效期为 24 小时", "--global", *one)
    memtool("remember", "write the tests", "--kind", "todo", "--project", "商店", *two)
    assert memtool("sync", *one).out == "origin: 1 change sent.\n"
    assert memtool("sync", *two).out == "origin: 1 change received, 2 changes sent.\n"
    answer = memtool("sync", "--json", *one).answer
    assert answer == {
        "format": 1, "remote": "origin", "received": 2, "sent": 0, "unsolved": [], "waiting": [], "aside": {},
    }  # fmt: skip
    assert memtool("sync", *one).out == "origin: nothing new on either side.\n"
    assert memtool("search", "write tests", *one).out.startswith("Open items")
    for vault, text in ((machines.one, "甲"), (machines.two, "乙")):
        machines.write(vault, "MEMORY.md", text, "")
    memtool("sync", "--edits", *one)
    assert "not committed: 'MEMORY.md'" in memtool("sync", *two).err
    ran = memtool("sync", "--edits", *two)
    assert "conflicts in MEMORY.md: keep the right version, with an editor" in ran.err
    assert "conflict marks in MEMORY.md" in memtool("doctor", *two).out
    git(machines.two.root, "config", "--unset", "merge.memtool.driver")
    assert "this clone does not know what merges the notes of two machines" in memtool("doctor", *two).out
    (machines.two.root / "mine.md").write_text("x")
    assert "not committed, so not sent: mine.md" in memtool("sync", *two).err


@pytest.mark.usefixtures("notes")
def test_a_vault_without_git_cannot_be_synchronised_and_says_why(memtool: Memtool) -> None:
    ran = memtool("sync")
    assert ran.code == 27
    assert "no git repository" in ran.err


def test_no_remote_is_one_sentence(memtool: Memtool, tmp_path: Path) -> None:
    memtool("init", str(tmp_path / "vault"))
    ran = memtool("sync", "--vault", str(tmp_path / "vault"))
    assert ran.code == 29
    assert ran.err.count("\n") == 2


class TestDriver:
    def run(self, folder: Path, ref: str, base: str, ours: str, theirs: str) -> tuple[int, str]:
        paths = [folder / name for name in "oab"]
        for path, text in zip(paths, (base, ours, theirs), strict=True):
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return main([*map(str, paths), ref]), paths[1].read_bytes().decode("utf-8", "surrogateescape")

    def test_it_says_whether_two_texts_are_left(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, "a.md", "一\n", "一\n二\n", "零\n一\n") == (0, "零\n一\n二\n")
        code, text = self.run(tmp_path, "a.md", "一\n", "二\n", "三\n")
        assert code == CONFLICT
        assert "二\n=======\n三\n" in text or "三\n=======\n二\n" in text

    def test_what_is_no_text_is_left_to_git(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, "a.md", "", "\udcff", "x") == (2, "\udcff")

    def test_rows_by_hand_are_kept_and_generated_ones_are_those_of_both(self, tmp_path: Path) -> None:
        head = "# Loader\n\n| Trigger | Read |\n| --- | --- |\n"
        old, ours_row, theirs_row = (
            TableRow((word,), (f"areas/projects/{word}/summary.md",)) for word in ("旧", "甲", "乙")
        )
        base = with_rows(head, [old])
        ours = with_rows(head + "| 手写 | a.md |\n", [old, ours_row])
        theirs = with_rows(head + "| by hand | b.md |\n", [theirs_row])
        code, text = self.run(tmp_path, LOADER, base, ours, theirs)
        assert code == 0
        assert sorted(row.triggers for row in hand_rows(text)) == [("by hand",), ("手写",)]
        assert text == with_rows(text, [theirs_row, ours_row])
        assert self.run(tmp_path, LOADER, base, theirs, ours) == (0, text)
