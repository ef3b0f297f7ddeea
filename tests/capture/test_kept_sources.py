"""A captured session keeps its source, and what takes text away takes it out of the source, too."""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture.captured import follow_undo, read_record
from memtool.capture.importing import find_sources, import_sessions
from memtool.capture.source import find_source, read_source
from memtool.history.changes import find_change
from memtool.history.undoing import undo
from memtool.memory.purge import find_purge_target, purge
from memtool.settings.sections import CaptureSettings, TranscriptSettings
from memtool.vault.sources import list_sources

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
