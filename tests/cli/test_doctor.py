from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from terminal import Memtool


@pytest.mark.slow
def test_a_healthy_vault_ends_with_nought(memtool: Memtool, sample: Path) -> None:
    code, out, err = memtool("doctor")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"    ok  vault: {sample} (named by {sample}/memtool.toml)"
    assert "  note  git: memtool keeps no history of this vault: it is not a git repository\n" in out
    assert "        Run `memtool init` in the vault.\n" in out


@pytest.mark.slow
def test_something_broken_ends_with_one(memtool: Memtool, sample: Path) -> None:
    (sample / "gbk\x1b.md").write_bytes("解密".encode("gbk"))
    (sample / "gbk.md").write_bytes("解密".encode("gbk"))
    code, out, _ = memtool("doctor")
    assert code == 1
    assert "broken  notes: gbk.md: not UTF-8 (byte 0), read as GB18030\n        Fix the file" in out
    assert r"broken  notes: gbk\x1b.md: the path holds a line break or is not UTF-8" in out


@pytest.mark.parametrize("vault", ["nothing", "file"])
def test_no_vault_ends_with_one(memtool: Memtool, tmp_path: Path, vault: str) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = memtool("doctor", "--vault", str(tmp_path / vault))
    assert (code, err) == (1, "")
    assert out.startswith("broken  vault: ")


@pytest.mark.slow
def test_json_gives_every_finding(memtool: Memtool, sample: Path) -> None:
    ran = memtool("doctor", "--json")
    answer = ran.answer
    assert (ran.code, answer["format"], answer["healthy"]) == (0, 1, True)
    assert {"subject", "state", "sentence", "fix"} == answer["checks"][0].keys()
    (sample / "gbk.md").write_bytes("解密".encode("gbk"))
    ran = memtool("doctor", "--json")
    assert (ran.code, ran.answer["healthy"]) == (1, False)
    assert {check["state"] for check in ran.answer["checks"]} == {"ok", "note", "broken"}


@pytest.mark.slow
def test_where_each_setting_comes_from_is_shown(
    memtool: Memtool, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTOOL_SEARCH_LIMIT", "9")
    out = memtool("doctor").out
    assert f"language from {sample}/memtool.toml" in out
    assert "search.limit from MEMTOOL_SEARCH_LIMIT" in out


@pytest.mark.slow
def test_what_killed_runs_left_is_removed_on_request(
    memtool: Memtool, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = notes / ".memtool-0a1b2c3d.tmp"
    left.write_text("half a note 半")
    monkeypatch.setattr("memtool.vault.limits.LEFTOVER", -1.0)
    assert f"left 1 file: {left.name}" in memtool("doctor").out
    assert left.exists()
    ran = memtool("doctor", "--fix")
    assert f"removed {left.name}" in ran.err
    assert "leftovers" not in ran.out
    assert not left.exists()
