from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memtool.capture.daily_lines import daily_ref, write_entries
from memtool.vault.daily import DailyEntry
from memtool.vault.layout import Vault

DAY = date(2026, 2, 10)
ENTRY = DailyEntry("14:30", "商店", ("auth.ts",))


@pytest.mark.parametrize("text", ["# 今天\n\n- went for a walk\n", "---\ntags: [diary]\n---\n", "- 14:30 call Ann\n"])
def test_a_journal_of_the_user_is_not_written_into(vault: Vault, text: str) -> None:
    journal = vault.root / "daily" / "2026-02-10.md"
    journal.write_text(text, encoding="utf-8")
    for _ in range(2):
        write_entries(vault, DAY, [ENTRY], language="zh")
    assert journal.read_text(encoding="utf-8") == text
    assert "`auth.ts`" in (vault.root / daily_ref(vault, DAY)).read_text(encoding="utf-8")
    assert daily_ref(vault, DAY) == "daily/2026-02-10.memtool.md"


@pytest.mark.parametrize("text", ["", "---\ntype: daily\n---\n\n我的\n", "- 14:29 **shop**: `a.ts`\n\nmine\n"])
def test_a_note_of_ours_is_written_into_whatever_its_owner_added(vault: Vault, text: str, tmp_path: Path) -> None:
    path = vault.root / "daily" / "2026-02-10.md"
    if text:
        path.write_text(text, encoding="utf-8")
    write_entries(vault, DAY, [ENTRY], language="en")
    assert "`auth.ts`" in path.read_text(encoding="utf-8")
    assert tmp_path.is_dir()
