from __future__ import annotations

from pathlib import Path

import pytest

from memtool.capture.records import Record, read_record, write_record
from memtool.capture.summary import Summary
from memtool.vault.layout import Vault
from memtool.vault.sessions import KeyPoint

RECORD = Record(7, "0a", "claude", 1.5, True, "# 会话\n", Summary("支付", (KeyPoint("验签", "bugfix", ("pay",)),)))


def test_a_record_is_read_as_it_was_written(vault: Vault) -> None:
    assert read_record(vault, "one") == Record()
    write_record(vault, "one", RECORD)
    assert read_record(vault, "one") == RECORD


@pytest.mark.parametrize("link", [".memtool", ".memtool/captured", ".memtool/captured/one.json"])
def test_a_vault_does_not_choose_where_records_lie(vault: Vault, tmp_path: Path, link: str) -> None:
    write_record(vault, "one", RECORD)
    (vault.root / link).rename(tmp_path / "outside")
    (vault.root / link).symlink_to(tmp_path / "outside")
    assert read_record(vault, "one") == Record()
    write_record(vault, "one", RECORD._replace(digest="changed"))
    outside = [path for path in (tmp_path / "outside", *(tmp_path / "outside").rglob("one.json")) if path.is_file()]
    assert ["changed" in path.read_text() for path in outside] == [False]
