from __future__ import annotations

from pathlib import Path

import pytest
from desk import SHOP, Desk

from memtool.errors import NotWritable
from memtool.memory.event_log import EventLog
from memtool.recall.given import PROMPT, GivenLine, Giving, keep_giving
from memtool.recall.ledger import ledger_folder


@pytest.fixture
def log(desk: Desk) -> EventLog:
    """A log that has begun to follow the vault."""
    log = EventLog(desk.work.index_folder)
    assert log.follow(desk.work) == 0
    return log


def told(log: EventLog, after: int = 0) -> list[tuple[str, str, str]]:
    return [(each.event.kind, each.event.project, each.event.text) for each in log.since(after, 100)]


def test_what_stood_before_is_no_event(desk: Desk) -> None:
    desk.remember("令牌有效期 24 小时。")
    log = EventLog(desk.work.index_folder)
    assert log.follow(desk.work) == 0
    assert (log.since(0, 10), log.last_id()) == ([], 0)


@pytest.mark.slow
def test_a_new_fact_is_one_event_and_the_same_look_again_is_none(desk: Desk, log: EventLog) -> None:
    desk.remember("令牌有效期 24 小时。")
    assert log.follow(desk.work) == 1
    assert log.follow(desk.work) == 0
    desk.remember("Deploys happen on Tuesdays.")
    assert log.follow(desk.work) == 1
    assert told(log) == [("fact", "shop", "令牌有效期 24 小时。"), ("fact", "shop", "Deploys happen on Tuesdays.")]
    assert told(log, after=1) == [("fact", "shop", "Deploys happen on Tuesdays.")]
    assert len(log.since(0, 1)) == 1


@pytest.mark.slow
def test_a_fact_that_is_superseded_is_told_of_again(desk: Desk, log: EventLog) -> None:
    first = desk.remember("Tokens live 24 hours.").memory.id
    log.follow(desk.work)
    desk.remember("Tokens live 12 hours.", supersedes=first)
    assert log.follow(desk.work) == 2
    assert {each.event.status for each in log.since(1, 10)} == {"superseded", ""}


def test_each_edit_of_a_day_is_an_event_of_its_own(desk: Desk, log: EventLog) -> None:
    day = desk.vault.root / "daily" / "2026-02-10.md"
    day.parent.mkdir(exist_ok=True)
    head = "---\ntype: daily\ndate: 2026-02-10\n---\n\n# Daily: 2026-02-10\n\n"
    day.write_text(f"{head}- 14:30 **shop**: `auth.ts`\n", encoding="utf-8")
    log.follow(desk.work)
    first = told(log)
    day.write_text(f"{head}- 14:30 **shop**: `auth.ts`\n- 14:31 **shop**: `登录.ts`\n", encoding="utf-8")
    log.follow(desk.work)
    assert len(told(log)) == len(first) + 1
    assert "登录.ts" in told(log)[-1][2]


def test_a_note_nobody_had_looked_at_brings_only_what_is_younger(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtool.memory.limits.NOTES_OF_NEW_LOG", 0)
    path = desk.vault.root / "areas/projects/shop/knowledge/2020-01-01-old.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ntype: knowledge\ndate: 2020-01-01\n---\n\n# Old\n\nOld.\n", encoding="utf-8")
    log = EventLog(desk.work.index_folder)
    log.follow(desk.work)
    path.write_text("---\ntype: knowledge\ndate: 2020-01-01\n---\n\n# Old\n\nOlder.\n", encoding="utf-8")
    assert log.follow(desk.work) == 0
    path.write_text("---\ntype: knowledge\ndate: 2020-01-01\n---\n\n# New title\n\nOlder.\n", encoding="utf-8")
    assert log.follow(desk.work) == 1  # now it is known


def test_what_is_gone_is_forgotten_and_new_when_it_comes_back(desk: Desk, log: EventLog) -> None:
    desk.remember("Tokens live 24 hours.")
    log.follow(desk.work)
    path = desk.vault.root / SHOP
    text = path.read_text(encoding="utf-8")
    path.unlink()
    assert log.follow(desk.work) == 0
    path.write_text(text, encoding="utf-8")
    assert log.follow(desk.work) == 1


def test_a_prompt_that_was_given_something_is_an_event(desk: Desk, log: EventLog) -> None:
    giving = Giving(desk.now.isoformat(), PROMPT, "shop", 3, "why JWT", (GivenLine("k3f9", SHOP, 3, "fact-1"),))
    folder = ledger_folder(desk.work)
    keep_giving(folder, "3f2a9c", giving)
    keep_giving(folder, "3f2a9c", giving._replace(turn=4, lines=()))  # nothing was given
    assert log.follow(desk.work) == 1
    event = log.since(0, 1)[0].event
    assert (event.kind, event.project, event.text, event.id) == ("prompt", "shop", "why JWT", "3f2a9c#3")
    assert log.follow(desk.work) == 0


@pytest.mark.slow
def test_a_log_keeps_so_many_events(desk: Desk, log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtool.memory.limits.LOGGED_EVENTS", 2)
    for number in range(4):
        desk.remember(f"The port of service {'abcd'[number]} is {8000 + number}.")
        log.follow(desk.work)
    assert [each.id for each in log.since(0, 10)] == [3, 4]


def test_a_damaged_log_begins_anew(desk: Desk, log: EventLog) -> None:
    path: Path = desk.work.index_folder / "events.sqlite"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(NotWritable):
        log.follow(desk.work)
    assert log.follow(desk.work) == 0
    desk.remember("Tokens live 24 hours.")
    assert log.follow(desk.work) == 1
