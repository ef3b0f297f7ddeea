"""What was saved while a session went on is not written a second time into its note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from client_transcripts import answer, edit, prompt, write_transcript
from desk import Desk
from scripted_models import serve_models

from memtool.capture import saved
from memtool.capture.model_note import ModelNote
from memtool.capture.saved import queue_summary, saved_in, without_saved
from memtool.settings.sections import ModelSettings
from memtool.vault.facts import Fact
from memtool.vault.memory import DECISION, OPEN, RULE
from memtool.vault.sessions import Draft, Line, parse_session

SESSION = "3f2a9c71-0001"
ULIDS = "Use ULIDs for the order ids, because they sort by time."
IN_CHINESE = "订单号一律用 ULID，因为它能按时间排序。"


def test_facts_and_notes_of_the_session_are_what_was_saved(desk: Desk) -> None:
    desk.remember(ULIDS, source=f"{SESSION}#4", category="decision")
    desk.remember(IN_CHINESE, project="", source=SESSION, category="preference")
    desk.remember("Deploys happen on Tuesdays.", source="another")
    text = "# Queue\n\nWe take Redis streams. 用 Redis，不用 RabbitMQ。\n\n- They keep what was not acknowledged."
    desk.remember(text, kind="decision", source=SESSION)
    desk.remember("# Cache\n\nThe cache lives an hour.", kind="knowledge", source="another")
    saved = saved_in(desk.vault, SESSION, "shop")
    for each in (ULIDS, IN_CHINESE, "We take Redis streams.", "用 Redis，不用 RabbitMQ。"):
        assert each in saved
    assert [text for text in saved if "Tuesdays" in text or "hour" in text] == []
    assert saved_in(desk.vault, "nobody", "shop") == []


def test_a_fact_made_of_the_sessions_own_lines_takes_nothing_from_the_note(desk: Desk) -> None:
    desk.remember(ULIDS, source=SESSION)
    path = desk.vault.root / "areas/projects/shop/facts.json"
    assert saved_in(desk.vault, SESSION, "shop") == [ULIDS]
    spans = '"spans": [{"source": "sessions/x.md#3", "hash": "1"}], "source"'
    path.write_text(path.read_text(encoding="utf-8").replace('"source"', spans, 1), encoding="utf-8")
    assert saved_in(desk.vault, SESSION, "shop") == []


@pytest.mark.parametrize(
    ("text", "role", "stays"),
    [
        (ULIDS, DECISION, False),
        ("use ULIDs for the order ids because they sort by time", "", False),
        ("Use UUIDs for the order ids, because they sort by time.", DECISION, True),
        ("Don't use ULIDs for the order ids, because they sort by time.", RULE, True),
        (IN_CHINESE, RULE, False),
        (ULIDS, OPEN, True),
    ],
)
def test_a_line_that_says_the_same_goes_and_no_other(text: str, role: str, stays: bool) -> None:
    lines = (Line(text, role), Line("All 12 tests pass."))
    drawn = without_saved(Draft("Orders", lines=lines), [Fact(ULIDS).fact, IN_CHINESE])
    assert drawn.lines == (lines if stays else lines[1:])
    assert without_saved(Draft(lines=lines), []).lines == lines


@pytest.mark.slow
def test_the_note_of_a_session_leaves_out_what_it_saved(desk: Desk, tmp_path: Path) -> None:
    talk = [
        prompt("Add the order model."),
        *edit("/src/shop/order.ts"),
        answer("The order model is in src/order.ts; its ids are ULIDs. All 12 tests of the orders pass."),
        prompt("Let tokens live longer, 因为客服要求。"),
        *edit("/src/shop/token.ts", "two"),
        answer("Access tokens live 24 hours now, as support asked. A refresh token in the cookie lives 7 days."),
        prompt("And how long may the cache live?"),
        *edit("/src/shop/cache.ts", "three"),
        answer("The cache lives one hour now, 因为价格会变。"),
    ]
    path = write_transcript(tmp_path / f"{SESSION}.jsonl", talk)
    desk.put(path)
    desk.drain()
    (place,) = (desk.vault.root / "sessions").glob("*.md")
    before = parse_session(place.read_text(encoding="utf-8"))
    line = next(each for each in before.draft.lines if "7 days" in each.text)
    desk.remember(line.text, project=before.project, source=SESSION, category="decision")
    place.unlink()
    desk.put(path, "capture")
    desk.drain()
    after = parse_session(place.read_text(encoding="utf-8"))
    assert [each.text for each in after.draft.lines] == [
        each.text for each in before.draft.lines if each.text not in (line.text, line.asked)
    ]  # a prompt goes with the last of what came of it
    assert line.asked == "Let tokens live longer, 因为客服要求。"
    assert after.draft.lines


TEXT = "The scheduler retries a failed job after 60 and after 600 seconds, 然后停放。 " * 20


@pytest.fixture
def ref(desk: Desk) -> str:
    desk.settings = desk.settings._replace(llm=ModelSettings(providers=("openai", "extractive")))
    return desk.remember(TEXT, kind="knowledge").memory.id


def answers(monkeypatch: pytest.MonkeyPatch, draft: Draft | None, **more: Any) -> None:
    answer = ModelNote(draft, None, more.get("reasons", ()), more.get("retry_may_help", False))
    monkeypatch.setattr(saved, "note_with_model", lambda *_, **__: answer)


def test_the_worker_writes_the_summary_and_commits_it(desk: Desk, ref: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, Draft("Retries", summary="a failed job is retried twice, 然后停放"))
    assert queue_summary(desk.work, ref, TEXT)
    desk.drain()
    assert '\nsummary: "a failed job is retried twice, 然后停放"\n' in desk.read(ref)
    assert (desk.queue.waiting(), desk.told, desk.git("status", "--porcelain")) == ([], [], "")
    assert "a failed job is retried twice" in desk.git("log", "-1", "--format=%s")


def test_a_model_that_is_away_is_asked_again_later(desk: Desk, ref: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, None, reasons=("openai: cannot be reached",), retry_may_help=True)
    queue_summary(desk.work, ref, TEXT)
    desk.drain()
    assert [job.reason for job in desk.queue.waiting()] == ["openai: cannot be reached"]
    assert "summary:" not in desk.read(ref)


def test_a_note_that_is_gone_or_has_a_summary_is_left_alone(
    desk: Desk, ref: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, Draft("something else"))
    path = desk.vault.root / ref
    path.write_text(desk.read(ref).replace("---\n", "---\nsummary: mine\n", 1), encoding="utf-8")
    queue_summary(desk.work, ref, TEXT)
    desk.drain()
    assert "summary: mine" in desk.read(ref)
    assert "something else" not in desk.read(ref)
    path.unlink()
    queue_summary(desk.work, ref, TEXT)
    desk.drain()
    assert (desk.queue.waiting(), desk.told, path.exists()) == ([], [], False)


def test_a_short_note_and_one_without_a_model_need_no_summary(desk: Desk, ref: str) -> None:
    assert not queue_summary(desk.work, ref, "Run `make seed` first.")
    desk.settings = desk.settings._replace(llm=ModelSettings())
    assert not queue_summary(desk.work, ref, TEXT)
    assert desk.queue.waiting() == []


@pytest.mark.slow
def test_the_answer_of_a_model_is_let_in_only_as_the_note_bears_it(desk: Desk, ref: str) -> None:
    title = "A failed job is retried after 60 and 600 seconds, 然后停放"
    with serve_models() as server:
        llm = desk.settings.llm._replace(openai_base_url=f"{server.url}/v1", openai_model="small")
        desk.settings = desk.settings._replace(llm=llm)
        server.text = json.dumps({"title": title, "summary": "The mail server was hacked by strangers"})
        queue_summary(desk.work, ref, TEXT)
        desk.drain()
        question = server.requests[0].question["messages"][-1]["content"]
    assert f'\nsummary: "{title}"\n' in desk.read(ref)
    assert "AGENT: The scheduler retries a failed job" in question
