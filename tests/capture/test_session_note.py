from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memtool.capture.session_capture import daily_sessions, last_minute, shown_file
from memtool.capture.source import Source
from memtool.vault.daily import DailySession, add_session, listed_sessions
from memtool.vault.sessions import Draft, SessionNote

HOME, ROOT = Path("/home/anna"), Path("/home/anna/src/shop")
CHINA = timezone(timedelta(hours=8))
NOW = datetime(2026, 2, 12, 12, 0, tzinfo=CHINA)
CONVERSATION = Source(
    session_id="3f2a9c",
    started_at=datetime(2026, 2, 10, 6, 0, 59, tzinfo=UTC),
    ended_at=datetime(2026, 2, 12, 16, 30, tzinfo=UTC),
)
NOTE = SessionNote("3f2a9c", "shop", draft=Draft("user authentication 登录"))


def test_its_first_day_and_its_last_list_it() -> None:
    lines = daily_sessions(CONVERSATION, NOTE, now=NOW, zone=CHINA)
    assert lines == {
        date(2026, 2, 10): DailySession("14:00", "shop", "3f2a9c", "user authentication 登录"),
        date(2026, 2, 13): DailySession("00:30", "shop", "3f2a9c", "user authentication 登录"),
    }
    assert listed_sessions(add_session("", lines[date(2026, 2, 10)])) == (lines[date(2026, 2, 10)],)


def test_a_note_says_when_the_session_was_last_heard_of() -> None:
    backwards = CONVERSATION._replace(started_at=CONVERSATION.ended_at, ended_at=CONVERSATION.started_at)
    assert last_minute(CONVERSATION, NOW, CHINA) == "2026-02-13 00:30"
    assert last_minute(backwards, NOW, CHINA) == "2026-02-10 14:00"
    ends = Source(started_at=datetime.min.replace(tzinfo=CHINA), ended_at=datetime.max.replace(tzinfo=UTC))
    assert last_minute(ends, NOW, CHINA) == last_minute(Source(), NOW, CHINA) == "2026-02-12 12:00"


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        (f"{ROOT}/auth.ts", "auth.ts"),
        (f"{ROOT}/src/登录/auth.ts", "登录/auth.ts"),
        (f"{ROOT}/../up.ts", "~/src/up.ts"),
        ("/home/anna/notes/a.md", "~/notes/a.md"),
        ("/etc/hosts", "/etc/hosts"),
        ("/" + "x" * 300, ""),
        ("auth.ts", "auth.ts"),
    ],
)
def test_files_are_named_by_their_last_parts(file: str, shown: str) -> None:
    assert shown_file(file, ROOT, HOME) == shown
