"""The summary of a saved note by a model: written into it by a worker, unless something came in between."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desk import Desk
from scripted_models import serve_models

from memtool.capture import saved
from memtool.capture.model_note import ModelNote
from memtool.capture.saved import queue_summary
from memtool.settings.sections import ModelSettings
from memtool.vault.sessions import Draft

TEXT = "The scheduler retries a failed job after 60 and after 600 seconds, 然后停放。 " * 20


@pytest.fixture
def ref(desk: Desk) -> str:
    desk.settings = desk.settings._replace(llm=ModelSettings(providers=("openai", "extractive")))
    return desk.remember(TEXT, kind="knowledge").memory.id


def answers(monkeypatch: pytest.MonkeyPatch, draft: Draft | None, **more: Any) -> None:
    answer = ModelNote(draft, None, more.get("reasons", ()), more.get("may_pass", False))
    monkeypatch.setattr(saved, "note_with_model", lambda *_, **__: answer)


def test_the_worker_writes_the_summary_and_commits_it(desk: Desk, ref: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, Draft("Retries", summary="a failed job is retried twice, 然后停放"))
    assert queue_summary(desk.work, ref, TEXT)
    desk.drain()
    assert '\nsummary: "a failed job is retried twice, 然后停放"\n' in desk.read(ref)
    assert (desk.queue.waiting(), desk.told, desk.git("status", "--porcelain")) == ([], [], "")
    assert "a failed job is retried twice" in desk.git("log", "-1", "--format=%s")


def test_a_model_that_is_away_is_asked_again_later(desk: Desk, ref: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, None, reasons=("openai: cannot be reached",), may_pass=True)
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
