"""Notes of kept sessions are made anew, and what their owner wrote into them stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk

from memtool.capture import session_capture
from memtool.capture.model_note import ModelNote
from memtool.capture.queue import only_worker
from memtool.capture.session_capture import RewrittenNotes, rewrite_notes
from memtool.capture.source import find_source, write_source
from memtool.errors import Busy
from memtool.llm import Answer
from memtool.vault.forgotten import forget_item
from memtool.vault.sessions import Draft

TALK = [
    prompt("Why does the refund endpoint charge twice, 为什么重复扣款?"),
    *edit("/src/shop/gateway.ts"),
    answer("The retry in `gateway.ts` sent no key. 已改为发送幂等键。"),
]
GOOD = ModelNote(Draft("重复扣款已修复"), Answer("{}", "claude", "haiku", 10, 5, None), (), retry_may_help=False)
MISSING = ModelNote(None, None, ("claude: it is not installed",), retry_may_help=False)


def rewrite(desk: Desk, *sessions: str, writer: str = "") -> RewrittenNotes:
    return rewrite_notes(desk.work, sessions, lambda *_: None, writer=writer)


@pytest.fixture
def kept(desk: Desk) -> Desk:
    for name in ("one", "two"):
        path = write_transcript(desk.home / f"{name}.jsonl", TALK)
        desk.put(path)
    desk.drain()
    for path in desk.home.glob("*.jsonl"):
        path.unlink()  # the client has deleted them
    return desk


@pytest.mark.slow
def test_a_note_that_is_lost_is_made_again_as_it_was(kept: Desk) -> None:
    before = kept.read("sessions/one.md")
    Path(kept.vault.root / "sessions/one.md").unlink()
    assert rewrite(kept) == RewrittenNotes(notes=2)
    assert kept.read("sessions/one.md") == before
    assert kept.read("daily/2026-02-10.md").count("sessions/one.md") == 1
    assert kept.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_only_the_sessions_that_are_named_are_rewritten_and_hand_edits_stay(kept: Desk) -> None:
    for name in ("one", "two"):
        source = find_source(kept.vault, name)
        assert source
        turn = source.turns[0]._replace(messages=("Refunds are idempotent now, 退款幂等: `gateway.ts` sends a key.",))
        write_source(kept.vault, source._replace(turns=(turn,)), kept.now)
    note = kept.vault.root / "sessions/one.md"
    note.write_text(kept.read("sessions/one.md") + "\n## 我的笔记\n\nAsk Ana first.\n", encoding="utf-8")
    two = kept.read("sessions/two.md")
    assert rewrite(kept, "one").notes == 1
    text = kept.read("sessions/one.md")
    assert "退款幂等" in text
    assert "已改为发送幂等键" not in text
    assert text.count("## 我的笔记\n\nAsk Ana first.\n") == 1
    assert kept.read("sessions/two.md") == two
    assert kept.git("log", "-1", "--format=%s").strip() == "capture: 1 note rewritten"


@pytest.mark.slow
def test_a_forgotten_statement_does_not_come_back(kept: Desk) -> None:
    note = kept.vault.root / "sessions/one.md"
    note.write_text(forget_item(kept.read("sessions/one.md"), lambda said: "幂等键" in said), encoding="utf-8")
    gone = kept.read("sessions/one.md")
    assert "forgotten:" in gone
    assert "幂等键" not in gone
    assert rewrite(kept).notes == 2
    text = kept.read("sessions/one.md")
    assert "幂等键" not in text
    assert text.partition("\nforgotten:")[2] == gone.partition("\nforgotten:")[2]


@pytest.mark.slow
def test_a_model_writes_where_it_is_named_and_rules_leave_its_notes(
    kept: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [GOOD, MISSING]
    monkeypatch.setattr(session_capture, "note_with_model", lambda *_, **__: answers.pop(0))
    assert rewrite(kept, writer="claude") == RewrittenNotes(1, 0, ("two: claude: it is not installed",))
    assert "重复扣款已修复" in kept.read("sessions/one.md")
    assert rewrite(kept) == RewrittenNotes(notes=1, left=1)
    assert "重复扣款已修复" in kept.read("sessions/one.md")
    assert rewrite(kept, writer="none") == RewrittenNotes(notes=2)
    assert "重复扣款已修复" not in kept.read("sessions/one.md")


@pytest.mark.slow
def test_what_cannot_be_rewritten_is_named(kept: Desk) -> None:
    assert rewrite(kept, "gone").problems == ("gone: its turns are not kept",)
    next(kept.vault.root.glob("transcripts/2026/one*")).write_bytes(b"broken")
    done = rewrite(kept)
    assert (done.notes, len(done.problems)) == (1, 1)
    assert "one.jsonl.gz" in done.problems[0]
    with only_worker(kept.vault), pytest.raises(Busy):
        rewrite(kept)
