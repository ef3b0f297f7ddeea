"""Who wrote the last notes, and why the model that was to write did not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from desk import Desk

from memtool.capture import model_note
from memtool.doctor import NOTE, OK, Check
from memtool.doctor.work import writer_checks
from memtool.errors import ProviderFailed
from memtool.llm import Answer, Request
from memtool.llm.call_log import CallLog, calls_of
from memtool.llm.writers import NOTES, NoteCost, note_cost
from memtool.settings.sections import ModelSettings
from memtool.vault.scan import scan

REQUEST = Request("system", "p" * 4_000, 100)
ASKED = ModelSettings(writer="claude")


def write(desk: Desk, *writers: str) -> None:
    """Write a note for each of *writers*, an hour after the other."""
    folder = desk.vault.root / "sessions"
    folder.mkdir(exist_ok=True)
    for hour, writer in enumerate(writers):
        by = f'writer: "{writer}"\n' if writer else ""
        matter = f"type: session\nsession: s{hour}\ndate: 2026-02-10\nupdated: 2026-02-10 {hour:02}:00\n{by}"
        (folder / f"2026-02-10-笔记-{hour}.md").write_text(f"---\n{matter}---\n\n# 订单 {hour}\n", encoding="utf-8")


def checked(desk: Desk) -> Check:
    (check,) = writer_checks(desk.work, scan(desk.vault.root).stamps)
    return check


def call(desk: Desk, failure: str = "", *, tokens: int = 4_000, purpose: str = NOTES) -> None:
    ledger = CallLog(desk.vault, 0)
    begun = ledger.begin("claude", REQUEST, purpose, desk.now)
    outcome = ProviderFailed(failure) if failure else Answer("{}", "claude", "haiku", tokens, 500)
    ledger.end(begun, outcome, 1.0, failure)


def test_the_last_ten_are_counted_by_their_writers(desk: Desk) -> None:
    write(desk, "old", "old", "", "agent", "rules", "extractive", *["claude"] * 5, "gemini")
    check = checked(desk)
    assert check.state == OK
    assert check.sentence == (
        "the last 10 session notes: 5 by claude, 2 by memtool's rules, 1 by gemini, 1 by the agent itself, "
        "1 by an unknown writer; `memtool config set llm.writer claude` lets a model write them"
    )


def test_who_wants_no_model_is_offered_none(desk: Desk) -> None:
    write(desk, "rules")
    desk.settings = desk.settings._replace(llm=ModelSettings(writer="none"))
    assert checked(desk) == Check("writer", OK, "the last session note: 1 by memtool's rules")


@pytest.mark.parametrize("newest", ["claude", "agent", "gemini"])
def test_a_model_that_wrote_the_newest_note_is_well(desk: Desk, newest: str) -> None:
    write(desk, "rules", newest)
    desk.settings = desk.settings._replace(llm=ASKED)
    call(desk, "an old failure")
    assert checked(desk).state == OK


def test_a_writer_that_did_not_write_says_why(desk: Desk) -> None:
    write(desk, "claude", "rules")
    desk.settings = desk.settings._replace(llm=ASKED)
    call(desk, "another purpose", purpose="facts")
    assert "it was not called yet; that happens when a session ends" in checked(desk).sentence
    call(desk, "the `claude` command failed: 请先登录")
    check = checked(desk)
    assert check.state == NOTE
    assert check.sentence.endswith(
        "1 by claude; claude did not write the last one: claude failed at 2026-02-10 14:30: "
        "the `claude` command failed: 请先登录"
    )
    desk.pass_time(timedelta(minutes=5).total_seconds())
    call(desk)
    assert "it was not called for that session" in checked(desk).sentence


def test_a_cap_that_is_reached_is_the_reason(desk: Desk) -> None:
    write(desk, "rules")
    desk.settings = desk.settings._replace(llm=ASKED._replace(daily_tokens=10_000))
    call(desk, tokens=7_000)
    check = checked(desk)
    assert "7,500 of today's 10,000 tokens are used" in check.sentence
    assert "llm.daily_tokens" in check.fix
    desk.pass_time(timedelta(days=1).total_seconds())
    assert "used up" not in checked(desk).sentence


def test_what_a_note_took_counts_the_failed_calls_too(desk: Desk) -> None:
    assert note_cost(calls_of(desk.vault)) is None
    call(desk, tokens=4_000)
    call(desk, tokens=6_000)
    call(desk, tokens=9_000, purpose="facts")
    assert note_cost(calls_of(desk.vault)) == NoteCost(2, 5_000, 500)
    CallLog(desk.vault, 0).begin("claude", REQUEST, NOTES, desk.now)  # and was killed
    assert note_cost(calls_of(desk.vault)) == NoteCost(2, 5_000 + REQUEST.tokens // 2, 500)
    assert model_note.PURPOSE == NOTES
