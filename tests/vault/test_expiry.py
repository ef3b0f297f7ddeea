from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from memtool.vault.expiry import is_past

NOW = datetime(2026, 2, 10, 14, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    ("expires", "past"),
    [
        ("", False), ("2026-02-09", True), ("2026-02-10", False), ("2026-02-31", False),
        ("2026-02-09T23:59:59Z", True), ("2026-02-10T14:29", True), ("2026-02-10T14:31", False),
        ("2026-02-10T06:29:00Z", True), ("2026-02-10T06:31:00+00:00", False), ("2026-02-09 some day", True),
        ("2026-02-10 今天", False),
    ],
)  # fmt: skip
def test_something_holds_through_its_last_day_or_until_its_hour(expires: str, past: bool) -> None:
    assert is_past(expires, NOW) is past
