"""The note of a session has a name that says what it is about, once, and is found wherever its owner puts it."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk
from hypothesis import given, strategies as st
from notes import text_of
from two_machines import git

from memtool.capture import session_capture
from memtool.capture.captured import follow_undo, read_record
from memtool.capture.model_note import ModelNote
from memtool.capture.note_place import keep_what_is_by_hand, name_from, own_words
from memtool.capture.source import KeptNote, Source, fields_of, write_source
from memtool.history.changes import find_change
from memtool.history.one_commit import commit_noted
from memtool.history.uncommitted import note_uncommitted
from memtool.history.undoing import undo
from memtool.index.engine import Index, place_of, use_index
from memtool.index.lookup import find_note
from memtool.llm import Answer
from memtool.memory.purge import find_purge_target, purge
from memtool.settings.sections import SessionSettings
from memtool.vault.daily import DailyEntry, DailySession, add_entries, add_sessions, render_daily
from memtool.vault.layout import Vault
from memtool.vault.session_names import find_moved, note_of, session_at, session_of
from memtool.vault.sessions import Draft
from memtool.vault.sources import list_sources

if TYPE_CHECKING:
    from pathlib import Path

ID = "3f2a9c71-0000-4000-8000-000000000001"
REF = "sessions/2026-02-10-retry-in-gateway-ts-sent-no-key.md"
TALK = [
    prompt("Why does the refund endpoint charge twice?"),
    *edit("/src/shop/gateway.ts"),
    answer("The retry in `gateway.ts` sent no key. 已改为发送幂等键。"),
]
MORE = [prompt("And the mail queue, 邮件队列?"), *edit("/src/shop/mail.ts", "e2"), answer("It is idempotent, too.")]


@pytest.fixture
def named(desk: Desk) -> Desk:
    desk.settings = desk.settings._replace(sessions=SessionSettings())
    return desk


def capture(desk: Desk, *records: object, session: str = ID) -> Path:
    path = write_transcript(desk.home / f"{session}.jsonl", [*records])  # type: ignore[list-item]
    desk.put(path)
    assert desk.drain().failed == ()
    return path


def notes(desk: Desk) -> list[str]:
    found = desk.vault.root.rglob("*.md")
    refs = (path.relative_to(desk.vault.root).as_posix() for path in found)
    return sorted(ref for ref in refs if "type: session" in desk.read(ref))


@pytest.mark.slow
def test_a_name_is_given_once_and_the_day_leads_to_it(named: Desk) -> None:
    capture(named, *TALK)
    capture(named, *MORE)
    assert notes(named) == [REF]
    text = named.read(REF)
    assert f'session: "{ID}"' in text
    assert "mail.ts" in text
    day = named.read("daily/2026-02-10.md")
    assert day.count("](../sessions/") == 1
    assert f"](../{REF})" in day
    assert (note_of(named.vault, ID), read_record(named.vault, ID).ref) == (REF, REF)
    assert session_at(named.vault, REF) == session_of(REF, text) == ID
    assert named.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_chinese_names_stay_chinese_and_equal_ones_get_a_number(named: Desk) -> None:
    talk = [prompt("请帮我把登录接口加上限流，每分钟十次"), *edit("/src/shop/登录.ts"), answer("已加上限流。")]
    capture(named, *talk, session="one")
    capture(named, *talk, session="two")
    (named.vault.root / "archive/sessions").mkdir(parents=True)
    first, second = "sessions/2026-02-10-登录接口加上限流.md", "sessions/2026-02-10-登录接口加上限流-2.md"
    assert notes(named) == sorted([first, second])
    assert (note_of(named.vault, "one"), note_of(named.vault, "two")) == (first, second)
    assert f"](../{second})" in named.read("daily/2026-02-10.md")
    (named.vault.root / first).rename(named.vault.root / "archive" / first)
    assert note_of(named.vault, "one") == f"archive/{first}"
    capture(named, *talk, session="three")
    assert "sessions/2026-02-10-登录接口加上限流-3.md" in notes(named)


@pytest.mark.slow
@pytest.mark.parametrize("without_state", [False, True])
def test_the_owner_renames_and_moves_freely(named: Desk, *, without_state: bool) -> None:
    capture(named, *TALK)
    moved = "areas/projects/退款/notes/How refunds work.md"
    (named.vault.root / moved).parent.mkdir(parents=True)
    (named.vault.root / REF).rename(named.vault.root / moved)
    if without_state:
        shutil.rmtree(named.vault.state_path)
    assert find_moved(named.vault, ID) == moved
    capture(named, *MORE)
    assert notes(named) == [moved]
    assert "mail.ts" in named.read(moved)
    assert note_of(named.vault, ID) == moved
    assert "How refunds work" not in named.read("daily/2026-02-10.md")


@pytest.mark.slow
def test_a_note_of_before_keeps_its_name(named: Desk) -> None:
    names = named.settings.sessions
    named.settings = named.settings._replace(sessions=SessionSettings(names="id"))
    capture(named, *TALK)
    named.settings = named.settings._replace(sessions=names)
    capture(named, *MORE)
    assert notes(named) == [f"sessions/{ID}.md"]


def found(name: str, index: Index) -> str:
    return find_note(index.db, name)


@pytest.mark.slow
def test_it_is_found_by_its_id_and_the_beginning_of_that(named: Desk) -> None:
    capture(named, *TALK)
    for name in (ID, ID[:8], REF[9:-3], REF):
        said = use_index(place_of(named.work), partial(found, name))
        assert said == REF


@pytest.mark.slow
def test_undo_and_purge_know_whose_note_it_is(named: Desk) -> None:
    capture(named, *TALK)
    change = find_change(named.vault, "")
    undone = undo(named.vault, change)
    follow_undo(named.vault, change)
    assert (list_sources(named.vault), read_record(named.vault, ID).off) == ([], True)
    undo(named.vault, again := find_change(named.vault, undone.commit))
    follow_undo(named.vault, again)
    assert ([one.name for one in list_sources(named.vault)], read_record(named.vault, ID).off) == ([ID], False)
    purge(named.work, REF, find_purge_target(named.work, REF))
    assert (list_sources(named.vault), read_record(named.vault, ID).off) == ([], True)


@pytest.mark.slow
def test_a_session_without_a_note_gets_one_in_place_of_its_line(named: Desk) -> None:
    capture(named, prompt("what does HTTP 418 mean?"), answer("茶壶。"))
    assert notes(named) == []
    assert f"(session {ID})" in named.read("daily/2026-02-10.md")
    capture(named, prompt("then let the kettle answer with it, 茶壶也要"), *edit("/src/shop/茶壶.ts"), answer("Done."))
    (ref,) = notes(named)
    day = named.read("daily/2026-02-10.md")
    assert (day.count("](../sessions/"), f"](../{ref})" in day, f"(session {ID})" in day) == (1, True, False)


def with_title(desk: Desk, monkeypatch: pytest.MonkeyPatch, *titles: str) -> None:
    answers = [ModelNote(Draft(title), Answer("{}", "claude", "haiku", 1, 1, None)) for title in titles]
    monkeypatch.setattr(session_capture, "note_with_model", lambda *_, **__: answers.pop(0))
    desk.settings = desk.settings._replace(llm=desk.settings.llm._replace(writer="claude"))


@pytest.mark.slow
def test_the_name_follows_a_models_title_once(named: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_transcript(named.home / f"{ID}.jsonl", TALK)
    named.put(path, "Stop")
    named.drain()
    assert notes(named) == [REF]
    with_title(named, monkeypatch, "退款接口不再重复扣款", "Refunds are idempotent")
    capture(named, *MORE)
    renamed = "sessions/2026-02-10-退款接口不再重复扣款.md"
    assert notes(named) == [renamed]
    assert f'aliases: ["{REF[9:-3]}"]' in named.read(renamed)
    day = named.read("daily/2026-02-10.md")
    assert (f"](../{renamed})" in day, REF in day, day.count("](../sessions/")) == (True, False, 1)
    assert (note_of(named.vault, ID), read_record(named.vault, ID).ref) == (renamed, renamed)
    assert named.git("status", "--porcelain") == ""
    named.pass_time(7_200)
    capture(named, *MORE)
    assert notes(named) == [renamed]
    assert "# Refunds are idempotent" in named.read(renamed)
    assert f'aliases: ["{REF[9:-3]}"]' in named.read(renamed)
    said = use_index(place_of(named.work), partial(found, REF[9:-3]))
    assert said == renamed


@pytest.mark.slow
@pytest.mark.parametrize("way", ["edited", "linked", "moved", "by id"])
def test_the_owner_keeps_a_name(named: Desk, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    path = write_transcript(named.home / f"{ID}.jsonl", TALK)
    if way == "by id":
        named.settings = named.settings._replace(sessions=SessionSettings(names="id"))
    named.put(path, "Stop")
    named.drain()
    (ref,) = before = notes(named)
    if way == "edited":
        (named.vault.root / ref).write_text(named.read(ref) + "\n我的想法\n", encoding="utf-8")
    elif way == "linked":
        (named.vault.root / "MEMORY.md").write_text(f"# Memory\n\n[[{ref[9:-3]}]]\n", encoding="utf-8")
    elif way == "moved":
        before = ["退款.md"]
        (named.vault.root / ref).rename(named.vault.root / "退款.md")
    with_title(named, monkeypatch, "Refunds are idempotent")
    capture(named, *MORE)
    assert notes(named) == before
    assert "# Refunds are idempotent" in named.read(before[0])


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Can you please use ULIDs for the orders?", "ulids-for-the-orders"),
        ("Rename `orders` to `purchases` everywhere, and update the docs.", "rename-orders-to-purchases-everywhere"),
        ("hi!\nPlease fix the login in Safari; it fails.", "fix-the-login-in-safari"),
        ("Look at @src/shop/auth/jwt.ts: the tokens don't expire", "look-at-jwt-ts"),
        ("See https://example.com/issues/12 and repair it", "see-and-repair"),
        ("Übersetze die Rechnung für André", "ubersetze-die-rechnung-fur-andre"),
        ("Bump v2.1.210 of getUserById", "bump-v2-1-210-of-getuserbyid"),
        ("请帮我把登录接口加上限流，每分钟十次", "登录接口加上限流"),
        ("我想架构一个Android的下载库，必须稳定", "我想架构一个Android的下载库"),
        ("数据库迁移脚本在生产环境里执行失败了怎么办", "数据库迁移脚本在生产环境"),
        ("好的。修复 Safari 登录", "修复Safari登录"),
        ("ok", ""),
        ("", ""),
        ("fix ../../etc/passwd", "fix-passwd"),
    ],
)
def test_a_session_is_named_after_what_was_wanted_first(typed: str, name: str) -> None:
    assert name_from([typed]) == name


def test_the_first_prompt_that_tells_something_counts() -> None:
    assert name_from(["hi", "commit", "Move the cart to Redis, 购物车"]) == "move-the-cart-to-redis"
    assert name_from(["hi", "commit"]) == "commit"
    assert name_from([]) == ""


@given(st.lists(st.text(max_size=80), max_size=4))
def test_a_name_is_a_short_part_of_a_path(typed: list[str]) -> None:
    name = name_from(typed)
    assert len(name) <= 44
    assert not re.search(r"[\s/\\:*?\"<>|()\[\]#^]|^[.-]|[.-]$", name)


DAY = date(2026, 2, 10)
DAILY = "daily/2026-02-10.md"
FIRST, SECOND = DailyEntry("09:00", "shop", ("auth.ts",)), DailyEntry("10:00", "商店", ("登录.ts",))
SESSION = DailySession("11:00", "shop", "s1", "login")


def captured(text: str) -> str:
    """Return the daily note *text* with what a session adds."""
    return add_sessions(add_entries(text, [SECOND]), [(SESSION, True)])


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
