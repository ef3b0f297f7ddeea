from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtool.capture.captured import Record, read_record, record_path, write_record
from memtool.vault.layout import Vault

RECORD = Record(7, 400, 99, 2, "sessions/2026-02-10-支付.md", 1.5, owed=True)


def test_a_record_is_read_as_it_was_written(vault: Vault) -> None:
    assert read_record(vault, "one") == Record()
    write_record(vault, "one", RECORD)
    assert read_record(vault, "one") == RECORD


OLDER = {"size": 7, "digest": "0a", "provider": "extractive", "model_at": 0.0, "owed": False, "base": "# x"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        json.dumps(OLDER).encode(),
        json.dumps({**RECORD._asdict(), "of a later version": 1}).encode(),
    ],
)
def test_a_record_of_another_version_is_none(vault: Vault, content: bytes) -> None:
    write_record(vault, "one", RECORD)
    record_path(vault, "one").write_bytes(content)
    assert read_record(vault, "one") == Record()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(Record._fields))
def test_a_field_of_another_type_is_no_record(vault: Vault, name: str) -> None:
    write_record(vault, "one", RECORD)
    path = record_path(vault, "one")
    fields = json.loads(path.read_bytes())
    path.write_text(json.dumps({**fields, name: {"x": 1}}))
    assert read_record(vault, "one") == Record()


def test_what_was_switched_off_stays_so_in_a_later_version(vault: Vault) -> None:
    write_record(vault, "one", RECORD)
    record_path(vault, "one").write_text(json.dumps({**OLDER, "off": True}))
    assert read_record(vault, "one") == Record(off=True)


@pytest.mark.slow
@pytest.mark.parametrize("link", [".memtool", ".memtool/captured", ".memtool/captured/one.json"])
def test_a_vault_does_not_choose_where_records_lie(vault: Vault, tmp_path: Path, link: str) -> None:
    write_record(vault, "one", RECORD)
    (vault.root / link).rename(tmp_path / "outside")
    (vault.root / link).symlink_to(tmp_path / "outside")
    assert read_record(vault, "one") == Record()
    write_record(vault, "one", RECORD._replace(ref="changed"))
    outside = [path for path in (tmp_path / "outside", *(tmp_path / "outside").rglob("one.json")) if path.is_file()]
    assert ["changed" in path.read_text() for path in outside] == [False]
