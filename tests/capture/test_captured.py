from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtool.capture.captured import ReadUpTo, Record, kept_turns, read_record, record_path, write_record
from memtool.capture.old_turns import Run, Turn
from memtool.capture.summary import Summary
from memtool.vault.layout import Vault
from memtool.vault.old_sessions import KeyPoint
from memtool.vault.session_rows import Piece

TURN = Turn(
    asked="登录在 Safari 里失败",
    refused=True,
    chosen=("Which store? → Redis",),
    told=(Piece("SameSite=None needs Secure", 2.5),),
    plan="拆分网关",
    plan_refused=True,
    files=("/src/shop/支付.ts",),
    runs=(Run("pnpm test"), Run("pnpm lint", "Exit code 1")),
    looked=True,
    at=datetime(2026, 2, 10, 6, 0, tzinfo=UTC),
    offset=17,
    verdict="corrected",
)
READING = ReadUpTo(
    400,
    99,
    (TURN, Turn(asked="yes", pasted=True)),
    "/src/shop",
    "main",
    "支付",
    "2026-02-10T06:00:00+00:00",
    Turn(asked="commit"),
)
SUMMARY = Summary("支付", (KeyPoint("验签", "bugfix", ("pay",)),), (), ("a",), ("b",), ("c",), ("d",), ("e",))
RECORD = Record(7, "0a", "claude", 1.5, True, "# 会话\n", SUMMARY, ("验签",), READING)


def test_a_record_is_read_as_it_was_written(vault: Vault) -> None:
    assert read_record(vault, "one") == Record()
    write_record(vault, "one", RECORD)
    assert read_record(vault, "one") == RECORD


def test_the_turn_that_may_go_on_is_one_of_them(vault: Vault) -> None:
    assert [turn.asked for turn in READING.all_turns] == ["登录在 Safari 里失败", "yes", "commit"]
    assert ReadUpTo().all_turns == ()
    write_record(vault, "one", RECORD)
    path = record_path(vault, "one")
    fields = json.loads(path.read_text(encoding="utf-8"))
    del fields["reading"]["last"]  # as memtool wrote it before
    path.write_text(json.dumps(fields), encoding="utf-8")
    assert read_record(vault, "one").reading.all_turns == READING.turns


OLDER = {"size": 7, "digest": "0a", "provider": "extractive", "model_at": 0.0, "owed": False, "base": "# x",
         "summary": ["支付", [["验签", "bugfix", ["pay"]]], [], [], []]}  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        json.dumps(OLDER).encode(),
        json.dumps({**OLDER, "reading": {}, "values": {}}).encode(),
        json.dumps({**OLDER, "of a later version": 1}).encode(),
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


def test_of_very_many_turns_the_first_and_the_last_are_kept_with_the_last_message() -> None:
    turns = [Turn(asked=f"第 {at} 步", said="long") for at in range(2_000)]
    kept = kept_turns(turns)
    assert len(kept) < 1_000
    assert (kept[0].asked, kept[-1].asked) == ("第 0 步", "第 1999 步")
    assert [turn.said for turn in kept if turn.said] == ["long"]
    assert kept[-1].said  # which the next prompt may quote


@pytest.mark.slow
@pytest.mark.parametrize("link", [".memtool", ".memtool/captured", ".memtool/captured/one.json"])
def test_a_vault_does_not_choose_where_records_lie(vault: Vault, tmp_path: Path, link: str) -> None:
    write_record(vault, "one", RECORD)
    (vault.root / link).rename(tmp_path / "outside")
    (vault.root / link).symlink_to(tmp_path / "outside")
    assert read_record(vault, "one") == Record()
    write_record(vault, "one", RECORD._replace(digest="changed"))
    outside = [path for path in (tmp_path / "outside", *(tmp_path / "outside").rglob("one.json")) if path.is_file()]
    assert ["changed" in path.read_text() for path in outside] == [False]
