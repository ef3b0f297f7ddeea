from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from memtool.recall.uses import (
    USES,
    Fate,
    count_uses,
    fates_between,
    fates_of_session,
    keep_fates,
    read_uses,
    seldom_used,
    sums_of,
)

COUNT = "import sys; from pathlib import Path; from memtool.recall.uses import count_uses\n"
COUNT += "for _ in range(20): count_uses(Path(sys.argv[1]), ['a', '解密.md#事实-1'])"


def test_uses_are_counted_by_key(tmp_path: Path) -> None:
    count_uses(tmp_path, ["a.md", "解密.md#事实-1"])
    count_uses(tmp_path, ["a.md"])
    assert read_uses(tmp_path, ["a.md", "解密.md#事实-1", "never"]) == {"a.md": 2, "解密.md#事实-1": 1}
    assert read_uses(tmp_path, []) == {}


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


def test_a_line_that_arrived_ten_times_and_was_never_used_is_seldom_used(tmp_path: Path) -> None:
    def keep(session: str, **fates: tuple[int, int | None, bool | None]) -> None:
        keep_fates(tmp_path, session, "2026-02-10", [Fate(key, *fate) for key, fate in fates.items()])

    keep("s1", idle=(6, 6, False), used=(9, 9, False), young=(9, 9, False), mute=(40, 40, None), lost=(12, 2, False))
    assert seldom_used(tmp_path, ["idle", "used", "young", "mute", "lost"]) == frozenset()
    keep("s2", idle=(4, 4, False), used=(9, 9, True), young=(9, 9, None), 解=(10, 10, False))
    assert seldom_used(tmp_path, ["idle", "used", "young", "mute", "lost", "解", "never"]) == {"idle", "解"}
    keep("s1", idle=(6, 6, True))  # the session was resumed, and counts once
    assert seldom_used(tmp_path, ["idle"]) == frozenset()
    assert seldom_used(tmp_path, []) == frozenset()


def test_what_became_of_lines_is_read_by_session_and_by_day_and_goes_after_ninety_days(tmp_path: Path) -> None:
    keep_fates(tmp_path, "s1", "2026-02-03", [Fate("a", 1, 1, used=True)])
    keep_fates(tmp_path, "s2", "2026-02-10", [Fate("a", 2, 2, used=False), Fate("解", 1)])
    assert fates_of_session(tmp_path, "s2") == {"a": Fate("a", 2, 2, used=False), "解": Fate("解", 1)}
    assert sorted(fate.given for fate in fates_between(tmp_path, "2026-02-03", "2026-02-10")) == [1, 1, 2]
    assert fates_between(tmp_path, "2026-02-04", "2026-02-09") == []
    keep_fates(tmp_path, "s3", "2026-05-10", [])
    assert [fates_of_session(tmp_path, name) != {} for name in ("s1", "s2")] == [False, True]


def test_sums_leave_out_what_no_transcript_shows_unless_there_is_nothing_else() -> None:
    assert sums_of([]) is None
    assert str(sums_of([Fate("a", 2)])) == "given 2; no transcript shows whether they arrived"
    both = [Fate("a", 2), Fate("解", 3, 3, used=True), Fate("c", 1, 0), Fate("d", 1, 1, used=False)]
    assert str(sums_of(both)) == "given 5, arrived 4, used 1 of 2 that would show it"
