from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from memtool.recall.uses import USES, count_uses, read_uses

COUNT = "import sys; from pathlib import Path; from memtool.recall.uses import count_uses\n"
COUNT += "for _ in range(20): count_uses(Path(sys.argv[1]), ['a', '解密.md#事实-1'])"


def test_uses_are_counted_by_key(tmp_path: Path) -> None:
    count_uses(tmp_path, ["a.md", "解密.md#事实-1"])
    count_uses(tmp_path, ["a.md"])
    assert read_uses(tmp_path, ["a.md", "解密.md#事实-1", "never"]) == {"a.md": 2, "解密.md#事实-1": 1}
    assert read_uses(tmp_path, []) == {}


def test_where_nothing_was_counted_nothing_is_made(tmp_path: Path) -> None:
    assert read_uses(tmp_path, ["a"]) == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_several_processes_lose_few_counts_and_damage_nothing(tmp_path: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)]) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    counted = read_uses(tmp_path, ["a", "解密.md#事实-1"])
    assert counted["a"] == counted["解密.md#事实-1"]
    assert 40 <= counted["a"] <= 80


def test_a_held_lock_is_not_waited_for(tmp_path: Path) -> None:
    count_uses(tmp_path, ["a"])
    holder = sqlite3.connect(tmp_path / USES, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    count_uses(tmp_path, ["a"])
    assert read_uses(tmp_path, ["a"]) == {}
    holder.close()
    assert read_uses(tmp_path, ["a"]) == {"a": 1}


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / USES).write_bytes(b"no database at all " * 100)
    assert read_uses(tmp_path, ["a"]) == {}
    count_uses(tmp_path, ["a"])
    assert read_uses(tmp_path, ["a"]) == {"a": 1}


def test_a_symlink_is_not_followed_and_a_folder_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / USES).symlink_to(tmp_path / "elsewhere")
    count_uses(tmp_path, ["a"])
    assert (tmp_path / "elsewhere").read_bytes() == b""
    (tmp_path / "folder" / "uses.sqlite").mkdir(parents=True)
    count_uses(tmp_path / "folder", ["a"])
    count_uses(tmp_path / "gone", ["a"])


def test_a_key_that_is_no_unicode_is_counted(tmp_path: Path) -> None:
    count_uses(tmp_path, ["\udc80.md"])
    assert (tmp_path / USES).exists()
