"""The kept source of a session is written whole, read with patience, and removed when it is too old."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture.captured import follow_undo, read_record
from memtool.capture.importing import find_sources, import_sessions
from memtool.capture.source import (
    KeptNote,
    Source,
    fields_of,
    find_source,
    kept_note,
    read_source,
    turn_of,
    write_source,
)
from memtool.capture.turns import AgentPlan, Dialog, FileEdit, Run, Turn
from memtool.errors import BrokenVaultFile, OutsideVault
from memtool.git import tell
from memtool.history.changes import find_change
from memtool.history.undoing import undo
from memtool.memory.purge import find_purge_target, purge
from memtool.settings.sections import CaptureSettings, TranscriptSettings
from memtool.vault.layout import Vault
from memtool.vault.sessions import Draft, Line
from memtool.vault.sources import (
    Removal,
    is_in_git,
    last_removal,
    list_sources,
    remove_source,
    trim_sources,
)

NOW = datetime(2026, 2, 10, 6, 30, tzinfo=UTC)
TURNS = (
    Turn(
        typed="登录在 Safari 里失败\n\nwhy?",
        refused=True,
        dialogs=(Dialog("Which store? 用哪个?", ("Redis", "内存"), "Redis", 1),),
        plans=(AgentPlan("# 拆分网关\n\n1. types", "turned down", 1),),
        messages=("SameSite=None needs `Secure`.", "已修复。\nAll 14 tests pass."),
        edits=(FileEdit("/src/shop/支付.ts", 12, 3, "export const 支付", 1), FileEdit("/src/a.ts", stopped=True)),
        runs=(Run("pnpm test", "TypeError: x is null"), Run("pnpm test", last_line="14 passed")),
        looked=True,
        summary="1. 请求：支付",
        at=datetime(2026, 2, 10, 6, 0, tzinfo=UTC),
        offset=17,
    ),
    Turn(typed="commit", pasted=True),
)
SOURCE = Source("one", "codex", "/src/shop", "fix-登录", "支付", NOW.replace(hour=5), NOW, 70_000, TURNS, {"a": ["b"]})


def packed(vault: Vault, *lines: object, session: str = "one") -> Path:
    path = vault.root / "transcripts" / "2026" / f"{session}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(json.dumps(line) for line in lines).encode()))
    return path


HEAD = {"format": 1, "session": "one"}


def test_a_source_is_read_as_it_was_written(vault: Vault) -> None:
    assert read_source(vault, "one") is None
    assert write_source(vault, SOURCE, NOW) == "transcripts/2026/one.jsonl.gz"
    assert read_source(vault, "one") == SOURCE
    lines = gzip.decompress((vault.root / "transcripts/2026/one.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line).get("typed", "") for line in lines] == ["", TURNS[0].typed, "commit", ""]
    assert json.loads(lines[2]) == {"typed": "commit", "pasted": True}
    assert json.loads(lines[-1]) == {"note": {"a": ["b"]}}


def test_the_same_source_is_the_same_bytes_for_its_owner_only(vault: Vault) -> None:
    path = vault.root / write_source(vault, SOURCE, NOW)
    before = path.read_bytes()
    write_source(vault, SOURCE, NOW.replace(year=2027))
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]
    assert path.stat().st_mtime == NOW.timestamp()


@pytest.mark.parametrize(
    "turn",
    [
        [],
        {"typed": 7},
        {"typed": "x", "messages": [1]},
        {"typed": "x", "runs": [{"error": "no command"}]},
        {"typed": "x", "edits": "all"},
        {"typed": "x", "edits": [["/a", 1]]},
        {"typed": "x", "plans": [{"text": "a", "fate": "执行"}]},
        {"typed": "x", "offset": -1},
        {"typed": "x", "pasted": 1},
    ],
)
def test_a_line_that_is_no_turn_is_left_out(vault: Vault, turn: object) -> None:
    packed(vault, HEAD, {"typed": "改名"}, turn, {"typed": "yes", "of a later version": 1}, {"note": {}})
    found = read_source(vault, "one")
    assert found
    assert [each.typed for each in found.turns if each.edits == ()] in (["改名", "yes"], ["改名", "x", "yes"])
    assert [(each.runs, each.plans) for each in found.turns] == [((), ())] * len(found.turns)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"")[:-4],
        gzip.compress(b"[1]\n"),
        gzip.compress(b'{"typed": "x"}\n'),
        gzip.compress(b"[" * 100_000),
        gzip.compress(json.dumps({"format": 2, "session": "one"}).encode()),
        gzip.compress(b" " * 150_000_000, 1),
    ],
    ids=["empty", "other", "cut", "list", "headless", "deep", "later", "bomb"],
)
def test_what_is_no_source_is_named_and_made_anew(vault: Vault, content: bytes) -> None:
    path = packed(vault, HEAD)
    path.write_bytes(content)
    with pytest.raises(BrokenVaultFile, match="transcripts/2026/one"):
        read_source(vault, "one")
    assert find_source(vault, "one") is None
    write_source(vault, SOURCE, NOW)
    assert read_source(vault, "one") == SOURCE


def test_a_head_of_other_types_is_left_out(vault: Vault) -> None:
    packed(vault, {**HEAD, "cwd": 7, "size": "large", "started": "long ago"}, {"typed": "x"})
    found = read_source(vault, "one")
    assert found
    assert (found.cwd, found.size, found.started_at, len(found.turns)) == ("", 0, None, 1)


@pytest.mark.slow
def test_a_very_long_session_keeps_all_that_was_typed(vault: Vault) -> None:
    turns = tuple(Turn(typed=f"第 {at} 步", messages=("a" * 9_000, f"done {at}")) for at in range(4_000))
    write_source(vault, SOURCE._replace(turns=turns), NOW)
    found = read_source(vault, "one")
    assert found
    assert [turn.typed for turn in found.turns] == [turn.typed for turn in turns]
    assert [len(found.turns[at].messages) for at in (0, 2_000, 3_999)] == [2, 1, 2]
    assert found.turns[2_000].said == "done 2000"


@pytest.mark.parametrize("link", ["transcripts", "transcripts/2026"])
def test_a_vault_does_not_choose_where_sources_lie(vault: Vault, tmp_path: Path, link: str) -> None:
    path = vault.root / write_source(vault, SOURCE, NOW)
    (vault.root / link).rename(tmp_path / "outside")
    (vault.root / link).symlink_to(tmp_path / "outside")
    assert path.exists()
    with pytest.raises(OutsideVault):
        write_source(vault, SOURCE, NOW)
    assert read_source(vault, "one") is None
    assert trim_sources(vault, TranscriptSettings(keep_days=1), NOW.replace(year=2028)) == 0
    assert path.exists()


def test_git_ignores_sources_until_the_owner_says_otherwise(vault: Vault) -> None:
    tell(vault.root, "init", "--quiet")
    ref = write_source(vault, SOURCE, NOW)
    assert not is_in_git(vault)
    assert "transcripts" not in tell(vault.root, "status", "--porcelain", "--untracked-files=all")
    (vault.root / "transcripts/.gitignore").write_text("# 全部保留\n", encoding="utf-8")
    write_source(vault, SOURCE._replace(session_id="two", started_at=NOW.replace(year=2027)), NOW)
    assert is_in_git(vault)
    assert ref in tell(vault.root, "status", "--porcelain", "--untracked-files=all")


@pytest.mark.slow
def test_the_oldest_go_when_all_are_too_large_or_too_old(vault: Vault) -> None:
    for number in range(6):
        turns = (Turn(typed=f"第 {number} 次", messages=(os.urandom(200_000).hex(),)),)
        ended_at = NOW.replace(month=1 + number)
        write_source(vault, SOURCE._replace(session_id=f"s{number}", ended_at=ended_at, turns=turns), NOW)
    kept = list_sources(vault)
    assert [one.name for one in kept] == [f"s{number}" for number in range(6)]
    assert all(200_000 < one.size < 400_000 for one in kept)
    assert trim_sources(vault, TranscriptSettings(), NOW) == 0
    assert last_removal(vault) is None
    now = NOW.replace(month=8)
    assert trim_sources(vault, TranscriptSettings(max_mb=1), now) == 2
    assert [one.name for one in list_sources(vault)] == ["s2", "s3", "s4", "s5"]
    assert last_removal(vault) == Removal(now.isoformat(), 2)
    assert trim_sources(vault, TranscriptSettings(keep_days=100, max_mb=0), now) == 2
    assert [one.name for one in list_sources(vault)] == ["s4", "s5"]


def test_a_source_is_removed_once(vault: Vault) -> None:
    write_source(vault, SOURCE, NOW)
    assert remove_source(vault, "one")
    assert not remove_source(vault, "one")
    assert list_sources(vault) == []


LINES = (Line("订单使用 ULID", "decision", "user", 2), Line("The retry sent no key.", asked="Why twice?", turn=1))
NOTE = KeptNote("claude", Draft("Refunds are idempotent, 退款幂等", "Why?", "", LINES, ("a.ts",), 3), "# 退款\n", 70)


def test_a_note_is_kept_with_the_turns_of_its_lines(vault: Vault) -> None:
    turns = (Turn("为什么重复扣款?"), Turn("Use ULIDs"))
    write_source(vault, Source("one", turns=turns, note=fields_of(NOTE)), datetime(2026, 2, 10, tzinfo=UTC))
    source = read_source(vault, "one")
    assert source
    assert kept_note(source.note) == NOTE
    assert [turn_of(source, line.text) for line in LINES] == [2, 1]
    assert turn_of(source, "Use ULIDs everywhere") == 2
    assert turn_of(source, "企鹅 and penguins") == 0


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({}, ""),
        ({"writer": 7}, ""),
        ({"draft": []}, ""),
        ({"draft": {"title": "标题", "lines": "all"}}, ""),
        ({"draft": {"title": "标题", "lines": [1, {"turn": 2}, {"text": "x", "turn": -1}]}}, ""),
        ({"draft": {"title": "标题", "files": [1]}}, ""),
        ({"draft": {"title": "标题"}, "of a later version": 1}, "标题"),
    ],
)
def test_what_a_stranger_wrote_is_taken_as_far_as_it_is_a_note(fields: dict[str, object], title: str) -> None:
    note = kept_note(fields)
    assert (note.draft.title, note.draft.lines, note.writer) == (title, (), "")


if TYPE_CHECKING:
    from pathlib import Path

REF = "transcripts/2026/one.jsonl.gz"
TALK = [
    prompt("Why does the refund endpoint charge twice, 为什么重复扣款?"),
    *edit("/src/shop/gateway.ts"),
    answer("The retry in `gateway.ts` sent no key. 已改为发送幂等键。"),
]
MORE = [prompt("And the mail queue, 邮件队列?"), *edit("/src/shop/mail.ts", "e2"), answer("It is idempotent, too.")]


def capture(desk: Desk, *records: object, event: str = "SessionEnd") -> Path:
    path = write_transcript(desk.home / "one.jsonl", [*records])  # type: ignore[list-item]
    desk.put(path, event)
    desk.drain()
    return path


def test_a_captured_session_keeps_its_turns(desk: Desk) -> None:
    path = capture(desk, *TALK)
    source = read_source(desk.vault, "one")
    assert source
    assert [turn.typed for turn in source.turns] == ["Why does the refund endpoint charge twice, 为什么重复扣款?"]
    assert source.turns[0].messages == ("The retry in `gateway.ts` sent no key. 已改为发送幂等键。",)
    assert source.turns[0].files == ("/src/shop/gateway.ts",)
    assert (source.client, source.cwd, source.size) == ("claude-code", "/src/shop", path.stat().st_size)
    assert desk.git("status", "--porcelain") == ""
    assert "transcripts" not in desk.git("ls-files")


@pytest.mark.slow
def test_in_git_they_are_committed(desk: Desk) -> None:
    (desk.vault.root / "transcripts").mkdir()
    (desk.vault.root / "transcripts/.gitignore").write_text("")
    capture(desk, *TALK)
    assert REF in desk.git("ls-files")
    assert "transcripts" not in desk.git("status", "--porcelain").replace("?? transcripts/.gitignore", "")


@pytest.mark.slow
def test_without_its_record_a_session_is_as_before(desk: Desk) -> None:
    capture(desk, *TALK)
    path = capture(desk, *MORE)
    before = (desk.read("sessions/one.md"), read_source(desk.vault, "one"), read_record(desk.vault, "one"))
    shutil.rmtree(desk.vault.state_path)
    desk.put(path)
    desk.drain()
    assert (desk.read("sessions/one.md"), read_source(desk.vault, "one"), read_record(desk.vault, "one")) == before


@pytest.mark.slow
def test_what_the_owner_changed_is_known_without_a_record(desk: Desk) -> None:
    capture(desk, *TALK)
    note = desk.vault.root / "sessions/one.md"
    note.write_text(desk.read("sessions/one.md") + "\n## 我的笔记\n\nAsk Ana first.\n", encoding="utf-8")
    shutil.rmtree(desk.vault.state_path)
    capture(desk, *MORE)
    text = desk.read("sessions/one.md")
    assert text.count("Ask Ana first.") == 1
    assert text.count("已改为发送幂等键") == 1
    assert "mail.ts" in text


@pytest.mark.slow
def test_a_broken_source_is_made_anew(desk: Desk) -> None:
    capture(desk, *TALK)
    (desk.vault.root / REF).write_bytes(b"\x1f\x8bbroken")
    capture(desk, *MORE)
    source = find_source(desk.vault, "one")
    assert source
    assert len(source.turns) == 2


@pytest.mark.slow
def test_an_excluded_or_private_text_is_in_no_source(desk: Desk) -> None:
    capture(desk, prompt("Use <private>Projekt Kranich 鹤</private> for it"), *TALK)
    assert b"Kranich" not in gzip.decompress((desk.vault.root / REF).read_bytes())
    desk.settings = desk.settings._replace(capture=CaptureSettings(exclude=("/src/shop",)))
    desk.put(write_transcript(desk.home / "two.jsonl", TALK))
    desk.drain()
    assert [one.name for one in list_sources(desk.vault)] == ["one"]


@pytest.mark.slow
def test_a_purged_text_is_masked_in_sources_and_stays_so(desk: Desk) -> None:
    capture(desk, *TALK, prompt("the customer is Kranich GmbH 鹤, 记住"), answer("Noted."))
    assert find_purge_target(desk.work, "Kranich GmbH 鹤") is None
    assert REF in purge(desk.work, "Kranich GmbH 鹤", None).refs
    assert b"Kranich" not in gzip.decompress((desk.vault.root / REF).read_bytes())
    source = read_source(desk.vault, "one")
    assert source
    assert len(source.turns) == 2
    capture(desk, *MORE)
    assert b"Kranich" not in gzip.decompress((desk.vault.root / REF).read_bytes())


@pytest.mark.slow
def test_a_purged_session_has_no_source(desk: Desk) -> None:
    capture(desk, *TALK)
    purge(desk.work, "sessions/one.md", find_purge_target(desk.work, "sessions/one.md"))
    assert list_sources(desk.vault) == []
    assert b"gateway" not in b"".join(
        path.read_bytes() for path in desk.vault.root.rglob("*") if path.is_file() and ".git/" not in path.as_posix()
    )


@pytest.mark.slow
def test_an_undone_capture_takes_its_source_along_and_back(desk: Desk) -> None:
    capture(desk, *TALK)
    before = read_source(desk.vault, "one")
    change = find_change(desk.vault, "")
    undone = undo(desk.vault, change)
    follow_undo(desk.vault, change)
    assert (list_sources(desk.vault), read_record(desk.vault, "one").off) == ([], True)
    back = find_change(desk.vault, undone.commit)
    undo(desk.vault, back)
    follow_undo(desk.vault, back)
    assert (read_source(desk.vault, "one"), read_record(desk.vault, "one").off) == (before, False)


@pytest.mark.slow
def test_typed_prompts_do_not_replace_a_source_that_says_more(desk: Desk) -> None:
    path = capture(desk, *TALK)
    path.unlink()
    shutil.rmtree(desk.vault.state_path)
    (desk.vault.root / "sessions/one.md").unlink()
    client = desk.home / ".claude"
    client.mkdir(exist_ok=True)
    entries = [{"display": f"看看邮件 {name}", "timestamp": 1.77e12, "project": "/src/shop", "sessionId": name}
               for name in ("one", "prompts")]  # fmt: skip
    (client / "history.jsonl").write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    work = desk.work.of_client(client)
    import_sessions(work, find_sources(work), lambda *_: None)
    found = read_source(desk.vault, "one")
    assert found
    assert found.turns[0].messages
    prompts = read_source(desk.vault, "prompts")
    assert prompts
    assert [turn.typed for turn in prompts.turns] == ["看看邮件 prompts"]


@pytest.mark.slow
def test_the_oldest_sources_go_when_a_session_has_ended(desk: Desk) -> None:
    capture(desk, *TALK)
    desk.settings = desk.settings._replace(transcripts=TranscriptSettings(keep_days=30))
    desk.pass_time(40 * 86_400)
    desk.put(write_transcript(desk.home / "two.jsonl", MORE, start=desk.now))
    desk.drain()
    assert [one.name for one in list_sources(desk.vault)] == ["two"]
