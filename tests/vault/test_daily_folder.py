"""The folder of daily notes that a vault's `memtool.toml` names, from the hook to the next session's start."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memtool import settings
from memtool.capture.daily_lines import change_daily, daily_ref
from memtool.errors import BadSetting
from memtool.history.template import make_vault
from memtool.index.engine import Index, Place, use_index
from memtool.recall.start.last_sessions import last_sessions
from memtool.vault.daily import DailySession, add_session
from memtool.vault.layout import Vault, kind_of, open_vault
from memtool.vault.reading import Ref, read_note

DAY = date(2026, 2, 10)


def vault_with(root: Path, line: str) -> Vault:
    root.mkdir(exist_ok=True)
    (root / "memtool.toml").write_text(f"format = 1\n{line}\n[search]\nlimit = 3\n", encoding="utf-8")
    return open_vault(root)


def kinds(vault: Vault) -> dict[str, str]:
    def look(index: Index) -> dict[str, str]:
        rows = index.db.execute("SELECT ref, kind FROM note JOIN chunk ON chunk.note_id = note.id")
        return dict(rows.fetchall())

    return use_index(Place(vault, vault.root / ".index"), look)


@pytest.mark.parametrize("name", ["journal", "日记", "Daily notes"])
def test_sessions_are_listed_and_found_in_it(tmp_path: Path, name: str) -> None:
    vault = vault_with(tmp_path / "vault", f'daily_folder = "{name}"')
    assert (vault.daily, daily_ref(vault, DAY)) == (name, f"{name}/2026-02-10.md")
    session = DailySession("14:30", "商店", "one", "支付回调")
    assert change_daily(vault, DAY, lambda text: add_session(text, session), language="zh")
    (vault.root / "sessions").mkdir()
    (vault.root / "sessions" / "one.md").write_text("---\ntype: session\n---\n\n# 支付回调\n", encoding="utf-8")
    assert [ref for _, _, ref in last_sessions(vault, "商店", 5)] == ["sessions/one.md"]
    assert not (vault.root / "daily").exists()


def test_a_journal_that_is_the_users_own_is_left_alone(tmp_path: Path) -> None:
    vault = vault_with(tmp_path / "vault", "daily_folder = 'journal'")
    (vault.root / "journal").mkdir()
    (vault.root / "journal" / "2026-02-10.md").write_text("# 今天\n\n很好。\n", encoding="utf-8")
    assert daily_ref(vault, DAY) == "journal/2026-02-10.memtool.md"


def test_what_lies_there_is_a_daily_note_in_the_index_too_once_the_setting_says_so(tmp_path: Path) -> None:
    vault = vault_with(tmp_path / "vault", "")
    for folder in ("journal", "daily"):
        (vault.root / folder).mkdir()
        (vault.root / folder / "a.md").write_text("# 今天\n", encoding="utf-8")
    assert kinds(vault) == {"daily/a.md": "daily", "journal/a.md": "note"}
    vault = vault_with(vault.root, 'daily_folder = "journal"')
    assert kinds(vault) == {"daily/a.md": "daily", "journal/a.md": "daily"}
    assert read_note(vault, Ref("journal/a.md"), level=2, max_bytes=999).memory.kind == "daily"
    assert kind_of("archive/journal/a.md", daily="journal") == "daily"


@pytest.mark.parametrize(
    "value",
    [
        '""',
        '"a/b"',
        '".."',
        '".git"',
        '"sessions"',
        '"Areas"',
        '"a\\\\b"',
        '"C:"',
        "3",
        '"\\u002e\\u002e"',
        f'"{"x" * 61}"',
        "'a '",
    ],
)
def test_what_is_no_folder_of_the_vault_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(BadSetting, match="daily_folder"):
        vault_with(tmp_path / "vault", f"daily_folder = {value}")


def test_it_is_a_setting_of_the_vault_alone(tmp_path: Path) -> None:
    vault = vault_with(tmp_path / "vault", 'daily_folder = "journal"')
    config = tmp_path / "config.toml"
    environ = {"MEMTOOL_CONFIG": str(config)}
    assert settings.load(vault.settings_path, environ).notices == ()
    config.write_text('daily_folder = "journal"\n')
    assert "daily_folder" in settings.load(vault.settings_path, environ).notices[0]
    assert vault_with(tmp_path / "other", '[web]\ndaily_folder = "x"').daily == "daily"


def test_a_vault_is_made_with_it(tmp_path: Path) -> None:
    vault = vault_with(tmp_path / "vault", 'daily_folder = "日记"')
    assert "日记/" in make_vault(vault.root).created
    assert not (vault.root / "daily").exists()
