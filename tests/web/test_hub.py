"""The hub: it tells what is written, from its first look on."""

from __future__ import annotations

import asyncio
import time

import pytest
from desk import Desk
from web.service import PATIENCE

from memtool.errors import Busy
from memtool.memory.event_log import EventLog
from memtool.web import hub as hub_module
from memtool.web.hub import Hub
from memtool.web.life import Life
from memtool.workspace import Workspace


@pytest.fixture(autouse=True)
def _folder(desk: Desk) -> None:
    desk.work.index_folder.mkdir(parents=True, exist_ok=True)


def follow_until_told(desk: Desk) -> int:
    """Return the number of the first event that a hub logs of the vault."""

    async def run() -> int:
        life = Life()
        hub = Hub(lambda _folder: desk.work, life)
        following = asyncio.create_task(hub.follow())
        deadline = time.monotonic() + PATIENCE
        while not (told := hub.log.last_id()) and time.monotonic() < deadline and not following.done():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        life.ending.set()
        await following
        return told

    return asyncio.run(run())


def test_what_is_written_right_after_the_first_look_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    follow, looks = EventLog.follow, list[int]()

    def look(log: EventLog, work: Workspace) -> int:
        found = follow(log, work)
        if not looks:
            desk.remember("令牌有效期 24 小时。")
        looks.append(found)
        return found

    monkeypatch.setattr(EventLog, "follow", look)
    assert follow_until_told(desk) == 1
    assert looks[0] == 0


def test_a_look_that_fails_is_made_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    EventLog(desk.work.index_folder).follow(desk.work)  # the log has begun
    desk.remember("Deploys happen on Tuesdays.")
    follow, looks = EventLog.follow, list[int]()

    def look(log: EventLog, work: Workspace) -> int:
        looks.append(0)
        if len(looks) == 1:
            raise Busy("the index is being written")
        return follow(log, work)

    monkeypatch.setattr(EventLog, "follow", look)
    monkeypatch.setattr(hub_module, "_LOOK", 0.01)
    assert follow_until_told(desk) == 1
