from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from notes import text_of
from two_machines import git

from memtool.capture.note_place import keep_what_is_by_hand, own_words
from memtool.capture.source import KeptNote, Source, fields_of, write_source
from memtool.history.one_commit import commit_noted
from memtool.history.uncommitted import note_uncommitted
from memtool.vault.daily import DailyEntry, DailySession, add_entries, add_sessions, render_daily
from memtool.vault.layout import Vault

DAY = date(2026, 2, 10)
DAILY = "daily/2026-02-10.md"
FIRST, SECOND = DailyEntry("09:00", "shop", ("auth.ts",)), DailyEntry("10:00", "商店", ("登录.ts",))
SESSION = DailySession("11:00", "shop", "s1", "login")


def captured(text: str) -> str:
    """Return the daily note *text* with what a session adds."""
    return add_sessions(add_entries(text, [SECOND]), [(SESSION, True)])


def test_without_words_of_the_owner_there_is_nothing_to_keep() -> None:
    before = render_daily(DAY, [FIRST])
    assert own_words(captured(before), before) is None
    assert own_words(captured(render_daily(DAY)), None) is None


@pytest.mark.parametrize("end", ["\n## Meine Notizen\n\nRing back Frau Ahlers.\n", "\n下午给王工回电话。\n"])
def test_what_the_owner_wrote_is_kept_without_the_latest_lines(end: str) -> None:
    before = render_daily(DAY, [FIRST])
    own = own_words(captured(before + end), before)
    assert own is not None
    assert end.strip().splitlines()[-1] in own
    assert "auth.ts" in own
    assert "登录.ts" not in own
    assert "sessions/s1.md" not in own
    new = own_words(captured(render_daily(DAY) + end), None)
    assert new is not None
    assert "登录.ts" not in new


def test_words_below_a_line_of_memtool_are_its_owners() -> None:
    before = render_daily(DAY, [FIRST])
    own = own_words(captured(before.replace("`auth.ts`\n", "`auth.ts`\n  why not jwt.ts?\n")), before)
    assert own is not None
    assert "why not jwt.ts?" in own
    assert "登录.ts" not in own


def subjects(vault: Vault) -> list[str]:
    return git(vault.root, "log", "--format=%s").splitlines()


@pytest.mark.slow
def test_a_capture_commits_what_its_owner_wrote_into_a_daily_note_first(vault: Vault) -> None:
    path = vault.root / DAILY
    path.parent.mkdir(exist_ok=True)
    path.write_text(render_daily(DAY, [FIRST]), encoding="utf-8")
    note_uncommitted(vault, [DAILY])
    commit_noted(vault, "capture: one")
    path.write_text(captured(path.read_text(encoding="utf-8") + "\n记得打电话\n"), encoding="utf-8")
    note_uncommitted(vault, [DAILY])
    commit_noted(vault, "capture: two", before=lambda refs: keep_what_is_by_hand(vault, refs))
    assert subjects(vault)[:2] == ["capture: two", f"keep: {DAILY}"]
    assert "Memtool:" not in git(vault.root, "log", "-1", "--skip=1", "--format=%B")
    assert "+记得打电话" not in git(vault.root, "show", "HEAD")
    assert "+记得打电话" in git(vault.root, "show", "HEAD~1")
    assert git(vault.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_capture_commits_what_its_owner_wrote_into_a_sessions_note_first(vault: Vault) -> None:
    ref = "sessions/s1.md"
    path = vault.root / ref
    first = text_of("s1", title="login", decisions=("JWT",))
    later = text_of("s1", title="login", decisions=("JWT", "验签"))
    path.write_text(first, encoding="utf-8")
    note_uncommitted(vault, [ref])
    commit_noted(vault, "capture: one")
    path.write_text(later + "\nMy own thoughts.\n", encoding="utf-8")
    write_source(vault, Source("s1", note=fields_of(KeptNote(text=later))), datetime.now(UTC))
    note_uncommitted(vault, [ref])
    commit_noted(vault, "capture: two", before=lambda refs: keep_what_is_by_hand(vault, refs))
    assert subjects(vault)[:2] == ["capture: two", f"keep: {ref}"]
    assert "+My own thoughts." in git(vault.root, "show", "HEAD~1")
    assert "+My own thoughts." not in git(vault.root, "show", "HEAD")
    assert "验签" not in git(vault.root, "show", "HEAD~1")


def test_what_is_staged_or_no_note_is_left_alone(vault: Vault) -> None:
    path = vault.root / DAILY
    path.parent.mkdir(exist_ok=True)
    path.write_text(render_daily(DAY) + "\nmine\n", encoding="utf-8")
    git(vault.root, "add", DAILY)
    before = subjects(vault)
    keep_what_is_by_hand(vault, [DAILY, "MEMORY.md", "daily/gone.md", "../outside.md"])
    assert subjects(vault) == before
    path.unlink()
    path.symlink_to("/etc/hostname")
    git(vault.root, "reset", "-q")
    keep_what_is_by_hand(vault, [DAILY])
    assert subjects(vault) == before
