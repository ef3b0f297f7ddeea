"""The record of installations: folders go with the last file that needs them, and the record with its last line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memtool.install.record import (
    Installations,
    call_own,
    do_without,
    is_own,
    parts_without,
    read_record,
    record_path,
    update,
)
from memtool.vault.layout import Vault


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"MEMTOOL_CONFIG": str(tmp_path / "主页" / ".config" / "memtool" / "config.toml")}


def test_a_folder_is_free_once_no_file_needs_it(tmp_path: Path) -> None:
    record, one, two = Installations(), tmp_path / "夹" / "one", tmp_path / "夹" / "内" / "two"
    (tmp_path / "link").symlink_to(tmp_path / "夹")
    record.need(one, [one.parent])
    record.need(two, [two.parent])
    assert record.give_up(tmp_path / "link" / "one") == []
    assert record.give_up(tmp_path / "夹" / "other") == []
    assert record.give_up(two) == [one.parent, two.parent]
    assert record == Installations()


def test_what_the_user_does_without_is_known_by_installation(environ: dict[str, str]) -> None:
    do_without(environ, "codex", ["mcp"])
    do_without(environ, "claude-code /家/项目", {"rules", "mcp"})
    assert parts_without(environ, "codex") == ["mcp"]
    assert parts_without(environ, "claude-code /家/项目") == ["mcp", "rules"]
    assert parts_without(environ, "claude-code") == []
    do_without(environ, "codex", [])
    assert parts_without(environ, "codex") == []


def test_the_record_goes_with_its_last_line_and_leaves_no_folder_that_it_made(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "主页").mkdir()
    do_without(environ, "codex", ["mcp"])
    assert record_path(environ).is_file()
    do_without(environ, "codex", [])
    assert list((tmp_path / "主页").iterdir()) == []


def test_what_an_installation_made_in_a_project_that_is_gone_is_forgotten(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    project = tmp_path / "项目" / ".codex"
    project.mkdir(parents=True)
    update(environ, lambda record: record.need(project / "hooks.json", [project]))
    assert str(project) in read_record(environ).folders
    shutil.rmtree(project.parent)
    update(environ, lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_folders_of_the_users_own_settings_stay(environ: dict[str, str]) -> None:
    do_without(environ, "codex", ["mcp"])
    own = record_path(environ).with_name("config.toml")
    own.write_text("")
    do_without(environ, "codex", [])
    assert [path.name for path in own.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"folders": 5, "vaults": {}, "without": {"codex": "mcp"}}', "\0"])
def test_a_record_that_somebody_broke_is_an_empty_one(environ: dict[str, str], text: str) -> None:
    path = record_path(environ)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert read_record(environ) == Installations()
    do_without(environ, "codex", ["mcp"])
    assert json.loads(path.read_text())["without"] == {"codex": ["mcp"]}


def test_a_vault_is_the_users_once_he_has_said_so(tmp_path: Path) -> None:
    environ = {"MEMTOOL_CONFIG": str(tmp_path / "config" / "config.toml")}
    mine, other = Vault(tmp_path / "我的 vault"), Vault(tmp_path / "我的")
    assert not is_own(environ, mine)
    for _ in range(2):
        call_own(environ, mine)
    assert (is_own(environ, mine), is_own(environ, other)) == (True, False)
    assert (tmp_path / "config" / "own-vaults").read_text(encoding="utf-8") == f"{mine.root}\n"


def test_a_vault_of_the_users_own_settings_is_his_and_one_of_a_session_is_not(tmp_path: Path) -> None:
    environ = {"MEMTOOL_CONFIG": str(tmp_path / "config.toml"), "MEMTOOL_VAULT": str(tmp_path / "theirs")}
    (tmp_path / "config.toml").write_text(f"vault = '{tmp_path / 'mine'}'\n", encoding="utf-8")
    assert is_own(environ, Vault(tmp_path / "mine"))
    assert not is_own(environ, Vault(tmp_path / "theirs"))
