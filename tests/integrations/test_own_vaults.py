from __future__ import annotations

from typing import TYPE_CHECKING

from memtool.integrations.own_vaults import call_own, is_own
from memtool.vault.layout import Vault

if TYPE_CHECKING:
    from pathlib import Path


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
