"""The user hears once a week that last week was not consolidated."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from desk import Desk
from hook.agent import Agent, agent_in

from memtool.consolidate.week import SCHEDULE, Week, find_missed, keep, keep_run, week_of
from memtool.vault.layout import Vault

LAST = Week(2026, 6)
DAY = "---\ntype: daily\ndate: {0}\n---\n\n# 日志: {0}\n\n## 会话\n\n- 14:32 **shop**: [登录](../sessions/a.md)\n"


@pytest.fixture
def desk(vault: Vault) -> Desk:
    desk = Desk(vault)
    write_day(desk.vault, "2026-02-04")
    keep(desk.work, SCHEDULE, "cron")
    return desk


def write_day(vault: Vault, day: str) -> None:
    path = vault.root / "daily" / f"{day}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(DAY.format(day), encoding="utf-8")


def test_a_missed_week_is_named_once(desk: Desk) -> None:
    assert find_missed(desk.work) == LAST
    assert find_missed(desk.work) is None
    desk.now += timedelta(weeks=1)
    assert find_missed(desk.work) is None  # that week had no session
    write_day(desk.vault, "2026-02-09")
    assert find_missed(desk.work) == Week(2026, 7)


def test_who_never_wanted_it_is_not_told(desk: Desk) -> None:
    keep(desk.work, SCHEDULE, "")
    assert find_missed(desk.work) is None
    (desk.vault.root / "reports").mkdir()  # another machine consolidated before
    assert find_missed(desk.work) == LAST


def test_a_week_with_a_report_or_a_run_was_not_missed(desk: Desk) -> None:
    report = desk.vault.root / "reports" / f"{LAST}.md"
    report.parent.mkdir()
    report.touch()
    assert find_missed(desk.work) is None
    report.unlink()
    keep_run(desk.work, LAST, "0 facts", is_done=True)
    assert find_missed(desk.work) is None


def test_the_client_shows_it_to_the_user(tmp_path: Path) -> None:
    agent: Agent = agent_in(tmp_path)
    now = datetime.now().astimezone()
    write_day(agent.vault, (now - timedelta(weeks=1)).date().isoformat())
    (agent.vault.root / "reports").mkdir(exist_ok=True)
    said = json.loads(agent.fire("SessionStart", source="startup"))
    week = week_of((now - timedelta(weeks=1)).date())
    if now.weekday() == 0:
        assert "systemMessage" not in said
    else:
        told = f"memtool: {week} was not consolidated; `memtool consolidate --week last` does it now"
        assert said["systemMessage"] == told
    assert "systemMessage" not in json.loads(agent.fire("SessionStart", source="startup"))
